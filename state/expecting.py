"""Say which GPU resources a worker has to offer before it counts as a place for workloads.

A member of the run offers what it did when planned. A new machine is nobody's successor in particular, and it inherits
neither a dead GPU nor a label that somebody set on one node by hand: it is measured by its pool (else by its flavor), by the
names that most members offer there, plain GPUs if none prevail, and by the largest number of each. Whole GPUs are never
fewer than the flavor promises.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from state.baseline import Baseline
from state.gpu_workers import GPU, expected_gpus, flavor_gpus
from state.snapshot import Worker

Offer = Mapping[str, int]


def expected_of(worker: Worker, baseline: Baseline) -> Offer:
    """GPU resources that a worker must offer."""
    own = next((m for m in baseline.workers if m.worker_id == worker.id), None)
    if own is not None:
        return expected_gpus(own.flavor, own.gpus)
    alike = [m.gpus for m in baseline.workers if m.pool_id == worker.pool_id]
    alike = alike or [m.gpus for m in baseline.workers if m.flavor == worker.flavor]
    return _of_new(worker.flavor, [expected_gpus(worker.flavor, gpus) for gpus in alike])


def _of_new(flavor: str, offers: list[Offer]) -> Offer:
    names = _prevailing(offers)
    if not names:
        return expected_gpus(flavor, {})
    most = {name: max(offer.get(name, 0) for offer in offers if set(offer) == names) for name in sorted(names)}
    return {GPU: max(most[GPU], flavor_gpus(flavor))} if names == {GPU} else most


def _prevailing(offers: Iterable[Offer]) -> frozenset[str]:
    """The resource names that most offers have; of equally many, plain GPUs, then the first by name."""
    counted = Counter(frozenset(offer) for offer in offers)
    return min(counted, key=lambda names: (-counted[names], names != {GPU}, sorted(names)), default=frozenset())
