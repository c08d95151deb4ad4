"""The objects of one cluster, one resourceVersion for all of them, and the recent history of changes.

Stored objects are never changed in place: a write puts a new record. Rules about what may be written live elsewhere.
"""

import bisect
import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Key = tuple[str, str]  # group and plural
Place = tuple[str, str]  # namespace ("" for cluster scope) and name

FIRST_VERSION = 1000
HISTORY = 20_000


def encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


class Record:
    """One version of one object, with its JSON kept once made."""

    __slots__ = ("_full", "_item", "obj", "version")

    def __init__(self, obj: dict[str, Any], version: int) -> None:
        self.obj = obj
        self.version = version
        self._full: bytes | None = None
        self._item: bytes | None = None

    def full(self) -> bytes:
        """The object with kind and apiVersion."""
        if self._full is None:
            self._full = encode(self.obj)
        return self._full

    def item(self) -> bytes:
        """The object without kind and apiVersion, as items of built-in lists are sent."""
        if self._item is None:
            self._item = encode({k: v for k, v in self.obj.items() if k not in ("kind", "apiVersion")})
        return self._item

    def copy(self) -> dict[str, Any]:
        """A deep copy that may be changed."""
        copied: dict[str, Any] = json.loads(self.full())
        return copied


@dataclass(slots=True, eq=False)
class Event:
    """One change. `new` of a deletion is the last state with the version of the deletion."""

    version: int
    type: str  # ADDED, MODIFIED, DELETED
    key: Key
    place: Place
    new: Record
    old: Record | None
    lines: dict[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class _Collection:
    records: dict[Place, Record] = field(default_factory=dict)
    order: list[Place] = field(default_factory=list)


class ExpiredError(Exception):
    """History does not reach back so far."""


class Store:
    """All objects, by resource and place."""

    def __init__(self) -> None:
        self.version = FIRST_VERSION
        self.floor = FIRST_VERSION  # changes up to this version are forgotten
        self.compacted = FIRST_VERSION  # lists of versions before this one are refused; watches still get changes
        self.history: deque[Event] = deque()
        self._collections: dict[Key, _Collection] = {}
        self._owned: dict[str, set[tuple[Key, Place]]] = {}
        self._listeners: list[Callable[[Event], None]] = []

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` after each change, in order."""
        self._listeners.append(listener)

    def unlisten(self, listener: Callable[[Event], None]) -> None:
        self._listeners.remove(listener)

    def get(self, key: Key, place: Place) -> Record | None:
        found = self._collections.get(key)
        return found.records.get(place) if found else None

    def all_keys(self) -> list[Key]:
        return list(self._collections)

    def put(self, key: Key, place: Place, obj: dict[str, Any]) -> Record:
        """Store `obj` as the next version. The caller gives up the object."""
        collection = self._collections.setdefault(key, _Collection())
        old = collection.records.get(place)
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        record = Record(obj, self.version)
        collection.records[place] = record
        if old is None:
            bisect.insort(collection.order, place)
        self._reindex(key, place, old, record)
        self._note(Event(self.version, "MODIFIED" if old else "ADDED", key, place, record, old))
        return record

    def remove(self, key: Key, place: Place, last: dict[str, Any] | None = None) -> Record:
        """Delete the object; `last` is its final state where that differs from the stored one."""
        collection = self._collections[key]
        old = collection.records.pop(place)
        del collection.order[bisect.bisect_left(collection.order, place)]
        self.version += 1
        final = last if last is not None else old.copy()
        final["metadata"]["resourceVersion"] = str(self.version)
        record = Record(final, self.version)
        self._reindex(key, place, old, None)
        self._note(Event(self.version, "DELETED", key, place, record, old))
        return record

    def items(self, key: Key, namespace: str = "") -> Iterator[tuple[Place, Record]]:
        """Objects in the order of namespace and name; of one namespace, or of all with ""."""
        collection = self._collections.get(key)
        if collection is None:
            return
        first = bisect.bisect_left(collection.order, (namespace, ""))
        for place in collection.order[first:]:
            if namespace and place[0] != namespace:
                return
            yield place, collection.records[place]

    def at(self, key: Key, version: int) -> list[tuple[Place, Record]]:
        """All objects of a resource as they were at `version`.

        Raises ExpiredError when history does not reach back so far.
        """
        if version < max(self.floor, self.compacted):
            raise ExpiredError
        collection = self._collections.get(key)
        records = dict(collection.records) if collection else {}
        for event in reversed(self.history):
            if event.version <= version:
                break
            if event.key == key:
                if event.old is None:
                    records.pop(event.place, None)
                else:
                    records[event.place] = event.old
        return sorted(records.items())

    def since(self, key: Key, version: int) -> list[Event]:
        """Changes of a resource after `version`. Raises ExpiredError when some are forgotten."""
        if version < self.floor:
            raise ExpiredError
        found = []
        for event in reversed(self.history):
            if event.version <= version:
                break
            if event.key == key:
                found.append(event)
        return found[::-1]

    def owned_by(self, uid: str) -> list[tuple[Key, Place]]:
        """Objects that name `uid` among their owners."""
        return sorted(self._owned.get(uid, ()))

    def compact(self) -> None:
        """Refuse lists of the past from now on, as after etcd's compaction; open and new watches do not notice."""
        self.compacted = self.version

    def forget(self) -> None:
        """Forget all history: watches from an older version get 410, as after a restart of the server."""
        self.history.clear()
        self.floor = self.version

    def _note(self, event: Event) -> None:
        self.history.append(event)
        if len(self.history) > HISTORY:
            self.floor = self.history.popleft().version
        for listener in tuple(self._listeners):
            listener(event)

    def _reindex(self, key: Key, place: Place, old: Record | None, new: Record | None) -> None:
        before, after = _owners(old), _owners(new)
        for uid in before - after:
            self._owned[uid].discard((key, place))
            if not self._owned[uid]:
                del self._owned[uid]
        for uid in after - before:
            self._owned.setdefault(uid, set()).add((key, place))


def _owners(record: Record | None) -> set[str]:
    owners = record.obj["metadata"].get("ownerReferences") if record else None
    return {owner["uid"] for owner in owners if owner.get("uid")} if owners else set()
