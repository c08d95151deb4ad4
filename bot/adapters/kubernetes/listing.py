"""Read a whole list page by page, each page projected before the next one is asked for.

The loop gets its turn between parsing and projecting and between slices, since a cluster can have thousands of pods.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bot.adapters.kubernetes.answers import Answer
from bot.adapters.kubernetes.connection import Call, Connection, checked
from bot.adapters.kubernetes.fields import Json, table, text
from bot.adapters.kubernetes.settings import Limits
from state.errors import TransientError
from state.reasons import Code, reason

R = TypeVar("R")
Projection = Callable[[Json], R | None]

SLICE = 100
RESTARTS = 2
MOST_PAGES = 4000
BAD_OBJECT = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class Source(Generic[R]):
    """A resource to list (and watch). `project` gives None for what nobody needs; it may fail on a bad object."""

    path: str
    project: Projection[R]
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = "application/json"


@dataclass(frozen=True, slots=True)
class Listing(Generic[R]):
    """A whole list, read.

    Attributes:
        version: where a watch can begin.
        skipped: objects that could not be read.
        missing: the resource itself does not exist here (404).
    """

    version: str
    records: tuple[R, ...]
    skipped: int = 0
    missing: bool = False


def uncounted() -> None:
    """Count no pages."""


async def list_all(
    connection: Connection, source: Source[R], limits: Limits, count_page: Callable[[], None] = uncounted
) -> Listing[R]:
    """List everything. A 404 is an empty list marked `missing`; an expired continue token starts anew, twice at most.

    `count_page` is called before each request, so that a caller knows what a list cost that failed in the end.
    """
    for _ in range(1 + RESTARTS):
        listing = await _pages(connection, source, limits, count_page)
        if listing is not None:
            return listing
    raise TransientError(reason(Code.API_UNREACHABLE, detail="lists expire before their last page"))


async def _pages(
    connection: Connection, source: Source[R], limits: Limits, count_page: Callable[[], None]
) -> Listing[R] | None:
    records: list[R] = []
    skipped, token = 0, ""
    for _ in range(MOST_PAGES):
        count_page()
        answer = await connection.call(_page(source, limits, token))
        if answer.status == 404:
            return Listing("", (), missing=True)
        if token and answer.status == 410:
            return None
        items = _items(answer)
        await asyncio.sleep(0)
        skipped += await project_all(items, source.project, records)
        metadata = table(answer.body, "metadata")
        previous, token = token, text(metadata, "continue")
        if not token:
            return Listing(text(metadata, "resourceVersion"), tuple(records), skipped)
        if token == previous:
            break
    raise TransientError(reason(Code.API_UNREACHABLE, detail="a list without end"))


def _page(source: Source[R], limits: Limits, token: str) -> Call:
    query = {**source.query, "limit": str(limits.page_size)}
    if token:
        query["continue"] = token
    return Call("GET", source.path, query, accept=source.accept, seconds=limits.page)


def _items(answer: Answer) -> list[object]:
    body = checked(answer).body
    items = body.get("items")
    if (items is None and "items" in body) or isinstance(items, list):
        return items or []
    raise TransientError(reason(Code.API_UNREACHABLE, detail="an answer that is no list"))


async def project_all(items: Iterable[object], project: Projection[R], into: list[R]) -> int:
    """Project in slices with the loop's turn in between; give the number of objects that could not be read."""
    skipped = 0
    for number, item in enumerate(items, 1):
        try:
            record = project(item)  # type: ignore[arg-type]  # what is no object fails there and is counted
        except BAD_OBJECT:
            skipped += 1
        else:
            if record is not None:
                into.append(record)
        if number % SLICE == 0:
            await asyncio.sleep(0)
    return skipped
