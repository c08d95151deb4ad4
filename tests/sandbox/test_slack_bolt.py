"""The real slack_bolt, on a real socket, against the pretend workspace."""

import asyncio
from typing import Any

from slack_bolt.async_app import AsyncApp

from tests.sandbox.slack_room import HOME, app_room, approval, bolted, button, card, room, until


async def test_given_an_app_when_a_command_is_typed_then_its_ack_is_seen_by_the_typist_only() -> None:
    async with app_room(approval) as where:
        answer = await where.act("type", user="operator-1", text="/gpu-migrate start gpu-multi")
        seen = await where.messages("operator-1")
        others = await where.messages("approver-1")

    assert answer["ok"] is True
    assert answer["ack"] == {"text": "starting start gpu-multi"}
    assert [(m["text"], m["ephemeral"]) for m in seen] == [
        ("Approve?", False),
        ("starting start gpu-multi", True),
    ]
    assert [m["text"] for m in others] == ["Approve?"]
    assert [b["text"] for b in others[0]["buttons"]] == ["Approve", "Reject"]


async def test_given_a_card_when_pressed_then_the_app_rewrites_it() -> None:
    async with app_room(approval) as where:
        await where.act("type", user="operator-1", text="/gpu-migrate start x")
        ts = (await where.messages())[0]["ts"]
        answer = await where.act("click", user="approver-1", ts=ts, action_id="gm:approve", value="1")
        message = (await where.messages())[0]

    assert answer["ok"] is True
    assert (message["text"], message["edited"], message["blocks"]) == ("Approved by U0APPROVER1", True, [])
    assert where.verbs() == ["type", "chat.postMessage", "click", "chat.update"]


async def test_given_a_rewritten_card_when_pressed_late_then_only_a_stale_press_reaches_the_app() -> None:
    async with app_room(approval) as where:
        await where.act("type", user="operator-1", text="/gpu-migrate start x")
        ts = (await where.messages())[0]["ts"]
        await where.act("click", user="approver-1", ts=ts, action_id="gm:approve")
        fresh = await where.act("click", user="operator-1", ts=ts, action_id="gm:approve")
        stale = await where.act("click", user="operator-1", ts=ts, action_id="gm:approve", stale=True)

    assert fresh["error"] == "no_such_button"
    assert stale["ok"] is True


async def test_given_a_response_url_when_answered_then_one_person_reads_it() -> None:
    async with app_room(approval) as where:
        posted = await where.client.chat_postMessage(channel=HOME, text="Approve?", blocks=card())
        await where.act("click", user="guest-1", ts=posted["ts"], action_id="gm:reject")
        guest = await where.messages("guest-1")
        operator = await where.messages("operator-1")

    assert [m["text"] for m in guest if m["ephemeral"]] == ["not you"]
    assert [m["text"] for m in operator if m["ephemeral"]] == []


async def test_given_nobody_listening_when_typed_then_dispatch_failed_is_shown() -> None:
    async with room() as where:
        answer = await where.act("type", user="operator-1", text="/gpu-migrate status")
        seen = await where.messages()

    assert answer["error"] == "dispatch_failed"
    assert seen[0]["ephemeral"] is True
    assert "dispatch_failed" in seen[0]["text"]


async def test_given_an_app_that_never_acks_when_pressed_then_it_times_out_after_three_seconds_and_is_not_repeated() -> (
    None
):
    presses: list[str] = []

    def listen(app: AsyncApp) -> None:
        @app.action("slow")
        async def slow(body: dict[str, Any]) -> None:
            presses.append(body["user"]["id"])

    async with app_room(listen) as where:
        block = {"type": "actions", "elements": [button("slow", "Go")]}
        posted = await where.client.chat_postMessage(channel=HOME, text="Go?", blocks=[block])
        answer = await where.act("click", user="operator-1", ts=posted["ts"], action_id="slow")
        seen = await where.messages()

    assert answer["error"] == "operation_timeout"
    assert 2.9 < answer["seconds"] < 4
    assert presses == ["U0OPERATOR1"]
    assert "operation_timeout" in seen[-1]["text"]


async def test_given_a_socket_when_asked_to_refresh_then_the_sdk_comes_back_and_commands_arrive() -> None:
    async with app_room(approval) as where:
        first = where.server.sockets.ids()
        await where.act("switch", name="refresh")
        await until(lambda: where.server.sockets.count == 1 and where.server.sockets.ids() != first)
        answer = await where.act("type", user="operator-1", text="/gpu-migrate status")

    assert answer["ok"] is True


