"""Notice when an API server may have moved away from where its kubeconfig says it is.

A control-plane update can change host name and port; the old address then only times out, which looks like an outage.
So a kubeconfig whose server does not answer at all is doubted, at growing intervals.
"""

import time


class Silence:
    """How long the server has not answered anything.

    Args:
        first: seconds of silence after which its address is doubted. The interval doubles up to `longest`.
    """

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._interval = first
        self._since: float | None = None

    def answered(self) -> None:
        """Any answer, a refusal included, comes from the right place."""
        self._since = None
        self._interval = self._first

    def failed(self) -> bool:
        """Note a call without an answer; True when it is time to doubt the address."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        if now - self._since < self._interval:
            return False
        self._since = now
        self._interval = min(self._longest, 2 * self._interval)
        return True
