import re
from pathlib import Path
from typing import get_args

import pytest

import state.reasons
from bot.messages.catalogue import de, en
from bot.messages.speech import speech
from bot.messages.template import slots
from state.orders import CordonNode, EvictPod, Order, ReplaceWorker, UpdateMaster, natural_key
from state.readiness import Stage
from state.reasons import Code, Fact, Reason, reason
from state.run import Decision, Goal, RunPhase, StepKind

CATALOGUES = {"en": en, "de": de}


def documented() -> dict[str, set[str]]:
    """Facts in the brackets behind each code, as state/reasons.py writes them."""
    source = Path(state.reasons.__file__).read_text(encoding="utf-8")
    rows = re.findall(r'^    ([A-Z_]+) = "[a-z-]+"(.*)$', source, re.MULTILINE)
    return {name: set(re.findall(r"\w+", " ".join(re.findall(r"\[([^\]]*)\]", rest)))) for name, rest in rows}


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_code_has_a_sentence_and_no_sentence_lacks_a_code(language: str) -> None:
    assert set(CATALOGUES[language].SENTENCES) == set(Code)


@pytest.mark.parametrize("language", CATALOGUES)
def test_templates_use_only_documented_facts(language: str) -> None:
    known = documented()
    strange = {
        code.name: name
        for code, template in CATALOGUES[language].SENTENCES.items()
        for name, _ in slots(template)
        if name not in known[code.name] | {"here"} | ({"cluster"} if code is Code.NO_RUN else set())
    }

    assert strange == {}


@pytest.mark.parametrize("language", CATALOGUES)
def test_brackets_and_braces_are_balanced(language: str) -> None:
    for code, template in CATALOGUES[language].SENTENCES.items():
        rest = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\{\w+(:\w+)?\}", "", template))

        assert not set("{}[]") & set(rest), code
        assert template.count("`") % 2 == 0, code


def test_both_languages_have_the_same_words_with_the_same_values() -> None:
    assert set(en.PHRASES) == set(de.PHRASES)
    for key, text in en.PHRASES.items():
        assert set(re.findall(r"\{(\w+)\}", text)) == set(re.findall(r"\{(\w+)\}", de.PHRASES[key])), key


@pytest.mark.parametrize("language", CATALOGUES)
def test_closed_sets_have_words(language: str) -> None:
    phrases = CATALOGUES[language].PHRASES
    wanted = [f"phase:{phase.value}" for phase in RunPhase]
    wanted += [f"decision:{decision.value}" for decision in Decision]
    wanted += [f"goal:{goal.value}" for goal in Goal]
    wanted += [f"step:{kind.value}" for kind in StepKind] + [f"touches:{kind.value}" for kind in StepKind]
    wanted += [f"stage:{stage.value}" for stage in Stage]
    wanted += [f"order:{order.__name__}" for order in get_args(Order)]

    assert [key for key in wanted if key not in phrases] == []


@pytest.mark.parametrize("language", CATALOGUES)
@pytest.mark.parametrize("code", Code)
def test_given_no_facts_at_all_when_spoken_then_a_sentence_without_placeholders(language: str, code: Code) -> None:
    text = speech(language).sentence(reason(code))

    assert text.strip()
    assert not set("{}[]") & set(text)


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (
            {"node": "n1", "stage": "driver-starting", "pod": "pod-1"},
            "Node `n1`: the driver is being installed, pod `pod-1`.",
        ),
        ({"node": "n1", "stage": "a-new-stage"}, "Node `n1`: `a-new-stage`."),
        ({"stage": "toolkit"}, "Node unknown: the container toolkit is starting."),
    ],
    ids=["all", "unheard-of stage", "no node"],
)
def test_given_facts_when_spoken_then_known_ones_are_worded_and_others_shown(
    facts: dict[str, Fact], wanted: str
) -> None:
    assert speech("en").sentence(Reason(Code.WAIT_GPUS, facts)).startswith(wanted)


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        (natural_key(ReplaceWorker("c1", "w1", "p1")), "replace worker `w1`"),
        (natural_key(UpdateMaster("c1", "1.36.0")), "update the control plane to `1.36.0`"),
        (natural_key(CordonNode("10.0.0.1", "uid-1", "w1")), "cordon node `10.0.0.1`"),
        (natural_key(EvictPod("default", "burn-1", "uid-1", "10.0.0.1")), "evict pod `default/burn-1`"),
        ("ReplaceWorker", "replace worker"),
        ("SomethingNew(c1 x)", "`SomethingNew(c1 x)`"),
    ],
    ids=lambda text: text.partition("(")[0],
)
def test_given_a_call_when_spoken_of_then_people_read_what_it_was_to_do(order: str, wanted: str) -> None:
    text = speech("en").sentence(reason(Code.ADOPTED, order=order))

    assert text == f"The answer was lost, but it had taken effect: {wanted}. It was not repeated."


def test_given_causes_when_told_then_each_has_a_line_and_news_inside_news_is_no_cause() -> None:
    failed = reason(
        Code.STEP_FAILED, reason(Code.DEADLINE, reason(Code.WAIT_CORDON, node="n"), step="undo", minutes=5), step="undo"
    )
    lines = speech("en").told(failed, "gpu-multi")

    assert [line.startswith("Cause: ") for line in lines] == [False, True, True]
    assert "`/gpu-migrate retry gpu-multi`" in lines[0]
    done = speech("en").told(reason(Code.MIGRATION_DONE, reason(Code.DCGM_MISSING)))
    assert not done[1].startswith("Cause")


def test_given_an_unknown_language_when_asked_then_english() -> None:
    assert speech("fr").phrase("button:approve") == "Approve"
    assert speech("de_DE").phrase("button:approve") == "Freigeben"
