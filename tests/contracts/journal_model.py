"""The journal's rules in a few lines of Python, to compare the scripts with. One run, as many owners as there are.

Written from the rules, not from the scripts.
"""

from dataclasses import dataclass, field

REMEMBERED = 8


@dataclass
class Model:
    """What a perfect journal would hold."""

    version: int = 0
    fence: int = 0
    owner: str = ""
    alive: set[str] = field(default_factory=set)
    intent: str = ""
    ops: list[tuple[str, int]] = field(default_factory=list)
    inbox: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    ended: bool = False
    log: list[str] = field(default_factory=list)

    def take(self, who: str) -> int | None:
        """The fence under which `who` owns the run now, None when somebody alive has it."""
        if self.owner == who:
            return self.fence
        if self.owner in self.alive:
            return None
        self.owner = who
        self.fence += 1
        return self.fence

    def release(self, who: str) -> None:
        if self.owner == who:
            self.owner = ""

    def submit(self, event: str) -> bool:
        """Whether it stands there now, or did once."""
        if event not in self.seen and not self.ended:
            self.seen.add(event)
            self.inbox.append(event)
        return event in self.seen

    def apply(self, wanted: "Wanted") -> str | int:
        """The new version, or the word of the refusal."""
        for op, version in self.ops[-REMEMBERED:]:
            if op == wanted.op:
                return version
        if wanted.fence != self.fence:
            return "fence"
        if wanted.version != self.version:
            return "version"
        if wanted.knew != self.intent:
            return "busy"
        self.version += 1
        self.ops.append((wanted.op, self.version))
        self.log.append(wanted.op)
        self.intent = wanted.intent
        self.ended = self.ended or wanted.ends
        self.inbox = [event for event in self.inbox if event not in wanted.taken]
        return self.version


@dataclass(frozen=True)
class Wanted:
    """A transition as somebody wants it. `knew`: the open intent that it was decided on."""

    op: str
    version: int
    fence: int
    knew: str
    intent: str
    ends: bool = False
    taken: tuple[str, ...] = ()
