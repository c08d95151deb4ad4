"""Writes to nodes against servers that lie or compete (B005, B075)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from bot.adapters.kubernetes.node_writes import NodeWrites
from state.errors import TransientError
from state.reasons import Code
from tests.shell.bad_servers import BadServer, connected, failure, serving

KEY = "nvidia.com/gpu.deploy.operands"
DRIVER = "nvidia.com/gpu.deploy.driver"


@dataclass
class Lying:
    """A server with one node. What a patch does to it is scripted."""

    writes: NodeWrites
    labels: dict[str, str] = field(default_factory=dict)
    revision: int = 1
    obey: bool = True
    instead: dict[str, str] = field(default_factory=dict)
    after: dict[str, str | None] = field(default_factory=dict)
    conflicts: int = 0
    patches: list[dict[str, Any]] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.method == "PATCH":
            self.patches.append(await request.json())
            if self.conflicts > 0:
                self.conflicts -= 1
                return web.json_response(failure(409, "Conflict"), status=409)
            self._change(self.patches[-1]["metadata"]["labels"] if self.obey else {})
            self.labels.update(self.instead)
            answer = self._node()
            self._change(self.after)
            return web.json_response(answer)
        return web.json_response(self._node())

    def _change(self, labels: dict[str, str | None]) -> None:
        for key, value in labels.items():
            self.revision += 1
            if value is None:
                self.labels.pop(key, None)
            else:
                self.labels[key] = value

    def _node(self) -> dict[str, Any]:
        metadata = {"name": "n", "uid": "u", "resourceVersion": str(self.revision), "labels": dict(self.labels)}
        return {"metadata": metadata}


@pytest.fixture
async def lying() -> AsyncIterator[Lying]:
    server = BadServer()
    async with serving(server), connected(server) as connection:
        made = Lying(NodeWrites(connection))
        server.other = made.serve
        yield made


async def test_given_a_server_that_says_yes_and_does_nothing_when_labelled_then_it_is_noticed(lying: Lying) -> None:
    lying.obey = False

    with pytest.raises(TransientError) as caught:
        await lying.writes.label("n", "u", {KEY: "false"})

    assert caught.value.reason.code is Code.API_REFUSED
    assert KEY in caught.value.reason.text("message")


async def test_given_a_removal_that_leaves_an_empty_value_when_read_back_then_it_is_noticed(lying: Lying) -> None:
    lying.labels, lying.instead = {KEY: "false"}, {KEY: ""}

    with pytest.raises(TransientError) as caught:
        await lying.writes.label("n", "u", {KEY: None})

    assert f"{KEY}=''" in caught.value.reason.text("message")


async def test_given_an_operator_that_takes_a_label_off_again_when_read_back_then_it_was_written(lying: Lying) -> None:
    lying.after = {DRIVER: None}

    await lying.writes.label("n", "u", {KEY: "false", DRIVER: "false"})

    assert len(lying.patches) == 1


async def test_given_conflicts_when_written_then_each_try_names_what_was_read_and_five_are_enough(lying: Lying) -> None:
    lying.conflicts = 99

    with pytest.raises(TransientError) as caught:
        await lying.writes.label("n", "u", {KEY: "false"})

    assert caught.value.reason.facts["status"] == 409
    assert [patch["metadata"]["resourceVersion"] for patch in lying.patches] == ["1"] * 5
