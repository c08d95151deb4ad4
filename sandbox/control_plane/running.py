"""A control plane while somebody needs it: its programs, and the webhook that they ask about tokens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sandbox.control_plane.binaries import MANAGER, SCHEDULER
from sandbox.control_plane.plane import Plane
from sandbox.control_plane.token_reviews import TokenReviews
from sandbox.controllers.run import ALL, ON_REAL_CONTROL_PLANE
from sandbox.serving import serve
from sandbox.tokens import MASTERS, Tokens

ITSELF = "system:control-plane"  # who the plane's own parts are


@asynccontextmanager
async def running(plane: Plane, tokens: Tokens, *, bare: bool = False) -> AsyncIterator[None]:
    """Run `plane` while the context is open; `bare`: only its API server.

    Raises PlaneError when it does not come up; then nothing is left running.
    """
    reviews = await serve(TokenReviews(tokens).app())
    try:
        await plane.start(reviews.url, tokens.issue(ITSELF, (MASTERS,)), bare=bare)
        yield
    finally:
        await plane.aclose()
        await reviews.aclose()


def parts_beside(binaries: Path) -> frozenset[str]:
    """The sandbox's controllers that are needed beside these programs: what a control plane never has, and what lacks."""
    lacking = set()
    if not (binaries / SCHEDULER).exists():
        lacking.add("scheduler")
    if not (binaries / MANAGER).exists():
        lacking |= ALL - {"scheduler"}
    return ON_REAL_CONTROL_PLANE | lacking
