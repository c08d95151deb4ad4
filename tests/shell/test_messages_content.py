from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.messages import Words, plain, terminal
from bot.messages.markup import cut, harmless, user
from bot.messages.spans import duration
from handlers.ports import Clusters, Message
from state.reasons import Code, reason
from state.run import Approval, Decision, Goal, Note, Pause, Run, RunPhase, StepKind, StepPhase
from tests.shell.message_runs import (
    FIRST,
    POLICY,
    SUCCESSOR,
    after,
    finished,
    question,
    run,
    step,
    steps,
    worker_card,
)

WORDS = Words()


def buttons(message: Message) -> list[dict[str, Any]]:
    return [e for block in message.blocks if block["type"] == "actions" for e in block["elements"]]


def ids(message: Message) -> list[str]:
    return [button["action_id"] for button in buttons(message)]


def card(made: Run, approval: Approval) -> Message:
    return WORDS.card(replace(made, approvals=(approval,)), approval)


def test_given_an_open_question_when_carded_then_approve_and_reject_carry_id_and_revision_and_ask_again() -> None:
    message = card(run(), question(f"move-workloads/{FIRST}", *worker_card()))

    assert ids(message) == ["gm:approve", "gm:reject"]
    assert {button["value"] for button in buttons(message)} == {"r-20261201-1200:1#2"}
    assert all("confirm" in button for button in buttons(message))
    assert buttons(message)[0]["style"] == "danger"
    assert FIRST in buttons(message)[0]["confirm"]["text"]["text"]
    assert [block["block_id"] for block in message.blocks if block["type"] == "actions"] == ["gm:r-20261201-1200:1#2"]


def test_given_a_worker_card_when_read_then_it_says_who_moves_what_is_lost_and_that_silence_is_harmless() -> None:
    text = terminal(card(run(), question(f"move-workloads/{FIRST}", *worker_card())))

    for part in (FIRST, "default/gpu-burn-46pml", "Cannot be undone", "Nothing happens until somebody answers"):
        assert part in text
    assert text.count("Nothing happens until somebody answers") == 1


@pytest.mark.parametrize("decision", [Decision.APPROVED, Decision.REJECTED])
def test_given_an_answered_question_when_carded_then_no_buttons_but_who_and_when(decision: Decision) -> None:
    answered = question("update-master", decision=decision, decided_by="U0APPROVER1", decided_at=after(4))
    message = card(run(), answered)

    assert buttons(message) == []
    assert f"*{decision.value.capitalize()}* by <@U0APPROVER1>, <!date^" in str(message.blocks)


def test_given_a_withdrawn_or_outlived_question_when_carded_then_no_buttons() -> None:
    withdrawn = question("update-master", decision=Decision.WITHDRAWN, decided_at=after(4))

    assert buttons(card(run(), withdrawn)) == []
    assert "Withdrawn" in terminal(card(run(), withdrawn))
    assert buttons(card(run(RunPhase.ABORTED), question("update-master"))) == []


def test_given_a_plan_when_carded_then_begin_and_given_blockers_then_only_look_again_and_close() -> None:
    plan = question("", reason(Code.CARD_PLAN, steps=("a", "b")))
    blocked = run(RunPhase.PLANNED, blockers=(reason(Code.NO_GPU_WORKERS),))

    assert [b["text"]["text"] for b in buttons(card(run(RunPhase.PLANNED), plan))] == ["Begin migration", "Reject"]
    prepare = card(run(RunPhase.PLANNED, goal=Goal.PREPARE), plan)
    assert buttons(prepare)[0]["text"]["text"] == "Begin preparation"
    assert ids(card(blocked, plan)) == ["gm:recheck", "gm:close"]
    assert "no GPU workers" in terminal(card(blocked, plan))


@pytest.mark.parametrize("code", [Code.BARE_PODS, Code.EMPTY_DIR, Code.JOBS_RUNNING, Code.HOST_LOCAL])
def test_given_pods_that_would_lose_something_when_carded_then_there_is_no_approve_button(code: Code) -> None:
    lines = (*worker_card(), reason(code, pods=("default/db-0",)))
    message = card(run(), question(f"move-workloads/{FIRST}", *lines))

    assert ids(message) == ["gm:recheck", "gm:reject"]
    assert "default/db-0" in terminal(message)


def test_given_a_run_under_way_when_shown_then_wait_time_and_need_are_named() -> None:
    wait = reason(Code.WAIT_PODS_GONE, node="10.240.0.64", pods=("default/gpu-burn-46pml",))
    made = run(steps=(*steps(3)[:3], step(StepKind.MOVE_WORKLOADS, FIRST, StepPhase.VERIFYING, wait)))
    text = terminal(WORDS.progress(made))

    assert "8 min 30 s" in text
    assert "since 12:01 UTC" in text
    assert "is being emptied" in text
    assert "nothing, the bot goes on by itself" in text
    assert "r-20261201-1200" in text


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"policy": replace(POLICY, observe=True)}, "Mode observe"),
        ({"pause": Pause("U0OPERATOR1", after(1), reason(Code.REJECTED, by="U0APPROVER1"))}, "Rejected by U0APPROVER1"),
        ({"trouble": reason(Code.IKS_UNREACHABLE, status=500), "trouble_since": after(2)}, "(status 500)"),
        ({"approvals": (question("update-master"),)}, "answer the card “Update the control plane” (U0APPROVER1"),
        ({"steps": (step(StepKind.UPDATE_MASTER, "", StepPhase.FAILED),)}, "/gpu-migrate retry gpu-multi"),
        ({"phase": RunPhase.PREPARED}, "/gpu-migrate start gpu-multi"),
    ],
    ids=["observe", "paused", "trouble", "question", "failed", "prepared"],
)
def test_given_a_state_when_shown_then_the_progress_says_so(changes: dict[str, Any], wanted: str) -> None:
    assert wanted in terminal(WORDS.progress(run(**changes)))


