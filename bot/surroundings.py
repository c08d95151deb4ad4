"""What a keeper works with; the same for all runs but for `hands`, which belong to one cluster."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.metrics import Metrics
from bot.perform import Hands
from bot.ports import Chat, Clock, Iks, Kubernetes, RunStore
from bot.telling import Teller
from handlers.ports import Words


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Attributes by the configured name of a cluster: `iks`; by its IKS id too: `kubernetes` (a new connection), `hands`.

    `instance`: this process, as the mark in a cluster names it.
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
