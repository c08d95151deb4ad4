"""What people get wrong: clicks by others, twice, on old cards; words, clusters and runs that do not exist.

One world, one plan that is asked, renewed, answered and ended; nothing may be changed in the cluster by any of it.
"""

from collections.abc import Iterator

import pytest

from sandbox.http_client import call
from sandbox.people import Message
from tests.flows.crew import APPROVE, APPROVER, ONLOOKER, OPERATOR, OTHER_APPROVER, REJECT, Crew
from tests.flows.oracle import changes
from tests.flows.said import refused_by_slack
from tests.flows.stage import staged, wait_for

SPEED = 100.0
SOON = 30.0


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    with staged(tmp_path_factory.mktemp("conversation"), "guide-example-2", SPEED) as stage:
        stage.start_bot()
        yield Crew(stage, "gpu-multi")
        assert refused_by_slack(stage.journal()) == {}


def plan_card(crew: Crew) -> Message:
    """The open card of the plan; the migration is started where there is none."""
    if not crew.run() or crew.ended():
        crew.command("start")
    return wait_for(lambda: list(crew.open_cards()), SOON, "the plan is asked", crew.state)[0]


def press(crew: Crew, name: str, card: Message, action: str = APPROVE) -> str:
    """Press a button of a card as it was seen; what this person alone reads then."""
    button = next(b for b in card["buttons"] if b["action_id"] == action)
    before = len(crew.stage.whispers(name))
    crew.stage.person(name).press(card["ts"], button, stale=True)
    heard = wait_for(lambda: crew.stage.whispers(name)[before:], SOON, f"{name} is answered", crew.state)
    return heard[-1]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/gpu-migrate", "start CLUSTER"),
        ("/gpu-migrate help", "start CLUSTER"),
        ("/gpu-migrate stat gpu-multi", "id you mean `start`"),
        ("/gpu-migrate explode", "/gpu-migrate help"),
        ("/gpu-migrate start", "Which one? Type `/gpu-migrate start CLUSTER`. Known: `gpu-multi`"),
        ("/gpu-migrate start gpu-mulit", "No cluster `gpu-mulit` is configured. Known: `gpu-multi`"),
        ("/gpu-migrate report r-00000000", "`/gpu-migrate runs` lists them"),
        ("/gpu-migrate pause nowhere", "No cluster `nowhere` is configured"),
        ("/gpu-migrate clusters", "gpu-multi"),
    ],
    ids=lambda words: words.replace("/gpu-migrate", "").strip() or "nothing",
)
def test_given_words_when_typed_then_a_sentence_says_what_to_type(crew: Crew, typed: str, said: str) -> None:
    assert said in crew.stage.say(OPERATOR, typed)


def test_given_somebody_else_when_starting_then_refused_and_told_what_is_free(crew: Crew) -> None:
    answer = crew.command("start", ONLOOKER)

    assert "Only operators" in answer
    assert "Nothing was done" in answer


def test_given_a_plan_when_asked_for_then_only_this_person_sees_it(crew: Crew) -> None:
    crew.command("plan", ONLOOKER)
    heard = wait_for(
        lambda: [text for text in crew.stage.whispers(ONLOOKER) if "lan" in text and "Looking" not in text],
        SOON,
        "the plan is shown",
        lambda: crew.stage.whispers(ONLOOKER),
    )

    assert heard
    assert changes(crew.stage.journal()) == []


def test_given_a_card_when_an_onlooker_presses_then_refused(crew: Crew) -> None:
    card = plan_card(crew)
    answer = press(crew, ONLOOKER, card)

    assert "Only approvers may answer" in answer
    assert next(crew.open_cards())["ts"] == card["ts"]


def test_given_a_run_when_started_again_then_the_run_is_named(crew: Crew) -> None:
    plan_card(crew)

    assert "has a run already" in crew.command("start")
    assert crew.run() in crew.command("start", APPROVER)


def autobalance(crew: Crew, *, on: bool) -> None:
    """Somebody switches the pool's automatic rebalancing, which has to be on."""
    act = {"cluster": "gpu-multi", "pool": "default", "on": on}
    call("POST", f"{crew.stage.endpoints.control}/acts/autobalance", act)


def test_given_a_card_that_was_renewed_when_the_old_one_is_pressed_then_out_of_date(crew: Crew) -> None:
    old = plan_card(crew)
    autobalance(crew, on=False)
    wait_for(lambda: not list(crew.open_cards()), SOON, "the plan is blocked", crew.state)
    blocked = press(crew, APPROVER, old)
    autobalance(crew, on=True)
    new = plan_card(crew)
    answer = press(crew, APPROVER, old)

    assert (new["ts"], new["edited"]) == (old["ts"], True)
    assert new["buttons"] != old["buttons"]
    assert "out of date" in blocked
    assert "out of date" in answer
    assert changes(crew.stage.journal()) == []


def test_given_a_card_when_answered_then_the_second_click_reads_who_was_first(crew: Crew) -> None:
    card = plan_card(crew)
    crew.answer(card, APPROVER, REJECT)
    wait_for(crew.ended, SOON, "the run has ended", crew.state)
    answer = press(crew, OTHER_APPROVER, card)
    closed = next(message for message in crew.messages() if message["ts"] == card["ts"])

    assert "Already rejected by <@U0APPROVER1>" in answer
    assert closed["buttons"] == []
    assert changes(crew.stage.journal()) == []


def test_given_an_ended_run_when_steered_then_nothing_goes_on(crew: Crew) -> None:
    if not crew.ended():
        crew.answer(plan_card(crew), APPROVER, REJECT)
        wait_for(crew.ended, SOON, "the run has ended", crew.state)

    assert f"Run `{crew.run()}` of `gpu-multi` has ended" in crew.command("pause")
    assert "aborted" in crew.stage.say(OPERATOR, "/gpu-migrate runs").lower()
