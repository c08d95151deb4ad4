"""The reflector against servers that misbehave: it neither loses the truth nor storms."""

import asyncio
import json
from dataclasses import replace

from aiohttp import web

from bot.adapters.kubernetes.settings import Limits
from tests.shell.bad_servers import (
    DATA,
    SLOTH,
    Answers,
    BadServer,
    Json,
    Script,
    cut,
    event,
    failure,
    silence,
    thing,
    watching,
)

PATIENT = Limits(watch_least=30, watch_most=30)


def saying(*lines: bytes, then: Script = silence) -> Script:
    """Say these lines once; later watches hear nothing new."""
    said: list[bytes] = []

    async def script(request: web.Request, stream: web.StreamResponse) -> None:
        if not said:
            said.extend(lines)
            for line in lines:
                await stream.write(line)
            await then(request, stream)
        else:
            await silence(request, stream)

    return script


async def broken(request: web.Request, _stream: web.StreamResponse) -> None:
    await cut(request)


async def test_given_a_list_when_reflected_then_one_change_is_told() -> None:
    async with watching(BadServer([thing("a", 1), thing("b", 2)])) as at_work:
        await at_work.until(lambda: at_work.reflector.believable)

        assert (at_work.names(), at_work.changes) == (["a", "b"], 1)


async def test_given_many_pages_when_reflected_then_all_are_read() -> None:
    objects = [thing(f"t{number}", number) for number in range(1, 1201)]
    async with watching(BadServer(objects, version=5000)) as at_work:
        await at_work.until(lambda: len(at_work.names()) == 1200)

        assert at_work.server.count(watches=False) == 3


async def test_given_a_half_open_watch_when_silent_too_long_then_it_is_doubted_and_opened_anew() -> None:
    limits = replace(SLOTH, trust=0.3)
    async with watching(BadServer([thing("a", 1)]), limits) as at_work:
        await at_work.until(lambda: at_work.reflector.believable)
        await at_work.until(lambda: not at_work.reflector.believable)
        await at_work.until(lambda: at_work.server.count(watches=True) >= 2)

        assert at_work.names() == ["a"]
        assert at_work.reflector.synced


async def test_given_a_dead_watch_when_the_list_is_old_then_changes_are_found_by_listing() -> None:
    limits = replace(SLOTH, relist=1.5)
    async with watching(BadServer([thing("a", 1), thing("b", 2)]), limits) as at_work:
        await at_work.until(lambda: at_work.names() == ["a", "b"])
        at_work.server.objects, at_work.server.version = [thing("b", 3), thing("c", 4)], 101
        await at_work.until(lambda: at_work.names() == ["b", "c"])

        assert at_work.changes == 2


async def test_given_a_410_in_the_stream_when_read_then_it_lists_again_and_no_error_becomes_a_record() -> None:
    """B070: the next watch begins at the new list's version."""
    recorded = json.loads((DATA / "bugs" / "B070.json").read_text())["input"]["stream"]
    lines = [json.dumps(line).encode() + b"\n" for line in recorded]
    async with watching(BadServer([thing("a", 1)], watch=saying(*lines))) as at_work:
        await at_work.until(lambda: at_work.server.count(watches=True) == 2)

        assert at_work.server.count(watches=False) == 2
        assert at_work.names() == ["a"]
        assert at_work.server.seen[-1][2]["resourceVersion"] == "100"
        assert at_work.reflector.tally.skipped == 1


async def test_given_a_410_when_a_watch_is_opened_then_it_lists_again() -> None:
    server = BadServer([thing("a", 1)], opens=refusing(410))
    async with watching(server) as at_work:
        await at_work.until(lambda: server.count(watches=False) >= 2)

        assert at_work.names() == ["a"]
        assert not at_work.reflector.believable


async def test_given_a_line_cut_in_the_middle_when_opened_again_then_nothing_is_lost_or_listed_anew() -> None:
    whole, half = event("ADDED", thing("b", 101)), event("ADDED", thing("c", 102))

    async def script(request: web.Request, stream: web.StreamResponse) -> None:
        if request.query["resourceVersion"] == "100":
            await stream.write(whole + half[:40])
            await cut(request)
        else:
            await stream.write(half)
            await silence(request, stream)

    async with watching(BadServer([thing("a", 1)], watch=script)) as at_work:
        await at_work.until(lambda: at_work.names() == ["a", "b", "c"])

        assert at_work.server.count(watches=False) == 1
        assert at_work.server.seen[-1][2]["resourceVersion"] == "101"


async def test_given_a_line_that_is_no_event_when_read_then_it_lists_again() -> None:
    for garbage in (b"<html>502</html>\n", b"[1]\n", b'"ADDED"\n', b"[" * 100_000 + b"\n"):
        async with watching(BadServer([thing("a", 1)], watch=saying(garbage))) as at_work:
            await at_work.until(lambda: at_work.server.count(watches=False) == 2)

            assert at_work.names() == ["a"]


