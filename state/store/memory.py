"""What this process has seen of each run, so that a journal that lost history is noticed.

A failover or a restored backup can hand us an older world than the one we acted on (reference: a primary that died
before its replica had everything). Versions never fall while Redis keeps its word; when one does, nothing may be decided
on it until somebody looked at the cluster.
"""

from dataclasses import dataclass

from state.errors import TransientError
from state.reasons import Code, reason


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest that was seen of a run. `chain`: hash of its last log entry, "" when not known."""

    version: int = -1
    fence: int = -1
    chain: str = ""


class Memory:
    """Newest versions and fences by run id."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}

    def get(self, run_id: str) -> Seen:
        return self._seen.get(run_id, Seen())

    def note(self, run_id: str, version: int, fence: int, chain: str = "") -> None:
        """Remember what an answer of the store said; older answers that were overtaken change nothing."""
        old = self.get(run_id)
        if version >= old.version:
            self._seen[run_id] = Seen(version, max(fence, old.fence), chain)

    def check(self, run_id: str, before: Seen, found: int, chain: str = "") -> None:
        """Compare with what was known when the question was sent. Raises TransientError(STORE_REWOUND).

        The same version with another chain is another history: it was rewound and went on without us.
        """
        other = found == before.version and chain and before.chain and chain != before.chain
        if found < before.version or other:
            raise TransientError(reason(Code.STORE_REWOUND, run=run_id, known=before.version, found=found))

    def forget(self, run_id: str) -> None:
        self._seen.pop(run_id, None)