def test_given_many_steps_when_shown_then_those_around_the_present_stay() -> None:
    many = tuple(step(StepKind.MOVE_WORKLOADS, f"w{i:03}", StepPhase.DONE) for i in range(150))
    later = tuple(step(StepKind.REPLACE_WORKER, f"w{i:03}") for i in range(150))
    text = terminal(WORDS.progress(run(steps=(*many, *later))))

    assert "147 earlier steps done" in text
    assert "w149" in text
    assert "129 more steps to come" in text


def test_given_the_end_when_noted_then_time_per_step_and_next_steps() -> None:
    done = finished()
    text = terminal(WORDS.note(done, done.notes[-1]))

    assert "total 1 h 15 min" in text
    assert "Update the control plane" in text
    assert "DCGM" in text


def test_given_an_abort_when_noted_then_what_stays_is_named() -> None:
    left = reason(Code.TEMPORARY_POOL_LEFT, pool="temp-gpu-r-1", size=1, flavor="gx3.16x80.l4")
    made = run(RunPhase.ABORTED, steps=steps(5), notes=(Note("pool-left:pool-9", after(9), left),))
    text = terminal(WORDS.note(made, Note("aborted", after(9), reason(Code.RUN_ABORTED, by="U0OPERATOR1"))))

    for part in ("control plane at 1.36.0", "temp-gpu-r-1 (1 × gx3.16x80.l4)", "worker-pool rm", FIRST):
        assert part in text


def test_given_a_migration_that_leaves_its_temporary_pool_when_noted_then_the_end_says_so() -> None:
    left = Note("pool-left:pool-9", after(74), reason(Code.TEMPORARY_POOL_LEFT, pool="temp-gpu-r-1"))
    done = replace(finished(), notes=(left, *finished().notes))
    text = terminal(WORDS.note(done, done.notes[-1]))

    assert "temp-gpu-r-1 is still there and costs money" in text


def test_given_an_abort_whose_pool_cannot_go_when_shown_then_what_helps_and_what_leaves_it() -> None:
    blocked = step(StepKind.REMOVE_TEMPORARY_POOL, note=reason(Code.PODS_WOULD_NOT_FIT, pods=("default/a",)))
    text = terminal(WORDS.progress(run(RunPhase.ABORTING, steps=(blocked,))))

    assert "abort gpu-multi once more" in text
    assert "costs money" in text


def test_given_an_abort_under_the_brake_when_shown_then_what_waits_and_for_what() -> None:
    brake = reason(Code.BRAKE, by="U0OPERATOR1", detail="stop-all")
    undo = step(StepKind.UNDO, note=reason(Code.UNDO_WAITS, brake, nodes="10.240.0.64"))
    text = terminal(WORDS.progress(run(RunPhase.ABORTING, steps=(undo,), brake=brake)))

    assert "given back once the brake is lifted: 10.240.0.64" in text
    assert "Needed: /gpu-migrate resume-all" in text


def test_given_a_finished_run_when_reported_then_old_and_new_workers_and_who_approved() -> None:
    text = terminal(WORDS.report(finished()))

    assert f"{FIRST} → {SUCCESSOR}" in text
    assert "The plan: approved by U0APPROVER1" in text
    assert "Deployment default/gpu-burn: 2 of 2 available" in text
    assert "cpu-worker-1" in text


def test_given_a_dry_run_when_shown_then_no_buttons_what_each_touches_and_what_forbids_it() -> None:
    free, blocked = WORDS.plan(run()), WORDS.plan(run(blockers=(reason(Code.MODE_OBSERVE),)))

    assert buttons(free) == []
    assert "Begin with /gpu-migrate start gpu-multi" in terminal(free)
    assert "two labels on each GPU node" in terminal(free)
    assert "mode observe" in terminal(blocked)
    assert "Begin with" not in terminal(blocked)


def test_given_clusters_when_listed_then_mode_and_run_of_each() -> None:
    known = Clusters({"gpu-multi": POLICY, "idle": replace(POLICY, observe=True)})
    text = terminal(WORDS.clusters(known, (run(),)))

    assert "gpu-multi: may be changed, in progress" in text
    assert "idle: mode observe, no run" in text
    assert "No cluster is configured" in terminal(WORDS.clusters(Clusters({}), ()))


def test_given_a_refused_message_when_made_plain_then_key_fact_and_gate_stay() -> None:
    full = card(run(), question("update-master"))
    short = plain(full)

    assert ids(short) == ["gm:approve", "gm:reject"]
    assert len(short.blocks) == 2
    assert "Update the control plane" in short.text
    worker = card(run(), question(f"move-workloads/{FIRST}", *worker_card()))
    assert f"Empty and replace worker {FIRST}" in worker.text


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [(-5, "0 s"), (42, "42 s"), (185, "3 min 05 s"), (4800, "1 h 20 min"), (183_600, "2 d 3 h")],
)
def test_durations(seconds: int, wanted: str) -> None:
    assert duration(timedelta(seconds=seconds)) == wanted


def test_foreign_text_is_harmless() -> None:
    assert harmless("<!here>\n`rm`\u202e &") == "&lt;!here&gt; 'rm' &amp;"
    assert user("U0APPROVER1") == "<@U0APPROVER1>"
    assert user("somebody <@U1>") == "`somebody &lt;@U1&gt;`"
    assert cut("abcdef", 4) == "abc…"
