"""What the Web API of the pretend workspace refuses, and in which words."""

import json
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.sandbox.slack_room import HOME, RANDOM, button, room


@pytest.mark.parametrize(
    ("method", "token", "error"),
    [
        ("auth.test", "", "not_authed"),
        ("auth.test", "xoxb-other", "invalid_auth"),
        ("auth.test", "xapp-pretend-app", "not_allowed_token_type"),
        ("apps.connections.open", "xoxb-pretend-bot", "not_allowed_token_type"),
        ("apps.connections.open", "xapp-other", "invalid_auth"),
        ("chat.shout", "xoxb-pretend-bot", "unknown_method"),
    ],
)
async def test_given_a_wrong_token_or_method_when_called_then_slacks_error(method: str, token: str, error: str) -> None:
    async with room() as where:
        status, answer, _ = await where.api(method, token=token)

    assert (status, answer["ok"], answer["error"]) == (200, False, error)


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("chat.postMessage", {"channel": "C404", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": RANDOM, "text": "x"}, "not_in_channel"),
        ("chat.postMessage", {"channel": HOME}, "no_text"),
        ("chat.postMessage", {"text": "x"}, "invalid_arguments"),
        ("chat.postMessage", {"channel": HOME, "blocks": "[{"}, "invalid_blocks_format"),
        ("chat.postMessage", {"channel": HOME, "blocks": {"a": 1}}, "invalid_blocks_format"),
        ("chat.postMessage", {"channel": HOME, "text": "x", "thread_ts": "1.000001"}, "cannot_reply_to_message"),
        ("chat.postMessage", {"channel": HOME, "text": "x", "metadata": {"a": 1}}, "invalid_metadata_format"),
        (
            "chat.postMessage",
            {"channel": HOME, "text": "x", "metadata": {"event_type": "a", "event_payload": {"b": "c" * 9000}}},
            "metadata_too_large",
        ),
        ("chat.postEphemeral", {"channel": HOME, "text": "x", "user": "U404"}, "user_not_in_channel"),
        ("chat.update", {"channel": HOME, "ts": "1.000001", "text": "x"}, "message_not_found"),
        ("chat.delete", {"channel": HOME, "ts": "1.000001"}, "message_not_found"),
        ("chat.getPermalink", {"channel": HOME, "message_ts": "1.1"}, "message_not_found"),
        ("conversations.info", {"channel": "C404"}, "channel_not_found"),
        ("conversations.history", {"channel": RANDOM}, "not_in_channel"),
        ("conversations.history", {"channel": HOME, "cursor": "x"}, "invalid_cursor"),
        ("conversations.history", {"channel": HOME, "limit": "many"}, "invalid_arguments"),
        ("conversations.replies", {"channel": HOME, "ts": "1.1"}, "thread_not_found"),
        ("conversations.list", {"types": "public"}, "invalid_types"),
        ("conversations.open", {"users": "U404"}, "user_not_found"),
        ("conversations.open", {}, "users_list_not_supplied"),
        ("users.info", {"user": "U404"}, "user_not_found"),
        ("usergroups.users.list", {"usergroup": "S404"}, "no_such_subteam"),
        ("views.open", {"trigger_id": "1.2.3", "view": {"type": "modal"}}, "invalid_arguments"),
        ("views.update", {"view_id": "V1", "view": {"type": "home", "blocks": []}}, "not_found"),
        ("reactions.add", {"channel": HOME, "timestamp": "1.1", "name": "eyes"}, "message_not_found"),
        ("reactions.add", {"channel": HOME, "timestamp": "1.1", "name": "No Name"}, "invalid_name"),
        ("pins.add", {"channel": HOME}, "no_item_specified"),
        ("bots.info", {"bot": "B404"}, "bot_not_found"),
        ("team.info", {"team": "T404"}, "team_not_found"),
    ],
)
async def test_given_bad_arguments_when_called_then_the_documented_error(
    method: str, args: dict[str, Any], error: str
) -> None:
    async with room() as where:
        status, answer, _ = await where.api(method, **args)

    assert (status, answer["ok"], answer["error"]) == (200, False, error)


