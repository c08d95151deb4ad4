"""Everything raised on purpose, drawn as a tree.

    GpuMigrateError            carries a Reason, so that words can be made of it
    ├── TransientError         may pass by itself: look or try again after `delay`
    ├── PermanentError         the same call would fail the same way: a human has to change something
    ├── OutcomeUnknown         a mutating call may or may not have been accepted: look, never repeat
    ├── RunConflict            the journal holds something newer than we knew: stop and load again
    └── ConfigError            settings are wrong; raised before anything is served

Adapters translate library errors into these (`raise … from exc`); nobody else sees a library's own error.
Which one leaves a call: reads raise Transient or Permanent; mutating calls raise Permanent (refused, nothing happened),
Transient (refused for now, nothing happened) or OutcomeUnknown (anything after the request may have left).
"""

from datetime import timedelta

from state.reasons import Reason


class GpuMigrateError(Exception):
    """Base of all; never raised itself."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


class TransientError(GpuMigrateError):
    """May pass by itself. `delay`: how long the other side asked us to wait, or our own guess."""

    def __init__(self, reason: Reason, delay: timedelta = timedelta(seconds=5)) -> None:
        super().__init__(reason)
        self.delay = delay


class PermanentError(GpuMigrateError):
    """The same call would fail the same way."""


class OutcomeUnknown(GpuMigrateError):  # noqa: N818 (the field's word; it is no failure)
    """A mutating call may or may not have been accepted."""


class RunConflict(GpuMigrateError):  # noqa: N818 (see above)
    """The journal holds a newer version or fence than ours."""


class ConfigError(GpuMigrateError):
    """Settings are wrong."""
