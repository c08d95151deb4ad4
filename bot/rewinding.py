"""After the journal lost history of a run: find out what it holds now, and say so until it was said.

The store may be away again in that very moment, and Slack too; what was seen is not forgotten for that.
"""

import asyncio
from contextlib import suppress

import structlog

from bot.patience import patiently
from bot.ports import Ownership
from bot.surroundings import Surroundings
from state.errors import GpuMigrateError, TransientError
from state.events import Rewound
from state.reasons import Code, Reason, reason
from state.run import Run

log = structlog.get_logger()

AGAIN_SECONDS = 3.0


async def take_stock(around: Surroundings, ownership: Ownership, kept: Run | None, what: Reason) -> Rewound | None:
    """What the run's next keeper must know first; None when nothing is left of the run, which its channel was told.

    `kept`: the run as we last knew it. `what`: STORE_REWOUND. Raises PermanentError when the run cannot be read.
    """
    run_id = what.text("run")
    bound, failed = log.bind(run=run_id), around.metrics.journal_errors.inc
    with suppress(GpuMigrateError):  # raises the fence above all that we have seen, then says STORE_REWOUND once more
        await patiently(lambda: ownership.take(run_id), bound, failed)
    around.store.accept_rewound(run_id)
    while await patiently(lambda: around.store.load(run_id), bound, failed) is None:
        if kept is None or kept.phase.ended or await _said_lost(around, kept):
            return None
        await asyncio.sleep(AGAIN_SECONDS)
    return Rewound(around.clock.now(), int(what.text("known")), int(what.text("found")))


async def _said_lost(around: Surroundings, kept: Run) -> bool:
    """Whether it was said that the record is gone, or cannot be said at all."""
    lost = reason(Code.STORE_LOST, run=kept.id, cluster=kept.cluster)
    key = f"{kept.id}/lost"
    try:
        if await around.chat.find(kept.channel, key) is None:
            await around.chat.post(kept.channel, around.words.answer(lost, kept.cluster), key=key)
        await around.teller.retire(kept, around.words.answer(lost, kept.cluster))
    except GpuMigrateError as error:
        log.warning("could not tell that a record is lost", run=kept.id, reason=str(error.reason))
        return not isinstance(error, TransientError)
    return True
