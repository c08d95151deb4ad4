"""How runs spread over replicas: which ownerless ones a replica takes, and when it leaves one of its own to another.

A run that was left stays loose until somebody takes it, so that none hangs on a replica that has a lease and does no work.
Pure: moments come in as arguments.
"""

from dataclasses import dataclass

PATIENCE_SECONDS = 12.0  # a run that nobody took for so long is taken whoever's share it is
SETTLE_SECONDS = 5.0  # we have had too many for so long: it is no passing state, like that of a restart
ANSWER_SECONDS = 6.0  # who has not taken by then what was left to it does not work, whatever its lease says
DEAF_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """What the store told.

    Attributes:
        mine: how many runs we own.
        active: how many runs there are.
        others: owner and number of runs of every other replica that is alive.
        due: ours that have something to do.
        left: of our predecessor of the same name.
        loose: of nobody alive, or of nobody yet.
    """

    mine: int
    active: int
    others: tuple[tuple[str, int], ...]
    due: tuple[str, ...]
    left: tuple[str, ...]
    loose: tuple[str, ...]

    @property
    def even(self) -> int:
        """An even share, rounded up: with fewer runs than replicas nothing moves."""
        return -(-self.active // (len(self.others) + 1))


class Share:
    """Remembers since when runs lie ownerless, since when we have too many, and who did not take what it was left."""

    def __init__(self) -> None:
        self._loose_since: dict[str, float] = {}
        self._over_since: float | None = None
        self._offers: dict[str, tuple[str, float]] = {}
        self._deaf: dict[str, float] = {}

    def pick(self, backlog: Backlog, now: float) -> tuple[str, ...]:
        """Ours that are due, all of our predecessor's, and loose ones up to an even share."""
        self._loose_since = {run_id: self._loose_since.get(run_id, now) for run_id in backlog.loose}
        room = max(0, backlog.even - backlog.mine - len(backlog.left))
        late = {run_id for run_id, since in self._loose_since.items() if now - since >= PATIENCE_SECONDS}
        loose = [run_id for place, run_id in enumerate(backlog.loose) if place < room or run_id in late]
        return (*backlog.due, *backlog.left, *loose)

    def heir(self, backlog: Backlog, now: float) -> str:
        """The owner that shall have one of our runs now; "" when we have no more than our share, or not for long yet.

        One run at a time: the next goes when the last one was taken.
        """
        waiting = self._unanswered(backlog, now)
        hearing = ((owner, load) for owner, load in backlog.others if not self._is_deaf(owner, now))
        poor = sorted((load, owner) for owner, load in hearing if load < backlog.even)
        if backlog.mine <= backlog.even or not poor:
            self._over_since = None
            return ""
        if self._over_since is None:
            self._over_since = now
        settled = now - self._over_since >= SETTLE_SECONDS
        return poor[0][1] if settled and not waiting else ""

    def offered(self, run_id: str, heir: str, now: float) -> None:
        """A run of ours was left to `heir`."""
        self._offers[run_id] = (heir, now)

    def _unanswered(self, backlog: Backlog, now: float) -> bool:
        """Whether a run that we left is still loose; an heir that lets it lie too long gets none for a while."""
        loose = frozenset(backlog.loose)
        self._offers = {run_id: offer for run_id, offer in self._offers.items() if run_id in loose}
        for run_id, (heir, since) in tuple(self._offers.items()):
            if now - since >= ANSWER_SECONDS:
                self._deaf[heir] = now + DEAF_SECONDS
                del self._offers[run_id]
        return bool(self._offers)

    def _is_deaf(self, owner: str, now: float) -> bool:
        if self._deaf.get(owner, now) > now:
            return True
        self._deaf.pop(owner, None)
        return False
