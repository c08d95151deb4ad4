"""The Web API of the pretend workspace: refusals, limits, and what it remembers."""

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler

from sandbox.slack.limits import Limits
from tests.sandbox.slack_room import HOME, RANDOM, button, card, plain, room


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


async def test_given_too_many_updates_when_over_the_tier_then_429_says_how_long() -> None:
    async with room() as where:
        posted = await where.client.chat_postMessage(channel=HOME, text="0")
        answers = [await where.api("chat.update", channel=HOME, ts=posted["ts"], text=str(n)) for n in range(52)]
        other = await where.api("auth.test")

    refused = [(status, answer["error"], retry) for status, answer, retry in answers if status != 200]
    assert [status for status, _, _ in answers[:50]] == [200] * 50
    assert refused
    assert set(refused) == {(429, "ratelimited", "2")} or set(refused) <= {
        (429, "ratelimited", "1"),
        (429, "ratelimited", "2"),
    }
    assert other[0] == 200
    assert [entry.status for entry in where.journal.entries()].count(429) == len(refused)


async def test_given_a_full_channel_when_the_sdk_retries_after_the_wait_then_the_post_arrives() -> None:
    async with room() as where:
        where.client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=2))
        posts = [where.client.chat_postMessage(channel=HOME, text=str(n)) for n in range(12)]
        await asyncio.gather(*posts)
        texts = [message["text"] for message in await where.messages()]

    assert sorted(texts, key=int) == [str(n) for n in range(12)]


def test_given_a_clock_when_calls_come_evenly_then_the_tier_lets_them_pass() -> None:
    now = 0.0
    limits = Limits(lambda: now)
    for _ in range(50):
        assert limits.retry_after("chat.update", HOME) == 0

    refused = limits.retry_after("chat.update", HOME)
    now += 1.3
    after = limits.retry_after("chat.update", HOME)
    posts = [limits.retry_after("chat.postMessage", HOME) for _ in range(11)]
    elsewhere = limits.retry_after("chat.postMessage", RANDOM)

    assert (refused, after) == (2, 0)
    assert posts == [0] * 10 + [1]
    assert elsewhere == 0


async def test_given_metadata_when_updated_without_it_then_it_stays_and_history_gives_it_on_request() -> None:
    metadata = {"event_type": "run", "event_payload": {"run": "r1"}}
    async with room() as where:
        posted = await where.client.chat_postMessage(channel=HOME, text="a", blocks=card(), metadata=metadata)
        await where.client.chat_update(channel=HOME, ts=posted["ts"], text="b")
        with_it = await where.client.conversations_history(channel=HOME, include_all_metadata=True)
        without = await where.client.conversations_history(channel=HOME)
        await where.client.chat_update(channel=HOME, ts=posted["ts"], text="c", blocks=[], metadata={})
        last = await where.client.conversations_history(channel=HOME, include_all_metadata=True)

    assert with_it["messages"][0]["metadata"] == metadata
    assert [b["type"] for b in with_it["messages"][0]["blocks"]] == ["section", "actions"]
    assert "metadata" not in without["messages"][0]
    assert "metadata" not in last["messages"][0]
    assert "blocks" not in last["messages"][0]


async def test_given_the_other_channel_when_joined_then_the_bot_may_post() -> None:
    async with room() as where:
        await where.client.conversations_join(channel=RANDOM)
        posted = await where.client.chat_postMessage(channel=RANDOM, text="hello")
        await where.act("switch", name="kick", value="random")
        _, kicked, _ = await where.api("chat.postMessage", channel=RANDOM, text="x")
        await where.act("switch", name="archive", value=HOME)
        _, archived, _ = await where.api("chat.postMessage", channel=HOME, text="x")

    assert posted["ok"] is True
    assert (kicked["error"], archived["error"]) == ("not_in_channel", "is_archived")


async def test_given_a_person_when_a_direct_message_is_opened_then_only_they_read_it() -> None:
    async with room() as where:
        opened = await where.client.conversations_open(users="U0OPERATOR1")
        await where.client.chat_postMessage(channel=opened["channel"]["id"], text="psst")
        by_user = await where.client.chat_postMessage(channel="U0OPERATOR1", text="again")
        texts = [m["text"] for m in await where.messages("operator-1", "@operator-1")]

    assert by_user["channel"] == opened["channel"]["id"]
    assert texts == ["psst", "again"]


async def test_given_revoked_tokens_or_lost_scopes_when_called_then_slack_says_so() -> None:
    async with room() as where:
        await where.act("switch", name="scopes", value=["commands"])
        _, scoped, _ = await where.api("chat.postMessage", channel=HOME, text="x")
        await where.act("switch", name="revoke", value=True)
        _, revoked, _ = await where.api("auth.test")

    assert (scoped["error"], scoped["needed"], scoped["provided"]) == ("missing_scope", "chat:write", "commands")
    assert revoked["error"] == "token_revoked"


async def test_given_a_fault_rule_when_the_bot_calls_then_it_hits_the_api_and_never_the_page() -> None:
    async with room() as where:
        where.faults.add(system="slack", status=503, times=1)
        people = await where.look("people")
        status = None
        async with where.session.post(f"{where.url}/api/auth.test") as answer:
            status = answer.status

    assert people["ok"] is True
    assert status == 503


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
