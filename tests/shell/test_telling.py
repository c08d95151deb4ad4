"""A run's messages in Slack: each once, whatever gets lost between us and Slack or the journal."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.messages import Words
from bot.telling import PROGRESS
from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code, reason
from state.run import Decision, Note, RunPhase
from tests.builders import START
from tests.shell.journal import MemoryStore, away
from tests.shell.slack_desk import CARD, GONE, NEWS, ROOT, Desk, Slack, planned


async def test_given_a_new_run_when_told_then_the_root_comes_first_then_cards_then_news() -> None:
    desk = Desk()
    await desk.teller.tell(planned())

    assert desk.slack.posts == [ROOT, CARD, NEWS]
    assert (desk.slack.threads[CARD], desk.slack.threads[NEWS]) == ("", "1.000")


async def test_given_nothing_new_when_told_again_then_slack_hears_nothing() -> None:
    desk = Desk()
    for _ in range(3):
        await desk.teller.tell(planned())

    assert (len(desk.slack.posts), desk.slack.rewrites, desk.slack.searched) == (3, [], [])


async def test_given_an_answered_card_when_told_then_it_is_rewritten_before_the_progress() -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    decided = replace(told.approvals[0], decision=Decision.APPROVED, decided_by="U1", decided_at=START)
    await desk.teller.tell(replace(told, approvals=(decided,), phase=RunPhase.ACTIVE))

    assert desk.slack.rewrites == [CARD, ROOT]
    assert len(desk.slack.posts) == 3
    assert not any(block["type"] == "actions" for block in desk.slack.shown[CARD].blocks)


@pytest.mark.parametrize("key", [ROOT, CARD, NEWS])
async def test_given_a_post_whose_answer_was_lost_when_told_again_then_it_is_found_and_not_posted_twice(
    key: str,
) -> None:
    desk = Desk(Slack(loses=[key]))
    with pytest.raises(OutcomeUnknown):
        await desk.teller.tell(planned())
    await desk.teller.tell(planned())
    await desk.teller.tell(planned())

    assert Counter(desk.slack.posts) == {ROOT: 1, CARD: 1, NEWS: 1}
    assert [found for found, _, _ in desk.slack.searched] == [key]
    thread, since = desk.slack.searched[0][1:]
    assert thread == ("1.000" if key == NEWS else "")
    assert since == START


async def test_given_a_lost_answer_and_a_changed_run_when_found_then_the_message_says_what_is_so_now() -> None:
    desk, told = Desk(Slack(loses=[ROOT])), planned()
    with pytest.raises(OutcomeUnknown):
        await desk.teller.tell(told)
    before = desk.slack.shown[ROOT]
    await desk.teller.tell(replace(told, phase=RunPhase.ACTIVE))

    assert desk.slack.shown[ROOT] != before
    assert desk.slack.posts.count(ROOT) == 1


async def test_given_a_crash_between_intent_and_post_when_told_then_it_is_looked_for_and_posted_once() -> None:
    """Slack never got it: the search finds nothing, and one post follows."""
    desk = Desk(Slack(away=[CARD]))
    with pytest.raises(TransientError):
        await desk.teller.tell(planned())
    await desk.teller.tell(planned())

    assert [found for found, _, _ in desk.slack.searched] == [CARD]
    assert Counter(desk.slack.posts) == {ROOT: 1, CARD: 1, NEWS: 1}


class Forgetful(MemoryStore):
    """Loses the record of one message after it was posted, as a crash before the write does."""

    async def put_message(self, run_id: str, key: str, record: object) -> None:
        if getattr(record, "ts", "") and self.trouble is None and key == PROGRESS and not self.accepted:
            self.accepted.append(key)
            raise away()
        await super().put_message(run_id, key, record)  # type: ignore[arg-type]


async def test_given_the_journal_away_after_a_post_when_told_again_then_the_post_is_adopted() -> None:
    desk = Desk(store=Forgetful())
    with pytest.raises(TransientError):
        await desk.teller.tell(planned())
    await desk.teller.tell(planned())

    assert Counter(desk.slack.posts) == {ROOT: 1, CARD: 1, NEWS: 1}


@pytest.mark.parametrize("error", ["message_not_found", "cant_update_message", "edit_window_closed"])
async def test_given_a_message_that_is_gone_when_it_has_to_change_then_a_new_one_stands_for_it(error: str) -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    desk.slack.refuses[ROOT] = PermanentError(reason(Code.SLACK_REFUSED, error=error))
    moved = replace(told, phase=RunPhase.ACTIVE)
    await desk.teller.tell(moved)
    await desk.teller.tell(moved)

    assert desk.slack.posts.count(ROOT) == 2


async def test_given_a_card_somebody_deleted_when_it_is_decided_then_the_new_one_has_no_buttons() -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    desk.slack.refuses[CARD] = GONE
    decided = replace(told.approvals[0], decision=Decision.REJECTED, decided_by="U1", decided_at=START)
    await desk.teller.tell(replace(told, approvals=(decided,)))

    assert desk.slack.posts.count(CARD) == 2
    assert not any(block["type"] == "actions" for block in desk.slack.shown[CARD].blocks)


async def test_given_an_open_card_somebody_deleted_when_told_anew_then_it_can_be_answered_again() -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    desk.slack.refuses[CARD] = GONE
    await desk.teller.tell(told)
    before = desk.slack.posts.count(CARD)
    await desk.teller.tell(told, anew=True)

    assert (before, desk.slack.posts.count(CARD)) == (1, 2)
    assert any(block["type"] == "actions" for block in desk.slack.shown[CARD].blocks)
    assert (desk.slack.posts.count(ROOT), desk.slack.posts.count(NEWS)) == (1, 1)


async def test_given_another_refusal_when_rewriting_then_it_is_not_posted_anew() -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    desk.slack.refuses[ROOT] = PermanentError(reason(Code.SLACK_REFUSED, error="is_archived"))
    with pytest.raises(PermanentError):
        await desk.teller.tell(replace(told, phase=RunPhase.ACTIVE))

    assert desk.slack.posts.count(ROOT) == 1


async def test_given_one_message_that_slack_refuses_when_told_then_the_others_come_all_the_same() -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    desk.slack.refuses[CARD] = PermanentError(reason(Code.SLACK_REFUSED, error="invalid_blocks"))
    decided = replace(told.approvals[0], decision=Decision.APPROVED, decided_by="U1", decided_at=START)
    fresh = Note("n", START, reason(Code.UNCORDONED, node="10.240.0.64"))
    with pytest.raises(PermanentError):
        await desk.teller.tell(replace(told, approvals=(decided,), notes=(*told.notes, fresh), phase=RunPhase.ACTIVE))

    assert "r-1/note:n" in desk.slack.posts
    assert desk.slack.rewrites == [ROOT]


async def test_given_a_message_that_is_gone_when_the_new_ones_answer_is_lost_then_it_is_adopted() -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    desk.slack.refuses[ROOT], desk.slack.loses = GONE, [ROOT]
    moved = replace(told, phase=RunPhase.ACTIVE)
    with pytest.raises(OutcomeUnknown):
        await desk.teller.tell(moved)
    await desk.teller.tell(moved)

    assert desk.slack.posts.count(ROOT) == 2
    assert desk.slack.searched[-1][0] == ROOT


async def test_given_news_once_told_when_its_words_would_differ_now_then_it_stays_as_it_was() -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    later = replace(told.notes[0], at=START + timedelta(hours=1))
    await desk.teller.tell(replace(told, notes=(later,)))

    assert NEWS not in desk.slack.rewrites
    assert desk.slack.posts.count(NEWS) == 1


async def test_given_many_news_when_told_then_each_comes_once_and_in_order() -> None:
    desk, told = Desk(), planned()
    notes = tuple(Note(f"n{n}", START, reason(Code.UNCORDONED, node=f"10.240.0.{n}")) for n in range(30))
    for count in (10, 10, 30):
        await desk.teller.tell(replace(told, notes=notes[:count]))

    assert [key for key in desk.slack.posts if "/note:" in key] == [f"r-1/note:n{n}" for n in range(30)]


async def test_given_loud_news_when_told_then_it_stands_in_the_channel_and_quiet_ones_are_left_to_the_card() -> None:
    desk = Desk()
    loud = Note("done", START, reason(Code.MIGRATION_DONE, cluster="gpu-multi"))
    quiet = Note("began", START, reason(Code.RUN_BEGAN, by="U1"))
    await desk.teller.tell(replace(planned(), notes=(loud, quiet)))

    assert desk.slack.threads["r-1/note:done"] == ""
    assert "r-1/note:began" not in desk.slack.posts


@pytest.mark.parametrize(
    ("decision", "age", "kept"),
    [
        (None, timedelta(0), "gone"),
        (Decision.APPROVED, timedelta(minutes=1), "decided"),
        (Decision.APPROVED, timedelta(hours=1), "untouched"),
    ],
    ids=["open", "answered just now", "answered long ago"],
)
async def test_given_a_lost_record_when_retired_then_no_button_is_left_of_what_may_have_one(
    decision: Decision | None, age: timedelta, kept: str
) -> None:
    desk, told = Desk(), planned()
    await desk.teller.tell(told)
    shown = desk.slack.shown[CARD]
    at = None if decision is None else START - age
    asked = replace(told.approvals[0], decision=decision, decided_by="U1" if decision else "", decided_at=at)
    last = Words().answer(reason(Code.STORE_LOST, run=told.id, cluster=told.cluster))
    await desk.teller.retire(replace(told, approvals=(asked,)), last)

    assert desk.slack.shown[ROOT] == last
    match kept:
        case "gone":
            assert desk.slack.shown[CARD] == last
        case "decided":
            assert not any(block["type"] == "actions" for block in desk.slack.shown[CARD].blocks)
        case _:
            assert desk.slack.shown[CARD] == shown
