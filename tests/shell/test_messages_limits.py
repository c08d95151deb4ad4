"""Every message goes, whatever stands in the run: Slack's limits, foreign text, odd facts (B064, pitfall 27)."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.messages import Words, plain, terminal
from handlers.ports import Clusters, Message
from state.reasons import Code, Fact, Reason, reason
from state.run import Decision, Goal, Note, Pause, Run, RunPhase, StepKind, StepPhase, TemporaryPool
from tests.sandbox.blockcheck.check import problems
from tests.shell.message_runs import FIRST, POLICY, after, finished, question, run, step, steps, worker_card

EVIL = "<!channel> <@U0APPROVER1> `*bold*` & <https://evil.example|click>\n\x00\u202e" + "x" * 5000


def as_sent(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": [dict(block) for block in message.blocks]}


def every_message(words: Words, made: Run) -> Iterator[Message]:
    yield words.progress(made)
    yield words.status(made)
    yield words.report(made)
    yield words.plan(made)
    yield words.runs((made,) * 60)
    yield words.clusters(Clusters(dict.fromkeys((f"cluster-{i}" for i in range(90)), POLICY)), (made,))
    for approval in made.approvals:
        yield words.card(made, approval)
    for note in made.notes:
        yield words.note(made, note)


def evil_facts() -> dict[str, Fact]:
    names = "worker node pods pod message what detail status state cluster by user step word known run channel zone at"
    return dict.fromkeys(names.split(), EVIL)


def evil_run() -> Run:
    facts = evil_facts()
    waiting = Reason(Code.WAIT_WORKER, facts, Reason(Code.ORDER_REFUSED, facts))
    everything = tuple(Reason(code, facts) for code in Code)
    return run(
        id=EVIL[:40],
        cluster="a<b>`&c",
        requested_by=EVIL,
        steps=tuple(
            step(StepKind.REPLACE_WORKER, EVIL[:200] + str(i), StepPhase.VERIFYING, waiting) for i in range(300)
        ),
        approvals=(question("", *everything), question(f"replace-worker/{EVIL[:200]}", *everything)),
        notes=tuple(Note(f"n{i}", after(i), why) for i, why in enumerate(everything)),
        blockers=everything,
        warnings=everything,
        trouble=waiting,
        trouble_since=after(1),
        pause=Pause(EVIL, after(1), waiting),
        ending=waiting,
        temporary_pool=TemporaryPool(EVIL),
    )


def known_runs() -> dict[str, Run]:
    many = tuple(step(StepKind.MOVE_WORKLOADS, f"{FIRST}-{i}", StepPhase.DONE) for i in range(200))
    return {
        "planning": run(RunPhase.PLANNING, steps=()),
        "blocked": run(
            RunPhase.PLANNED,
            blockers=(reason(Code.NO_GPU_WORKERS),),
            approvals=(question("", reason(Code.CARD_PLAN, steps=("a",))),),
        ),
        "asking": run(approvals=(question(f"move-workloads/{FIRST}", *worker_card()),)),
        "paused": run(pause=Pause("U0OPERATOR1", after(3), reason(Code.PAUSED, by="U0OPERATOR1"))),
        "prepared": run(RunPhase.PREPARED, goal=Goal.PREPARE),
        "aborted": run(
            RunPhase.ABORTED, steps=steps(5), ended_at=after(9), notes=(Note("a", after(9), reason(Code.RUN_ABORTED)),)
        ),
        "many": run(steps=(*many, *steps())),
        "done": finished(),
        "evil": evil_run(),
        "observe": run(policy=replace(POLICY, observe=True, approvers=())),
    }


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", known_runs())
def test_given_any_run_when_put_into_words_then_slack_takes_every_message(name: str, language: str) -> None:
    for message in every_message(Words(language), known_runs()[name]):
        assert problems(as_sent(message)) == ()
        assert problems(as_sent(plain(message))) == ()
        assert terminal(message).strip()


@pytest.mark.parametrize("language", ["en", "de"])
def test_given_foreign_text_when_put_into_words_then_nobody_is_called_and_no_code_span_is_left_open(
    language: str,
) -> None:
    for message in every_message(Words(language), evil_run()):
        text = str(as_sent(message))

        assert "<!channel>" not in text.replace("'text': 'a<b>`&c", "")
        assert "<https:" not in text
        for block in message.blocks:
            for part in block.get("elements", [block]):
                inner = part.get("text")
                shown = inner["text"] if isinstance(inner, dict) else str(inner)
                assert shown.count("`") % 2 == 0 or part.get("type") != "section", shown


def test_given_sixty_pods_with_long_names_when_waiting_then_the_list_is_cut_and_counted() -> None:
    pods = tuple(f"default/{'p' * 55}{i:05}" for i in range(60))
    made = run(
        steps=(
            step(StepKind.MOVE_WORKLOADS, FIRST, StepPhase.VERIFYING, reason(Code.WAIT_PODS_GONE, node="n", pods=pods)),
        )
    )
    message = Words().progress(made)

    assert "… and 52 more" in terminal(message)
    assert problems(as_sent(message)) == ()


_TEXT = st.text(max_size=400)
_FACT = st.one_of(_TEXT, st.integers(), st.tuples(_TEXT, _TEXT), st.just(()))
_REASON = st.builds(
    Reason, st.sampled_from(list(Code)), st.dictionaries(st.sampled_from(sorted(evil_facts())), _FACT, max_size=6)
)


@given(why=st.lists(_REASON, min_size=1, max_size=30), cluster=_TEXT, key=_TEXT)
@settings(max_examples=12, deadline=None)
def test_given_any_facts_when_spoken_then_a_message_that_slack_takes(why: list[Reason], cluster: str, key: str) -> None:
    made = run(
        cluster=cluster,
        approvals=(question(key, *why), question("", *why, decision=Decision.APPROVED, decided_by=key)),
        notes=tuple(Note(str(i), after(i), told) for i, told in enumerate(why)),
        blockers=tuple(why[:1]),
    )
    for words in (Words("en"), Words("de")):
        answers = [words.answer(why[0]), words.help(why[0])]
        for message in (*every_message(words, made), *answers):
            assert problems(as_sent(message)) == ()


def test_given_the_same_run_when_put_into_words_twice_then_the_same_message() -> None:
    assert Words().progress(finished()) == Words().progress(finished())