async def test_given_a_cut_socket_when_the_sdk_reconnects_then_commands_arrive_again() -> None:
    async with app_room(approval) as where:
        await where.act("switch", name="drop_sockets")
        await until(lambda: where.server.sockets.count == 0)
        lost = await where.act("type", user="operator-1", text="/gpu-migrate status")
        await until(lambda: where.server.sockets.count == 1)
        answer = await where.act("type", user="operator-1", text="/gpu-migrate status")

    assert lost["error"] == "dispatch_failed"
    assert answer["ok"] is True


async def test_given_a_silent_socket_when_typed_then_nothing_arrives_until_the_sdk_gives_it_up() -> None:
    async with app_room(approval) as where:
        silent = where.server.sockets.ids()
        await where.act("switch", name="silent", value=True)
        lost = await where.act("type", user="operator-1", text="/gpu-migrate status")
        await until(lambda: where.server.sockets.ids() not in ((), silent), 15)
        answer = await where.act("type", user="operator-1", text="/gpu-migrate status")

    assert lost["error"] == "operation_timeout"
    assert answer["ok"] is True


async def test_given_two_sockets_when_an_envelope_is_doubled_then_the_app_sees_it_twice() -> None:
    seen: list[str] = []

    def listen(app: AsyncApp) -> None:
        @app.command("/gpu-migrate")
        async def count(ack: Any, body: dict[str, Any]) -> None:
            seen.append(body["trigger_id"])
            await ack()

    async with room() as where, bolted(where, listen), bolted(where, listen):
        await until(lambda: where.server.sockets.count == 2)
        await where.act("switch", name="duplicate", value=1)
        await where.act("type", user="operator-1", text="/gpu-migrate status")
        await until(lambda: len(seen) == 2)
        await where.act("type", user="operator-1", text="/gpu-migrate status")

    assert len(seen) == 3
    assert len(set(seen)) == 2


async def test_given_threads_when_answers_come_then_the_parent_counts_them() -> None:
    async with room() as where:
        parent = await where.client.chat_postMessage(channel=HOME, text="Run 1")
        for text in ("Node ready", "GPUs allocatable"):
            await where.client.chat_postMessage(channel=HOME, text=text, thread_ts=parent["ts"])
        replies = await where.client.conversations_replies(channel=HOME, ts=parent["ts"])
        history = await where.client.conversations_history(channel=HOME)
        seen = await where.messages()

    assert [m["text"] for m in replies["messages"]] == ["Run 1", "Node ready", "GPUs allocatable"]
    assert [m["text"] for m in history["messages"]] == ["Run 1"]
    assert history["messages"][0]["reply_count"] == 2
    assert [m["thread_ts"] for m in seen] == [parent["ts"]] * 3


async def test_given_a_modal_when_submitted_then_the_app_gets_its_values() -> None:
    got: list[dict[str, Any]] = []

    def listen(app: AsyncApp) -> None:
        @app.action("open")
        async def opened(ack: Any, body: dict[str, Any], client: Any) -> None:
            await ack()
            await client.views_open(trigger_id=body["trigger_id"], view=reason_view())

        @app.view("reason")
        async def submitted(ack: Any, view: dict[str, Any]) -> None:
            got.append(view["state"]["values"])
            await ack()

    async with app_room(listen) as where:
        block = {"type": "actions", "elements": [button("open", "Reject")]}
        posted = await where.client.chat_postMessage(channel=HOME, text="Reject?", blocks=[block])
        await where.act("click", user="approver-1", ts=posted["ts"], action_id="open")
        modal = (await where.look("views", user="approver-1"))["modal"]
        empty = await where.act("submit", user="approver-1", view_id=modal["id"], values={})
        done = await where.act("submit", user="approver-1", view_id=modal["id"], values={"why": {"text": "Friday"}})
        after = await where.look("views", user="approver-1")

    assert empty["error"] == "required_field_missing"
    assert done["ok"] is True
    assert got == [{"why": {"text": {"type": "plain_text_input", "value": "Friday"}}}]
    assert after["modal"] is None


async def test_given_a_home_tab_when_opened_then_the_app_publishes_it() -> None:
    def listen(app: AsyncApp) -> None:
        @app.event("app_home_opened")
        async def home(event: dict[str, Any], client: Any) -> None:
            blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "No runs"}}]
            await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})

    async with app_room(listen) as where:
        answer = await where.act("home", user="operator-1")
        async with asyncio.timeout(5):
            while (shown := (await where.look("views", user="operator-1"))["home"]) is None:
                await asyncio.sleep(0.01)

    assert answer["ok"] is True
    assert shown["blocks"][0]["text"]["text"] == "No runs"


def reason_view() -> dict[str, Any]:
    return {
        "type": "modal",
        "callback_id": "reason",
        "title": {"type": "plain_text", "text": "Reject"},
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [
            {
                "type": "input",
                "block_id": "why",
                "label": {"type": "plain_text", "text": "Why?"},
                "element": {"type": "plain_text_input", "action_id": "text"},
            }
        ],
    }
