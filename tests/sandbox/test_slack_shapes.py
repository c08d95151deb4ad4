"""What the pretend workspace sends has no key that Slack's own samples lack, and lacks none that bots read."""

import asyncio
from typing import Any

import pytest

from tests.sandbox.slack_room import HOME, button, card, foreign_keys, plain, room, shapes

VIEW = {"type": "modal", "title": plain("Hello"), "blocks": [{"type": "divider"}]}


async def test_given_every_method_when_it_succeeds_then_its_keys_are_slacks() -> None:
    async with room() as where:
        posted = (await where.api("chat.postMessage", channel=HOME, text="x", blocks=card()))[1]
        ts = posted["ts"]
        calls: dict[str, dict[str, Any]] = {
            "apps.connections.open": {"token": where.server.app_token},
            "auth.test": {},
            "bots.info": {"bot": "B0GPUMIGRAT"},
            "chat.getPermalink": {"channel": HOME, "message_ts": ts},
            "chat.postEphemeral": {"channel": HOME, "user": "U0OPERATOR1", "text": "x"},
            "chat.postMessage": {"channel": HOME, "text": "reply", "thread_ts": ts},
            "chat.update": {"channel": HOME, "ts": ts, "text": "y"},
            "conversations.info": {"channel": HOME, "include_num_members": True},
            "conversations.join": {"channel": HOME},
            "conversations.list": {"types": "public_channel,im"},
            "conversations.members": {"channel": HOME},
            "conversations.open": {"users": "U0OPERATOR1", "return_im": True},
            "pins.add": {"channel": HOME, "timestamp": ts},
            "reactions.add": {"channel": HOME, "timestamp": ts, "name": "eyes"},
            "team.info": {},
            "usergroups.list": {"include_users": True, "include_count": True},
            "usergroups.users.list": {"usergroup": "S0APPROVERS"},
            "users.info": {"user": "U0GUEST0001"},
            "views.open": {"trigger_id": where.server.triggers.issue("U0OPERATOR1"), "view": VIEW},
            "views.publish": {"user_id": "U0OPERATOR1", "view": {"type": "home", "blocks": []}},
        }
        answers = {name: (await where.api(name, **args))[1] for name, args in calls.items()}
        view = answers["views.open"]["view"]
        pushed: dict[str, Any] = {"trigger_id": where.server.triggers.issue("U0OPERATOR1", view["id"]), "view": VIEW}
        answers["views.push"] = (await where.api("views.push", **pushed))[1]
        answers["views.update"] = (await where.api("views.update", view_id=view["id"], hash=view["hash"], view=VIEW))[1]
        answers["chat.delete"] = (await where.api("chat.delete", channel=HOME, ts=ts))[1]

    samples = shapes("answers")
    assert sorted(answers) == sorted(samples)
    assert {name: answer.get("error") for name, answer in answers.items() if not answer["ok"]} == {}
    assert {name: foreign_keys(answer, samples[name]) for name, answer in answers.items()} == {
        name: [] for name in answers
    }


async def test_given_an_invalid_view_hash_when_updated_then_conflict() -> None:
    async with room() as where:
        trigger = where.server.triggers.issue("U0OPERATOR1")
        view = (await where.api("views.open", trigger_id=trigger, view=VIEW))[1]["view"]
        _, answer, _ = await where.api("views.update", view_id=view["id"], hash="1.old", view=VIEW)

    assert answer["error"] == "hash_conflict"


async def test_given_a_command_and_a_click_when_delivered_then_their_keys_are_slacks() -> None:
    confirm = {"title": plain("T"), "text": plain("Sure?"), "confirm": plain("Yes"), "deny": plain("No")}
    block = {"type": "actions", "elements": [button("go", "Go", value="7", style="danger", confirm=confirm)]}
    async with room() as where:
        posted = await where.client.chat_postMessage(channel=HOME, text="Go?", blocks=[block])
        shown = await where.client.chat_postEphemeral(channel=HOME, user="U0OPERATOR1", text="Go?", blocks=[block])
        command = await delivered(where, "type", text="/gpu-migrate start @approver-1 <b>")
        click = await delivered(where, "click", ts=posted["ts"], action_id="go")
        private = await delivered(where, "click", ts=shown["message_ts"], action_id="go")

    samples = shapes("payloads")
    assert foreign_keys(command["payload"], samples["slash_commands"]) == []
    assert set(samples["slash_commands"]) - set(command["payload"]) == {"enterprise_id", "enterprise_name"}
    assert command["payload"]["text"] == "start <@U0APPROVER1|approver-1> &lt;b&gt;"
    assert foreign_keys(click["payload"], samples["block_actions"]) == []
    assert foreign_keys(private["payload"], samples["block_actions"]) == []
    assert click["payload"]["actions"][0]["value"] == "7"
    assert click["payload"]["container"]["message_ts"] == click["payload"]["message"]["ts"] == posted["ts"]
    assert (click["type"], click["accepts_response_payload"]) == ("interactive", False)
    assert (command["type"], command["accepts_response_payload"]) == ("slash_commands", True)
    assert private["payload"]["container"]["is_ephemeral"] is True
    assert "message" not in private["payload"]


@pytest.mark.parametrize("kind", ["view_submission", "view_closed"])
async def test_given_a_modal_when_submitted_or_closed_then_the_keys_are_slacks(kind: str) -> None:
    view = {**VIEW, "notify_on_close": True, "private_metadata": "p", "callback_id": "c"}
    async with room() as where:
        trigger = where.server.triggers.issue("U0OPERATOR1")
        opened = (await where.api("views.open", trigger_id=trigger, view=view))[1]["view"]
        verb = "submit" if kind == "view_submission" else "close"
        got = await delivered(where, verb, view_id=opened["id"])

    assert got["payload"]["type"] == kind
    assert foreign_keys({k: v for k, v in got["payload"].items() if k != "view"}, shapes("payloads")[kind]) == []
    assert (
        foreign_keys(
            {k: v for k, v in got["payload"]["view"].items() if k != "blocks"}, shapes("payloads")[kind]["view"]
        )
        == []
    )


async def delivered(where: Any, what: str, **body: Any) -> dict[str, Any]:
    """Do something as operator-1 and return the envelope that a socket gets, acknowledged at once."""
    _, opened, _ = await where.api("apps.connections.open", token=where.server.app_token)
    async with where.session.ws_connect(opened["url"]) as socket:
        await socket.receive_json()
        act = asyncio.create_task(where.act(what, user="operator-1", **body))
        envelope: dict[str, Any] = await socket.receive_json(timeout=5)
        await socket.send_json({"envelope_id": envelope["envelope_id"]})
        answer = await act

    assert answer["ok"] is True
    return envelope
