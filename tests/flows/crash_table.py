"""Who dies where: a covering design over the orders of the guide's example 1, the named places and six worlds.

Pure. Every order dies at every place that it has, in one world or another; in every world somebody dies at every place.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import get_args

from bot.points import Place
from state.orders import (
    CordonNode,
    CreatePool,
    EvictPod,
    InstallChart,
    LabelNode,
    Order,
    RemovePool,
    ReplaceWorker,
    UncordonNode,
    UpdateMaster,
)
from state.run import StepKind
from tests.flows.mortal import Fate


class Heir(StrEnum):
    """Who goes on with the run of a dead process."""

    SAME = "same"  # a new process under its name
    OTHER = "other"  # another replica, once the dead one's lease is over


class Cloud(StrEnum):
    """How the cloud treats orders."""

    ANSWERS = "answers"
    FAILS = "fails"  # accepts, and answers 502
    LATE = "late"  # accepts, answers 504, and shows a replacement late


@dataclass(frozen=True, slots=True)
class World:
    heir: Heir
    cloud: Cloud

    @property
    def name(self) -> str:
        return f"{self.heir}-{self.cloud}"


WORLDS = tuple(World(tuple(Heir)[number % 2], tuple(Cloud)[number % 3]) for number in range(6))
AWAITED: dict[type, StepKind] = {  # orders whose effect takes long enough to be seen on its way, and their steps
    InstallChart: StepKind.INSTALL_OPERATOR,
    UpdateMaster: StepKind.UPDATE_MASTER,
    CreatePool: StepKind.ADD_TEMPORARY_POOL,
    ReplaceWorker: StepKind.REPLACE_WORKER,
    RemovePool: StepKind.REMOVE_TEMPORARY_POOL,
}
GIVEN = (*AWAITED, LabelNode, CordonNode, EvictPod)
NEVER_GIVEN = (UncordonNode,)  # in example 1: nobody aborts
UNSENT = (Place.INTENT_SAVED, Place.MARKED, Place.BEFORE_CALL)  # with an intent, and before its call


def orders() -> frozenset[type]:
    """All that there are in the product."""
    return frozenset(get_args(Order))


def fate(place: Place, order: type) -> Fate:
    return Fate(place, AWAITED[order] if place is Place.VERIFYING else f"{order.__name__}(")


def design() -> dict[World, tuple[Fate, ...]]:
    """A Latin walk: with each place the orders move on by one world.

    So an order dies at most once before its call in a world (a second time it would be for a human to say), and never at
    two places between which a restart could let its effect come about unseen.
    """
    found: dict[World, list[Fate]] = {world: [] for world in WORLDS}
    for row, place in enumerate(Place):
        mortal = tuple(AWAITED) if place is Place.VERIFYING else GIVEN
        for column in range(max(len(mortal), len(WORLDS))):
            found[WORLDS[(row + column) % len(WORLDS)]].append(fate(place, mortal[column % len(mortal)]))
    return {world: tuple(fates) for world, fates in found.items()}
