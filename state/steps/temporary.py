"""Know the temporary pool of a run: by the id that was recorded, or by its name, which carries the run."""

from state.snapshot import Pool, Snapshot
from state.steps.step import Scope


def pool_name(run_id: str) -> str:
    """Name of a run's temporary pool."""
    return f"temp-gpu-{run_id}"


def find(snapshot: Snapshot, scope: Scope) -> Pool | None:
    """The pool this run created, by id or by its name."""
    ours = scope.run.temporary_pool
    name = ours.name if ours else pool_name(scope.run.id)
    pools = [p for p in snapshot.iks.pools if p.state != "deleted" and (p.name == name or (ours and p.id == ours.id))]
    return pools[0] if pools else None
