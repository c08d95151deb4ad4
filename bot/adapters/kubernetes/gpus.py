"""Which resources are GPUs, and how many of them a pod asks for in the scheduler's eyes."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from bot.adapters.kubernetes.fields import Json, rows, table

PLAIN = ("nvidia.com/gpu", "nvidia.com/gpu.shared")
SLICE = "nvidia.com/mig-"
SUFFIXES = {"k": 10**3, "M": 10**6, "Ki": 2**10, "Mi": 2**20}


class GpuNames:
    """The resource names that count: NVIDIA's own and the configured ones."""

    def __init__(self, extra: Iterable[str] = ()) -> None:
        self._known = frozenset((*PLAIN, *extra))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._known or name.startswith(SLICE))

    def of(self, amounts: Json) -> Mapping[str, int]:
        """Pick the GPUs of capacity, allocatable, requests …; a zero that is told stays, an absent one is absent."""
        return shared(tuple((name, amount(value)) for name, value in amounts.items() if name in self))

    def asked(self, spec: Json) -> Mapping[str, int]:
        """Count what a pod asks for: the larger of its containers together and its worst init container.

        Sidecars (init containers that restart always) run beside both. Extended resources have equal requests and
        limits, and many manifests write only limits.
        """
        together: dict[str, int] = {}
        for container in rows(spec, "containers"):
            _add(together, self._of_container(container))
        sidecars: dict[str, int] = {}
        worst: dict[str, int] = {}
        for container in rows(spec, "initContainers"):
            need = dict(self._of_container(container))
            if container.get("restartPolicy") == "Always":
                _add(together, need)
                _add(sidecars, need)
                need = dict(sidecars)
            else:
                _add(need, sidecars)
            _raise(worst, need)
        _raise(together, worst)
        return shared(tuple((name, number) for name, number in together.items() if number > 0))

    def _of_container(self, container: Json) -> Mapping[str, int]:
        resources = container.get("resources")
        if not resources or not isinstance(resources, dict):
            return NONE
        return self.of({**table(resources, "limits"), **table(resources, "requests")})


def amount(value: object) -> int:
    """Read a quantity of whole devices; what is none is 0."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value)
    if not isinstance(value, str):
        return 0
    number = value.strip()
    for suffix, factor in SUFFIXES.items():
        if number.endswith(suffix) and number.removesuffix(suffix).isdecimal():
            return int(number.removesuffix(suffix)) * factor
    return int(number) if number.isdecimal() else 0


@lru_cache(maxsize=4096)
def shared(pairs: tuple[tuple[str, int], ...]) -> Mapping[str, int]:
    """One mapping for equal contents: thousands of pods ask for the same. Nobody may change it."""
    return dict(pairs)


NONE = shared(())


def _add(into: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        into[name] = into.get(name, 0) + number


def _raise(into: dict[str, int], least: Mapping[str, int]) -> None:
    for name, number in least.items():
        into[name] = max(into.get(name, 0), number)
