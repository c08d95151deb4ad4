"""How patient the adapter is and what it looks at, in one place. Nothing here reads an environment."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """Durations in seconds.

    Attributes:
        write: a mutating call, connection included; ownership margins are built on it (8 s).
        page: one page of a list.
        watch_least, watch_most: timeoutSeconds asked of the server, drawn between the two.
        idle_margin: how much longer than that a watch may stay without one whole line.
        relist: a list is never older than this, however healthy the watch looks.
        pace: time between two requests of the reflectors of one cluster, however bad the storm.
        burst: requests that may go at once before the pace holds.
        longest_pause: ceiling of the backoff.
        silence, longest_silence: no answer at all for so long, and the kubeconfig is suspected to be out of date.
        trust: a watch that was silent longer is not believed by `look`, which then lists.
        lists: how long lists of slowly changing objects serve several looks.
        dirty: the same once something moved.
        slow: the same for lists that rarely matter (ReplicaSets, volumes); an unknown ReplicaSet ends it early.
        rights: how long the answers about our own permissions serve.
        echo: a second nudge this long after the last change, for what controllers count a moment later.
    """

    connect: float = 5.0
    read: float = 15.0
    write: float = 8.0
    page: float = 30.0
    page_size: int = 500
    largest_answer: int = 64 * 1024 * 1024
    largest_line: int = 16 * 1024 * 1024
    watch_least: float = 240.0
    watch_most: float = 300.0
    idle_margin: float = 15.0
    relist: float = 600.0
    pace: float = 1.0
    burst: int = 4
    longest_pause: float = 15.0
    silence: float = 8.0
    longest_silence: float = 60.0
    trust: float = 75.0
    lists: float = 2.0
    dirty: float = 0.5
    slow: float = 30.0
    rights: float = 3600.0
    echo: float = 1.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What differs between clusters beside their kubeconfig.

    Attributes:
        namespace: where the GPU operator lives, or will.
        gpu_resources: resource names that count as GPUs beside NVIDIA's own (a device plugin can rename them).
        marker_namespace: where the Lease stands that names the run.
        proxy: URL of an HTTP proxy, used when the kubeconfig names none.
    """

    namespace: str = "gpu-operator"
    gpu_resources: tuple[str, ...] = ()
    marker_namespace: str = "kube-system"
    proxy: str = ""
    limits: Limits = field(default_factory=Limits)
