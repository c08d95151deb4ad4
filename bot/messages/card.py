"""A question to a human: what happens to which worker, what may be lost, and the buttons to answer it.

Buttons carry the approval's id and revision, nothing else. A card that was answered, withdrawn or outlived its run has
no buttons and says by whom and when.
"""

from bot.messages.layout import Block, Button, actions, assemble, footer, header, sections
from bot.messages.marks import STEP
from bot.messages.markup import cut, harmless, moment, user
from bot.messages.parts import answerers, decided, here, plain_name, small_print, step_title
from bot.messages.speech import Speech
from handlers.ports import Message
from state.approval import blocking
from state.reasons import Code, Reason, reason
from state.run import Approval, Decision, Goal, Run, StepKind, StepPhase

_DANGER = frozenset(
    {StepKind.UPDATE_MASTER, StepKind.MOVE_WORKLOADS, StepKind.REPLACE_WORKER, StepKind.REMOVE_TEMPORARY_POOL}
)
_DECIDED = {Decision.APPROVED: "✅", Decision.REJECTED: "❌", Decision.WITHDRAWN: "⚪"}


def card(speech: Speech, run: Run, approval: Approval) -> Message:
    """The card of a question, open or answered."""
    name = _name(speech, run, approval)
    blocks: list[Block] = [header(_title(speech, name, approval))]
    blocks += sections(_lines(speech, run, approval))
    blocks += sections(_answer(speech, run, approval))
    buttons = _buttons(speech, run, approval)
    if buttons:
        blocks.append(actions(f"gm:{approval.id}#{approval.revision}", buttons))
        blocks.append(footer(speech.phrase("card:who", who=speech.people(answerers(run, approval)))))
    blocks.append(footer(*small_print(speech, run)))
    cluster = "" if plain_name(run) in name else f" · {plain_name(run)}"
    return assemble(harmless(f"{_title(speech, name, approval)}{cluster}"), blocks)


def _name(speech: Speech, run: Run, approval: Approval) -> str:
    """Plain text: what the question is about."""
    if not approval.step_key:
        return speech.phrase("card:plan", cluster=plain_name(run))
    return speech.question(approval.step_key).replace("`", "")


def _title(speech: Speech, name: str, approval: Approval) -> str:
    if approval.decision is None:
        return f"{STEP[StepPhase.AWAITING_APPROVAL]} {speech.phrase('card:question', step=name)}"
    decision = speech.word("decision", approval.decision.value).capitalize()
    return f"{_DECIDED[approval.decision]} {speech.phrase('card:decided', step=name, decision=decision)}"


def _lines(speech: Speech, run: Run, approval: Approval) -> tuple[str, ...]:
    """What happens, the steps of a plan, what keeps it from being approved, what is good to know."""
    facts, blockers, consent, warnings = _sorted(run, approval)
    lines = [*_told(speech, run, "•", facts), *_steps(speech, run, approval)]
    if blockers:
        lines += [speech.phrase("card:blocked"), *_told(speech, run, "⛔", blockers)]
    if consent:
        lines += [speech.phrase("card:consent"), *_told(speech, run, "⛔", consent)]
    if warnings:
        lines += [speech.phrase("card:warnings"), *_told(speech, run, "⚠️", warnings)]
    if approval.decision is None and not run.phase.ended:
        lines.append(f"• {speech.sentence(reason(Code.CARD_NOTHING_HAPPENS))}")
    return tuple(lines)


def _sorted(run: Run, approval: Approval) -> tuple[tuple[Reason, ...], ...]:
    """Lines of the card: facts, blockers, what needs consent, warnings; none twice."""
    plan = approval.step_key == ""
    current = (*run.blockers, *run.warnings) if plan and approval.decision is None else ()
    lines: list[Reason] = []
    for line in (*approval.card, *current):
        if line.code is not Code.CARD_NOTHING_HAPPENS and line not in lines:
            lines.append(line)
    facts = _without_doubles(tuple(line for line in lines if line.code.startswith("card-")))
    consent = tuple(line for line in lines if line in blocking(approval))
    blockers = tuple(line for line in lines if plan and line in run.blockers and line not in consent)
    warnings = tuple(line for line in lines if line not in (*consent, *blockers) and not line.code.startswith("card-"))
    return facts, blockers, consent, warnings


