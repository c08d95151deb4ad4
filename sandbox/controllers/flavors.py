"""What the GPU flavors of IBM's workers hold. Facts only; source: IBM's list of VPC flavors, NVIDIA's product names."""

import re
from dataclasses import dataclass

_SIZE = re.compile(r"^[a-z]+\d[a-z]*\.(\d+)x(\d+)")
_GPUS = re.compile(r"^gx\d[a-z]*\.\d+x\d+(?:\.(\d*)|x(\d+))([a-z]+\d+[a-z]*)$")


@dataclass(frozen=True, slots=True)
class Model:
    """One GPU model, in the words of GPU feature discovery. `memory`: MiB."""

    product: str
    family: str
    memory: int
    compute: tuple[int, int]
    mig_capable: bool = False


@dataclass(frozen=True, slots=True)
class Flavor:
    """One worker flavor. `memory_gib`: as the flavor's name says; `gpus` is 0 and `model` None without GPUs."""

    name: str
    cpus: int
    memory_gib: int
    gpus: int = 0
    model: Model | None = None


MODELS = {
    "l4": Model("NVIDIA-L4", "ada-lovelace", 23034, (8, 9)),
    "l40s": Model("NVIDIA-L40S", "ada-lovelace", 46068, (8, 9)),
    "a100": Model("NVIDIA-A100-SXM4-80GB", "ampere", 81920, (8, 0), mig_capable=True),
    "h100": Model("NVIDIA-H100-80GB-HBM3", "hopper", 81559, (9, 0), mig_capable=True),
    "h200": Model("NVIDIA-H200", "hopper", 143771, (9, 0), mig_capable=True),
    "v100": Model("Tesla-V100-PCIE-16GB", "volta", 16384, (7, 0)),
}


def read_flavor(name: str) -> Flavor:
    """Read a flavor's name: gx3.16x80.l4 is 16 CPUs, 80 GiB and one L4; gx2.16x128x2v100 has two V100.

    A name that can't be read is a small machine without GPUs; a GPU of an unknown maker counts as none.
    """
    size = _SIZE.match(name)
    cpus, memory = (int(size[1]), int(size[2])) if size else (4, 16)
    found = _GPUS.match(name)
    model = MODELS.get(found[3]) if found else None
    if found is None or model is None:
        return Flavor(name, cpus, memory)
    return Flavor(name, cpus, memory, int(found[1] or found[2] or 1), model)