async def test_given_odd_bodies_when_posted_then_slacks_errors_and_no_crash() -> None:
    async with room() as where:
        headers = {"Authorization": f"Bearer {where.server.bot_token}", "Content-Type": "application/json"}
        errors = []
        for body in ("{", "[]", "null", '"x"', '{"channel": 5, "text": {"a": 1}}'):
            async with where.session.post(f"{where.url}/api/chat.postMessage", data=body, headers=headers) as answer:
                errors.append((answer.status, (await answer.json())["error"]))

    assert errors == [(200, "invalid_json")] * 4 + [(200, "channel_not_found")]


@pytest.mark.parametrize(
    ("kind", "body", "error"),
    [
        ("application/json; charset=nosuch", b"{}", "invalid_json"),
        ("application/json", b"\xff\xfe{", "invalid_json"),
        ("application/json", b"[" * 100_000, "invalid_json"),
        (
            "application/json",
            b'{"channel": "%s", "blocks": %s%s}' % (HOME.encode(), b"[" * 700, b"]" * 700),
            "invalid_arguments",
        ),
        (
            "application/json",
            b'{"channel": "%s", "blocks": [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]],'
            b' "column_settings": %s%s}]}' % (HOME.encode(), b"[" * 900, b"]" * 900),
            "invalid_arguments",
        ),
        ("application/x-www-form-urlencoded; charset=nosuch", b"channel=1", "invalid_form_data"),
    ],
    ids=["charset", "bytes", "brackets", "deep blocks", "deep settings", "form charset"],
)
async def test_given_a_hostile_body_when_posted_then_refused_and_the_journal_stays_readable(
    kind: str, body: bytes, error: str
) -> None:
    async with room() as where:
        headers = {"Authorization": f"Bearer {where.server.bot_token}", "Content-Type": kind}
        async with where.session.post(f"{where.url}/api/chat.postMessage", data=body, headers=headers) as answer:
            status, said = answer.status, await answer.json()
        json.dumps(where.journal.as_json())

    assert (status, said["error"]) == (200, error)


async def test_given_a_form_when_posted_then_it_counts_like_json() -> None:
    async with room() as where:
        form = {"token": where.server.bot_token, "channel": HOME, "text": "x", "blocks": '[{"type": "divider"}]'}
        async with where.session.post(f"{where.url}/api/chat.postMessage", data=form) as answer:
            posted = await answer.json()

    assert posted["ok"] is True
    assert posted["message"]["blocks"][0]["type"] == "divider"
    assert "token" not in str(where.journal.as_json())


async def test_given_invalid_blocks_when_posted_then_each_fault_has_a_pointer() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}},
        {"type": "actions", "elements": [button("a", "Go", style="success")]},
        {"type": "carrot"},
    ]
    async with room() as where:
        with pytest.raises(SlackApiError) as refused:
            await where.client.chat_postMessage(channel=HOME, text="x", blocks=blocks)

    answer = refused.value.response
    assert answer["error"] == "invalid_blocks"
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
        "[ERROR] must be one of: primary, danger [json-pointer:/blocks/1/elements/0/style]",
        "[ERROR] unsupported type: carrot [json-pointer:/blocks/2/type]",
    ]


async def test_given_revoked_tokens_or_lost_scopes_when_called_then_slack_says_so() -> None:
    async with room() as where:
        await where.act("switch", name="scopes", value=["commands"])
        _, scoped, _ = await where.api("chat.postMessage", channel=HOME, text="x")
        await where.act("switch", name="revoke", value=True)
        _, revoked, _ = await where.api("auth.test")

    assert (scoped["error"], scoped["needed"], scoped["provided"]) == ("missing_scope", "chat:write", "commands")
    assert revoked["error"] == "token_revoked"
