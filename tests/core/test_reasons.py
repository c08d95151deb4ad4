"""The vocabulary: every code is raised somewhere, and any name can be a fact's."""

import ast
from collections.abc import Iterator
from pathlib import Path

from state.codec import decode, encode
from state.reasons import Code, Reason, reason

ROOT = Path(__file__).resolve().parents[2]
WORDS = ROOT / "bot" / "messages"


def sources() -> Iterator[ast.Module]:
    """Product code, but for the words and the vocabulary itself."""
    for ring in ("bot", "handlers", "state"):
        for path in (ROOT / ring).rglob("*.py"):
            if WORDS not in path.parents and path.name != "reasons.py":
                yield ast.parse(path.read_text(encoding="utf-8"))


def named(tree: ast.AST) -> Iterator[str]:
    """Codes that stand where a value is made; one that is only compared with, or listed in a set, is raised nowhere."""
    match tree:
        case ast.Compare() | ast.Set() | ast.pattern():
            return
        case ast.Attribute(value=ast.Name(id="Code"), attr=name):
            yield name
        case _:
            for child in ast.iter_child_nodes(tree):
                yield from named(child)


def test_given_the_product_when_searched_then_every_code_is_raised_somewhere() -> None:
    """A code that nothing raises has sentences that nobody reads. NEXT_STEPS and CARD_NOTHING_HAPPENS are words of cards."""
    raised = {name for tree in sources() for name in named(tree)}
    spoken = {Code.NEXT_STEPS.name}

    assert {code.name for code in Code} - raised - spoken == set()


def test_given_a_code_that_is_only_compared_when_searched_then_it_does_not_count() -> None:
    tree = ast.parse("KNOWN = frozenset({Code.A})\nif why.code is Code.B: pass\nwhy = reason(Code.C if x else Code.D)")

    assert set(named(tree)) == {"C", "D"}


def test_given_facts_named_like_the_parts_of_a_reason_when_made_then_they_are_facts() -> None:
    made = reason(Code.IKS_BUSY, reason(Code.PAUSED), code="Ef9cc", cause="quota", facts=3)

    assert made == Reason(Code.IKS_BUSY, {"code": "Ef9cc", "cause": "quota", "facts": 3}, reason(Code.PAUSED))
    assert decode(Reason, encode(made)) == made
