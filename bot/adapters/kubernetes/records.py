"""What a reflector knows: one small record per object, safe against doubled, late and shuffled events.

An object's place is its namespace and name, its identity is its uid: a node that got the name of another one is a
different record (B026). A revision that is not newer than what is known changes nothing (B077). Where the truth is a
list, the list wins as a whole.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from bot.adapters.kubernetes.fields import Json, revision, table, text
from bot.adapters.kubernetes.listing import Projection

R = TypeVar("R")

MOST_DEAD = 4096


@dataclass(frozen=True, slots=True)
class Held(Generic[R]):
    """A record with what events are compared by. `record` is None for an object that nobody needs."""

    place: str
    uid: str
    revision: int | None
    record: R | None


def hold(raw: Json, project: Projection[R]) -> Held[R]:
    """Read an object of a list or an event. ValueError when it has no identity."""
    metadata = table(raw, "metadata")
    name, uid = text(metadata, "name"), text(metadata, "uid")
    if not name or not uid:
        raise ValueError("an object without name or uid")
    return Held(f"{text(metadata, 'namespace')}/{name}", uid, revision(raw), project(raw))


class Records(Generic[R]):
    """The records of one resource, by place."""

    def __init__(self) -> None:
        self._held: dict[str, Held[R]] = {}
        self._dead: OrderedDict[str, None] = OrderedDict()
        self._listed: int | None = None

    def __len__(self) -> int:
        return len(self._held)

    def values(self) -> tuple[R, ...]:
        return tuple(held.record for held in self._held.values() if held.record is not None)

    def replace(self, listed: Iterable[Held[R]], version: str) -> bool:
        """Take a list as the truth, missed deletions included; True when it differs from what was known."""
        fresh = {held.place: held for held in listed if held.record is not None}
        differs = len(fresh) != len(self._held) or any(
            (known := self._held.get(place)) is None or known.uid != held.uid or known.record != held.record
            for place, held in fresh.items()
        )
        self._held = fresh
        self._dead.clear()
        self._listed = int(version) if version.isdecimal() else None
        return differs

    def put(self, held: Held[R]) -> bool:
        """Take an ADDED or MODIFIED; True when what is known changed."""
        known = self._held.get(held.place)
        if held.uid in self._dead or _older(held.revision, self._bar(held, known)):
            return False
        if held.record is None:
            return self._held.pop(held.place, None) is not None
        self._held[held.place] = held
        return known is None or known.uid != held.uid or known.record != held.record

    def remove(self, held: Held[R]) -> bool:
        """Take a DELETED; True when it was known. Only the same uid dies: its place may have a new owner."""
        self._dead[held.uid] = None
        if len(self._dead) > MOST_DEAD:
            self._dead.popitem(last=False)
        known = self._held.get(held.place)
        if known is None or known.uid != held.uid:
            return False
        del self._held[held.place]
        return True

    def _bar(self, held: Held[R], known: Held[R] | None) -> int | None:
        """Find the revision that news of this object must exceed.

        What the last list did not have, although it is older than that list, was gone by then.
        """
        if known is not None and known.revision is not None:
            return known.revision
        return self._listed if known is None and held.record is not None else None


def _older(revision_: int | None, bar: int | None) -> bool:
    """Not newer than the bar; without numbers nobody can say, and news are believed until the next list."""
    return revision_ is not None and bar is not None and revision_ <= bar
