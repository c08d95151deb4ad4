"""The one clock: UTC, real, never scaled. Nothing but reading the time belongs here."""

from datetime import UTC, datetime


class SystemClock:
    """The port `Clock`."""

    def now(self) -> datetime:
        return datetime.now(UTC)
