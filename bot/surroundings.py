"""What a keeper works with; the same for all runs but for `hands`, which belong to one cluster."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.braking import FailureRate
from bot.metrics import Metrics
from bot.perform import Hands
from bot.points import Points
from bot.ports import Chat, Clock, Fleet, Iks, Kubernetes, RunStore
from bot.telling import Teller
from handlers.ports import Words


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Attributes by the configured name of a cluster: `iks`; by its IKS id too: `kubernetes` (a new connection), `hands`.

    `instance`: this process, as the mark in a cluster names it. `points`: what happens at the named places of a call.
    """

    instance: str
    store: RunStore
    chat: Chat
    iks: Callable[[str], Iks]
    clock: Clock
    words: Words
    teller: Teller
    metrics: Metrics
    hands: Callable[[str, str, Kubernetes], Hands]
    kubernetes: Callable[[str, str], Awaitable[Kubernetes]]
    fleet: Fleet
    failures: FailureRate
    points: Points = field(default_factory=Points)
