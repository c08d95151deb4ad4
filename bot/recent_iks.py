"""IKS's half of a look, asked for at most once per half poll interval: watches may cause a look each second, IKS grants two
hundred requests in ten seconds to all clusters of an address together.

After a call of ours, or a person's word, it is asked anew: a decision that follows from it never rests on an old half.
"""

import asyncio

from bot.ports import Iks
from state.snapshot import IksView


class RecentIks:
    """Answers `look` with the last view while it is young. One per run."""

    def __init__(self) -> None:
        self._view: IksView | None = None
        self._at = float("-inf")

    async def look(self, iks: Iks, cluster_id: str, *, young_seconds: float) -> IksView:
        """The view. Raises what IKS raises; then nothing is remembered."""
        now = asyncio.get_running_loop().time()
        if self._view is None or now - self._at >= young_seconds:
            self._view = None
            self._view = await iks.look(cluster_id)
            self._at = now
        return self._view