def _without_doubles(facts: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Pods that have nowhere to go are named once, as such."""
    stuck = {pod for line in facts if line.code is Code.CARD_PODS_PENDING for pod in _pods(line)}
    found = []
    for line in facts:
        if line.code is Code.CARD_PODS_MOVE and stuck:
            left = tuple(pod for pod in _pods(line) if pod not in stuck)
            found += [reason(Code.CARD_PODS_MOVE, pods=left)] if left else []
        else:
            found.append(line)
    return tuple(found)


def _pods(line: Reason) -> tuple[str, ...]:
    pods = line.facts.get("pods", ())
    return pods if isinstance(pods, tuple) else (str(pods),)


def _steps(speech: Speech, run: Run, approval: Approval) -> list[str]:
    """The steps of a plan, numbered."""
    if approval.step_key:
        return []
    lines = [f"{number}. {step_title(speech, step)}" for number, step in enumerate(run.steps[:40], 1)]
    hidden = len(run.steps) - len(lines)
    return [*lines, speech.phrase("more", count=hidden)] if hidden > 0 else lines


def _told(speech: Speech, run: Run, mark: str, reasons: tuple[Reason, ...]) -> tuple[str, ...]:
    return tuple(f"{mark} {' '.join(speech.told(line, here(run)))}" for line in reasons)


def _answer(speech: Speech, run: Run, approval: Approval) -> tuple[str, ...]:
    """Who answered and when; that nobody has to any more; nothing while it is open."""
    answer = decided(approval)
    if answer is None:
        return (speech.phrase("card:ended"),) if run.phase.ended else ()
    decision, at = answer
    mark = _DECIDED[decision]
    if decision is Decision.WITHDRAWN:
        return (f"{mark} {speech.phrase('card:withdrawn', time=moment(at))}",)
    word = speech.word("decision", decision.value).capitalize()
    who = user(approval.decided_by) or speech.phrase("unknown")
    return (f"{mark} {speech.phrase('card:answered', decision=word, who=who, time=moment(at))}",)


def _buttons(speech: Speech, run: Run, approval: Approval) -> tuple[Button, ...]:
    if approval.decision is not None or run.phase.ended:
        return ()
    value = f"{approval.id}#{approval.revision}"
    if not approval.step_key and run.blockers:
        return (_recheck(speech, value), _close(speech, value))
    if blocking(approval):
        return (_recheck(speech, value), _reject(speech, value))
    return (_approve(speech, run, approval, value), _reject(speech, value))


def _approve(speech: Speech, run: Run, approval: Approval, value: str) -> Button:
    kind, _, target = approval.step_key.partition("/")
    known = f"confirm:{kind}" if f"confirm:{kind}" in speech.phrases else "confirm:other"
    key = "approve" if kind else _beginning(run)
    question = speech.phrase(known, target=cut(target, 100))
    style = "danger" if kind in _DANGER else "primary"
    return Button(speech.phrase(f"button:{key}"), "gm:approve", value, style, _confirm(speech, question))


def _beginning(run: Run) -> str:
    """The button under a plan; one that picks up what somebody left says so (B085)."""
    if any(why.code is Code.HALF_DONE for why in run.warnings):
        return "continue"
    return "prepare" if run.goal is Goal.PREPARE else "begin"


def _reject(speech: Speech, value: str) -> Button:
    question = _confirm(speech, speech.phrase("confirm:reject"))
    return Button(speech.phrase("button:reject"), "gm:reject", value, "", question)


def _recheck(speech: Speech, value: str) -> Button:
    return Button(speech.phrase("button:recheck"), "gm:recheck", value, "primary")


def _close(speech: Speech, value: str) -> Button:
    return Button(
        speech.phrase("button:close"), "gm:close", value, "", _confirm(speech, speech.phrase("confirm:close"))
    )


def _confirm(speech: Speech, question: str) -> tuple[str, str, str, str]:
    return (speech.phrase("confirm:title"), question, speech.phrase("confirm:yes"), speech.phrase("confirm:no"))
