"""The demo's operator and its screen, on messages as the page gives them."""

import io
from typing import Any

from rich.console import Console

from sandbox.demo import judged
from sandbox.demo_screen import Terminal
from sandbox.demo_script import Play

APPROVE = {"action_id": "gm:approve", "block_id": "b", "value": "r-1:1#1", "text": "Approve"}
REJECT = {"action_id": "gm:reject", "block_id": "b", "value": "r-1:1#1", "text": "Reject"}


def message(key: str, text: str = "gpu-multi: on its way", **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "ts": "1796137200.000100",
        "name": "gpu-migrate",
        "bot": True,
        "text": text,
        "blocks": [],
        "buttons": [],
        "ephemeral": False,
    }
    payload = {"event_type": "gm", "event_payload": {"key": key}}
    return {**row, **({"metadata": payload} if key else {}), **changes}


def test_given_a_progress_message_when_taken_then_the_run_is_known() -> None:
    play = Play("gpu-multi")

    play.take(message("r-9/progress", "gpu-single: on its way"))
    play.take(message("r-1/progress"))

    assert (play.run, play.ended) == ("r-1", "")


def test_given_a_card_when_open_then_its_approving_button_is_pressed_once() -> None:
    play = Play("gpu-multi", run="r-1")
    card = message("r-1/card:r-1:1", buttons=[APPROVE, REJECT])

    first = play.question(card)
    play.pressed.add("r-1:1#1")

    assert (first, play.question(card)) == (APPROVE, None)
    assert Play("gpu-single", run="r-2").question(card) is None
    assert play.question(message("", buttons=[APPROVE])) is None


def test_given_the_last_note_when_taken_then_the_end_is_known_and_a_stuck_step_is_none() -> None:
    done, stuck, aborted = (Play("gpu-multi", run="r-1") for _ in range(3))

    done.take(message("r-1/note:done"))
    stuck.take(message("r-1/note:failed:install:1"))
    aborted.take(message("r-1/note:aborted"))
    aborted.take(message("r-1/note:done"))

    assert (done.ended, stuck.ended, aborted.ended) == ("done", "", "aborted")


def _shown(*messages: dict[str, Any]) -> str:
    out = io.StringIO()
    with Terminal(Console(file=out, width=120), {"U1": "approver-1"}) as screen:
        for row in messages:
            screen.said(row)
        screen.did("operator-1", "/gpu-migrate [help]")
    return out.getvalue()


def test_given_a_card_when_shown_then_its_markup_reads_like_text() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Question"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "*Costs* `money` for <@U1> &lt;here&gt; <https://a|b>"}},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "small print"}]},
    ]

    text = _shown(message("r-1/card:1", blocks=blocks, buttons=[APPROVE]))

    assert "Question\n  Costs money for @approver-1 <here> b\n" in text
    assert "Approve" in text
    assert "small print" not in text
    assert "operator-1 /gpu-migrate [help]" in text


def test_given_a_living_message_when_it_does_not_change_then_it_is_shown_once() -> None:
    text = _shown(message("r-1/progress"), message("r-1/progress"))

    assert text.count("gpu-multi: on its way") == 1


def test_given_a_journal_when_judged_then_doubles_and_gaps_are_named() -> None:
    def row(verb: str, target: str, status: int = 204) -> dict[str, Any]:
        return {"system": "iks", "cluster": "c", "verb": verb, "target": target, "status": status}

    good = [row("updateMaster", "m"), row("replaceWorker", "w"), row("replaceWorker", "w", 409)]

    assert judged(good, "c") == []
    assert judged([*good, row("replaceWorker", "w")], "c") == ["c: replaceWorker w was called twice"]
    assert judged([*good, row("createWorkerPool", "p", 201)], "c") == ["c: 1 temporary pools were made, 0 removed"]
    assert len(judged(good, "d")) == 2
