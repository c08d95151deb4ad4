import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.grammar import Command, Verb, parse
from state.reasons import Code, Reason

KNOWN = ("gpu-multi", "gpu-single", "Prod-EU")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", Command(Verb.HELP)),
        ("   ", Command(Verb.HELP)),
        ("help", Command(Verb.HELP)),
        ("HELP me please", Command(Verb.HELP)),
        ("hilfe", Command(Verb.HELP)),
        ("?", Command(Verb.HELP)),
        ("clusters", Command(Verb.CLUSTERS)),
        ("cluster", Command(Verb.CLUSTERS)),
        ("runs", Command(Verb.RUNS)),
        ("Läufe", Command(Verb.RUNS)),
        ("stop-all", Command(Verb.STOP_ALL)),
        ("stop all", Command(Verb.STOP_ALL)),
        ("alles anhalten", Command(Verb.STOP_ALL)),
        ("resume all", Command(Verb.RESUME_ALL)),
        ("alles weiter", Command(Verb.RESUME_ALL)),
        ("start gpu-multi", Command(Verb.START, "gpu-multi")),
        ("START GPU-Multi", Command(Verb.START, "gpu-multi")),
        ("start prod-eu", Command(Verb.START, "Prod-EU")),
        ("start `gpu-multi`", Command(Verb.START, "gpu-multi")),
        ("start “gpu-multi”", Command(Verb.START, "gpu-multi")),
        ("start „gpu-multi“.", Command(Verb.START, "gpu-multi")),
        ("start *gpu-multi*", Command(Verb.START, "gpu-multi")),
        ("start <http://gpu-multi|gpu-multi>", Command(Verb.START, "gpu-multi")),
        ("start <#C0123|gpu-multi>", Command(Verb.START, "gpu-multi")),
        ("start\u00a0gpu-multi\u200b", Command(Verb.START, "gpu-multi")),
        ("start\x00\ngpu-multi\x07", Command(Verb.START, "gpu-multi")),
        ("status \x00\x01", Command(Verb.STATUS)),
        ("start gpu–multi", Command(Verb.START, "gpu-multi")),
        ("start --cluster gpu-multi", Command(Verb.START, "gpu-multi")),
        ("start —cluster=gpu-multi", Command(Verb.START, "gpu-multi")),
        ("start cluster gpu-multi", Command(Verb.START, "gpu-multi")),
        ("/gpu-migrate start gpu-multi", Command(Verb.START, "gpu-multi")),
        ("starten gpu-multi", Command(Verb.START, "gpu-multi")),
        ("vorbereiten gpu-single", Command(Verb.PREPARE, "gpu-single")),
        ("dry run gpu-single", Command(Verb.PLAN, "gpu-single")),
        ("prüfen gpu-single", Command(Verb.PLAN, "gpu-single")),
        ("status", Command(Verb.STATUS)),
        ("status gpu-multi", Command(Verb.STATUS, "gpu-multi")),
        ("pause gpu-multi", Command(Verb.PAUSE, "gpu-multi")),
        ("weiter gpu-multi", Command(Verb.RESUME, "gpu-multi")),
        ("retry gpu-multi", Command(Verb.RETRY, "gpu-multi")),
        ("abbrechen gpu-multi", Command(Verb.ABORT, "gpu-multi")),
        ("abort r-20261201-1200", Command(Verb.ABORT, "r-20261201-1200")),
        ("report r-20261201-1200", Command(Verb.REPORT, "r-20261201-1200")),
        ("report", Command(Verb.REPORT)),
    ],
)
def test_given_words_when_parsed_then_the_command(text: str, wanted: Command) -> None:
    assert parse(text, KNOWN) == wanted


@pytest.mark.parametrize(
    ("text", "code", "facts"),
    [
        ("sttart gpu-multi", Code.UNKNOWN_COMMAND, {"word": "sttart", "suggestion": "start"}),
        ("abrt gpu-multi", Code.UNKNOWN_COMMAND, {"word": "abrt", "suggestion": "abort"}),
        ("xyzzy", Code.UNKNOWN_COMMAND, {"word": "xyzzy", "suggestion": ""}),
        ("gpu-multi start", Code.UNKNOWN_COMMAND, {"word": "gpu-multi"}),
        ("start", Code.MISSING_CLUSTER, {"command": "start", "known": ("Prod-EU", "gpu-multi", "gpu-single")}),
        ("pause cluster", Code.MISSING_CLUSTER, {"command": "pause"}),
        (
            "start gpu-mulit",
            Code.UNKNOWN_CLUSTER,
            {"cluster": "gpu-mulit", "known": ("gpu-multi", "gpu-single", "Prod-EU")},
        ),
        ("start gpu-multi --dry-run", Code.EXTRA_WORDS, {"words": ("--dry-run",), "command": "start"}),
        ("start gpu-multi gpu-single", Code.EXTRA_WORDS, {"words": ("gpu-single",)}),
        ("stop all clusters", Code.EXTRA_WORDS, {"words": ("clusters",)}),
    ],
)
def test_given_words_that_say_too_little_or_too_much_when_parsed_then_why_not(
    text: str, code: Code, facts: dict[str, object]
) -> None:
    parsed = parse(text, KNOWN)

    assert isinstance(parsed, Reason)
    assert parsed.code is code
    assert {name: parsed.facts[name] for name in facts} == facts


def test_given_a_cluster_called_like_a_filler_when_parsed_then_it_is_the_cluster() -> None:
    assert parse("start cluster", ("cluster",)) == Command(Verb.START, "cluster")


def test_given_two_clusters_that_differ_in_case_only_when_parsed_then_the_spelling_decides() -> None:
    assert parse("start Prod", ("Prod", "prod")) == Command(Verb.START, "Prod")
    assert isinstance(parse("start PROD", ("Prod", "prod")), Reason)


@given(st.text(max_size=200))
def test_given_any_text_when_parsed_then_an_answer_and_never_a_start_of_something_unknown(text: str) -> None:
    parsed = parse(text, KNOWN)

    assert isinstance(parsed, Reason) or parsed.verb is not Verb.START or parsed.target in KNOWN