async def test_given_bad_objects_when_listed_or_watched_then_they_alone_are_skipped_and_counted() -> None:
    bad: list[Json] = [{"metadata": None}, {"metadata": {"name": "no-uid"}}, {"spec": 3}]
    lines = [
        event("ADDED", {"metadata": {"name": 7}}),
        event("SURPRISE", thing("z", 200)),
        event("ADDED", thing("b", 201)),
    ]
    async with watching(BadServer([*bad, thing("a", 1)], watch=saying(*lines))) as at_work:
        await at_work.until(lambda: at_work.names() == ["a", "b"])

        assert at_work.reflector.tally.skipped == 5


async def test_given_doubled_and_old_events_when_replayed_then_nothing_goes_backwards() -> None:
    """B077: a server replays the past after a reconnect."""
    lines = [
        event("MODIFIED", thing("a", 150)),
        event("MODIFIED", thing("a", 150)),
        event("ADDED", thing("a", 40)),
        event("ADDED", thing("long-gone", 30)),
        event("DELETED", thing("never-known", 20)),
        event("DELETED", thing("b", 151)),
        event("MODIFIED", thing("b", 149)),
        event("ADDED", thing("b", 152, uid="uid-of-the-next-b")),
        event("DELETED", thing("b", 151)),
        event("BOOKMARK", {"metadata": {"resourceVersion": "120"}}),
        event("ADDED", thing("end", 160)),
    ]
    async with watching(BadServer([thing("a", 50), thing("b", 60)], watch=saying(*lines, then=broken))) as at_work:
        await at_work.until(lambda: "end" in at_work.names())
        await at_work.until(lambda: at_work.server.count(watches=True) == 2)

        assert at_work.names() == ["a", "b", "end"]
        assert at_work.server.seen[-1][2]["resourceVersion"] == "160"
        assert at_work.changes == 4


async def test_given_bookmarks_when_a_watch_ends_then_the_next_begins_there() -> None:
    lines = [event("BOOKMARK", {"metadata": {"resourceVersion": "500"}})]
    async with watching(BadServer([thing("a", 1)], watch=saying(*lines, then=broken))) as at_work:
        await at_work.until(lambda: at_work.server.count(watches=True) == 2)

        assert at_work.server.seen[-1][2]["resourceVersion"] == "500"


async def test_given_a_slow_list_when_it_takes_too_long_then_it_is_given_up_and_tried_again() -> None:
    server = BadServer([thing("a", 1)])

    async def slow(request: web.Request) -> web.StreamResponse:
        if server.count() == 1:
            await asyncio.Event().wait()
        return server.page(request)

    server.lists = slow
    async with watching(server, replace(SLOTH, page=0.2)) as at_work:
        await at_work.until(lambda: at_work.names() == ["a"])

        assert at_work.reflector.tally.failures == 1


async def test_given_a_server_that_goes_away_when_it_is_back_then_the_truth_is_taken_up_again() -> None:
    async with watching(BadServer([thing("a", 1), thing("b", 2)]), PATIENT) as at_work:
        await at_work.until(lambda: at_work.reflector.believable)
        await at_work.server.stop()
        await at_work.until(lambda: at_work.reflector.tally.failures >= 1)
        known_meanwhile, believed = at_work.names(), at_work.reflector.believable
        at_work.server.watch = saying(event("DELETED", thing("a", 101)), event("ADDED", thing("c", 102)))
        await at_work.server.start()
        await at_work.until(lambda: at_work.names() == ["b", "c"], seconds=20)

        assert known_meanwhile == ["a", "b"]
        assert not believed


async def test_given_a_server_that_moves_when_silent_for_a_while_then_its_new_address_is_found() -> None:
    """A control-plane update can change host and port; nobody tells us."""
    server = BadServer([thing("a", 1)])
    async with watching(server, replace(SLOTH, silence=0.3)) as at_work:
        await at_work.until(lambda: at_work.reflector.believable)
        await server.stop()
        server.moves()
        server.objects, server.version = [thing("b", 200)], 200
        server.watch = saying(event("ERROR", failure(410, "Expired")))
        await server.start()
        await at_work.until(lambda: at_work.names() == ["b"], seconds=20)


async def test_given_a_certificate_that_changes_when_refused_then_a_fresh_kubeconfig_is_used() -> None:
    server = BadServer([thing("a", 1)], certificate="loopback-a.pem")
    async with watching(server) as at_work:
        await at_work.until(lambda: at_work.reflector.believable)
        await server.stop()
        server.certificate = "loopback-b.pem"
        server.objects, server.version = [thing("b", 200)], 200
        server.watch = saying(event("ERROR", failure(410, "Expired")))
        await server.start()
        await at_work.until(lambda: at_work.names() == ["b"], seconds=30)


def refusing(status: int) -> Answers:
    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.json_response(failure(status, "No"), status=status)

    return answer
