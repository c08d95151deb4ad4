"""Tickets, sockets, response URLs and triggers: what Slack hands out for a while or for a few uses."""

import asyncio
from typing import Any

import aiohttp
import pytest

from tests.sandbox.slack_room import plain, room


async def test_given_a_ticket_when_used_twice_or_refused_then_no_socket() -> None:
    async with room() as where:
        _, opened, _ = await where.api("apps.connections.open", token=where.server.app_token)
        async with where.session.ws_connect(opened["url"]) as socket:
            hello = await socket.receive_json()
            with pytest.raises(aiohttp.WSServerHandshakeError) as again:
                await where.session.ws_connect(opened["url"])

        await where.act("switch", name="refuse_tickets", value=1)
        _, opened, _ = await where.api("apps.connections.open", token=where.server.app_token)
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await where.session.ws_connect(opened["url"])

    assert (hello["type"], hello["connection_info"]) == ("hello", {"app_id": "A0GPUMIGRAT"})
    assert (again.value.status, refused.value.status) == (403, 403)


async def test_given_ten_sockets_when_an_eleventh_opens_then_it_is_sent_away() -> None:
    async with room() as where:
        sockets = []
        for _ in range(11):
            _, opened, _ = await where.api("apps.connections.open", token=where.server.app_token)
            sockets.append(await where.session.ws_connect(opened["url"]))
        first = [await socket.receive_json() for socket in sockets]
        for socket in sockets:
            await socket.close()

    assert [message["type"] for message in first] == ["hello"] * 10 + ["disconnect"]
    assert first[-1]["reason"] == "too_many_websockets"


async def test_given_a_response_url_when_used_six_times_then_the_sixth_is_refused() -> None:
    async with room() as where:
        got: dict[str, Any] = {}
        _, opened, _ = await where.api("apps.connections.open", token=where.server.app_token)
        async with where.session.ws_connect(opened["url"]) as socket:
            await socket.receive_json()
            typed = asyncio.create_task(where.act("type", user="operator-1", text="/gpu-migrate help"))
            got = await socket.receive_json()
            await socket.send_json({"envelope_id": got["envelope_id"]})
            await typed
        url = got["payload"]["response_url"]
        statuses = []
        for _ in range(6):
            async with where.session.post(url, json={"text": "x"}) as answer:
                statuses.append((answer.status, await answer.text()))
        async with where.session.post(url + "x", json={"text": "x"}) as answer:
            unknown = await answer.json()

    assert [status for status, _ in statuses] == [200] * 5 + [404]
    assert statuses[0][1] == "ok"
    assert "used_url" in statuses[5][1]
    assert unknown["error"] == "expired_url"


async def test_given_a_trigger_when_spent_twice_or_late_then_refused() -> None:
    view = {"type": "modal", "title": plain("Hello"), "blocks": [{"type": "divider"}]}
    async with room() as where:
        triggers = where.server.triggers
        trigger = triggers.issue("U0OPERATOR1")
        _, first, _ = await where.api("views.open", trigger_id=trigger, view=view)
        _, second, _ = await where.api("views.open", trigger_id=trigger, view=view)
        late = triggers.issue("U0OPERATOR1", life=-1.0)
        _, third, _ = await where.api("views.open", trigger_id=late, view=view)

    assert first["ok"] is True
    assert (second["error"], third["error"]) == ("exchanged_trigger_id", "expired_trigger_id")
