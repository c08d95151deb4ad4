"""What shall go wrong in IBM's pretend cloud, as opposed to faults of its HTTP server (sandbox/faults.py).

Knobs are turned at run time through the world's control server, or by `knobs` rows of a scenario file.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

QUOTA = (
    "The user account has insufficient infrastructure quota to provision the worker: A VSI with this profile "
    "({flavor}) will put user over quota. Allocated: 16, Quota: 16"
)
CANCELED = "Version update canceled. CAE009: The cluster does not meet the prerequisites of the update."


@dataclass(slots=True)
class NewWorker:
    """What happens to the next `times` new workers of `cluster` ("" = of any).

    Attributes:
        state: lifecycle state in which they stop: provision_failed, deploy_failed, or provision_pending (stuck).
        message: text shown there; `{flavor}` is filled in.
        times: how many workers are hit; -1 = until cleared.
    """

    cluster: str = ""
    state: str = "provision_failed"
    message: str = QUOTA
    times: int = 1


@dataclass(slots=True)
class MasterEnd:
    """How the next control-plane update of `cluster` ("" = of any) ends: update_cancelled or update_failed."""

    cluster: str = ""
    state: str = "update_cancelled"
    message: str = CANCELED


@dataclass(slots=True)
class Knobs:
    """Everything that can be turned.

    Attributes:
        new_workers: failures of coming workers, used up in order.
        master_ends: bad ends of coming control-plane updates, used up in order.
        visible_lag: seconds (not scaled) between accepting a replacement and the rows showing it; within them a
            second order for the same worker is accepted too, and a second successor comes.
        successor_after: "delete" starts the new worker when the old one reads deleting, "deleted" only when it is
            gone, "accepted" at once.
        endpoint_moves: whether control-plane updates give the API server another URL, so that old kubeconfigs fail.
        reuse_ip: whether the next made-up workers get the address of a worker that is gone.
    """

    new_workers: list[NewWorker] = field(default_factory=list)
    master_ends: list[MasterEnd] = field(default_factory=list)
    visible_lag: float = 0.0
    successor_after: str = "delete"
    endpoint_moves: bool = False
    reuse_ip: bool = False

    def next_worker(self, cluster: str) -> NewWorker | None:
        """What hits the worker that is about to be made, counted down."""
        hit = next((knob for knob in self.new_workers if knob.cluster in ("", cluster)), None)
        if hit is not None and hit.times > 0:
            hit.times -= 1
            self.new_workers = [knob for knob in self.new_workers if knob.times != 0]
        return hit

    def next_master_end(self, cluster: str) -> MasterEnd | None:
        hit = next((knob for knob in self.master_ends if knob.cluster in ("", cluster)), None)
        if hit is not None:
            self.master_ends.remove(hit)
        return hit

    def turn(self, name: str, value: Any) -> None:
        """Set one knob from JSON.

        Raises ValueError for a name or a value that does not exist.
        """
        turns: dict[str, Callable[[], None]] = {
            "new_worker": lambda: self.new_workers.append(NewWorker(**value)),
            "master_end": lambda: self.master_ends.append(MasterEnd(**value)),
            "visible_lag": lambda: setattr(self, "visible_lag", float(value)),
            "endpoint_moves": lambda: setattr(self, "endpoint_moves", bool(value)),
            "reuse_ip": lambda: setattr(self, "reuse_ip", bool(value)),
            "successor_after": lambda: setattr(self, "successor_after", _order(value)),
        }
        if name not in turns:
            raise ValueError(f"no knob {name!r}; known: {', '.join(sorted(turns))}")
        try:
            turns[name]()
        except TypeError as wrong:
            raise ValueError(f"knob {name!r}: {wrong}") from wrong

    def clear(self) -> None:
        """Back to a cloud where everything goes well."""
        fresh = Knobs()
        for name in self.__slots__:
            setattr(self, name, getattr(fresh, name))


def _order(value: Any) -> str:
    if value not in ("accepted", "delete", "deleted"):
        raise ValueError(f"successor_after is accepted, delete or deleted, not {value!r}")
    return str(value)
