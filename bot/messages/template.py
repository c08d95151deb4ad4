"""Fill the placeholders of a sentence.

    {node}          a fact: strings and lists as code spans, numbers as they are
    {pods:n}        how many; {by:user} a mention; {channel:channel}; {step:step} a step's title
    {phase:phase}   a word of the catalogue (phase, decision, stage, command)
    {at:when}       a moment; {seconds:seconds}, {minutes:minutes} a duration
    {here}          the cluster as one types it into a command
    [ … {fact} … ]  left out when one of its facts is missing or empty

A missing fact outside brackets becomes the catalogue's word for unknown. Nothing here raises, whatever the facts are.
"""

import re
from collections.abc import Callable, Mapping

Spell = Callable[[str, object], str]  # (form, fact) -> text

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


def slots(template: str) -> tuple[tuple[str, str], ...]:
    """Names and forms of all placeholders, for the catalogue's own tests."""
    return tuple((match[1], match[2] or "") for match in _SLOT.finditer(template))


def fill(template: str, facts: Mapping[str, object], spell: Spell, unknown: str) -> str:
    """The sentence. `spell` turns a fact into text of a form ("" is the plain one)."""

    def keep(match: re.Match[str]) -> str:
        return match[1] if all(_known(facts, *slot) for slot in slots(match[1])) else ""

    def put(match: re.Match[str]) -> str:
        if not _known(facts, match[1], match[2] or ""):
            return unknown
        return spell(match[2] or "", facts[match[1]]) or unknown

    return _SLOT.sub(put, _OPTIONAL.sub(keep, template))


def _known(facts: Mapping[str, object], name: str, form: str) -> bool:
    """Whether there is something to say. The empty step is the plan."""
    if form == "step" and facts.get(name) == "":
        return True
    return facts.get(name, "") not in ("", (), [], None)
