"""Wait for a journal that is away: nothing is done meanwhile, and nothing is lost."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from structlog.typing import FilteringBoundLogger

from state.errors import TransientError
from state.reasons import Code

T = TypeVar("T")

FIRST_SECONDS, LONGEST_SECONDS = 0.2, 3.0


async def patiently(call: Callable[[], Awaitable[T]], log: FilteringBoundLogger, failed: Callable[[], None]) -> T:
    """Call until it is answered; `failed` hears of each vain try.

    A journal that lost history does not come back by waiting: that TransientError (STORE_REWOUND) is raised.
    """
    wait = FIRST_SECONDS
    while True:
        try:
            return await call()
        except TransientError as error:
            if error.reason.code is Code.STORE_REWOUND:
                raise
            log.warning("journal unreachable", reason=str(error.reason))
            failed()
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_SECONDS)
