"""Take the scheduler's one long sentence apart: which causes keep a pod waiting, on how many nodes each (B034).

`0/4 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {gpu: }, … preemption: …`
The wording is the scheduler's and changes between versions, so what is not known is kept verbatim, never dropped.
"""

import re
from dataclasses import dataclass

_HEAD = re.compile(r"^\s*\d+/\d+ nodes are available:?\s*")
_TAIL = re.compile(r"\s*\.?\s*(?:preemption:|no new claims to deallocate).*$", re.DOTALL)
_NEXT = re.compile(r",\s+(?=\d+ )")
_COUNT = re.compile(r"^(\d+)\s+(.*)$", re.DOTALL)
_TAINTS = (
    re.compile(r"^node\(s\) had (?:untolerated )?taints? (\{[^}]*\}), that the pod didn't tolerate$"),
    re.compile(r"^node\(s\) had untolerated taint(?:\(s\)|s)? ?(\{.*\})?$"),
)
_UNSCHEDULABLE = re.compile(r"^node\(s\) were unschedulable$")


@dataclass(frozen=True, slots=True)
class Part:
    """One cause. `nodes`: on how many nodes; 0 when the scheduler gave no number."""

    nodes: int
    text: str

    def __str__(self) -> str:
        return f"{self.nodes} × {self.text}" if self.nodes else self.text

    @property
    def about_gpus(self) -> bool:
        return self.text.startswith("Insufficient ") and "nvidia.com/" in self.text

    @property
    def about_closed_nodes(self) -> bool:
        """Cordons and taints: what a snapshot can tell as well."""
        return self.text == "unschedulable" or self.text.startswith("untolerated taint")


def parts(message: str) -> tuple[Part, ...]:
    """The causes in a FailedScheduling text, in its order; a text of another form is one part, verbatim."""
    head = _HEAD.match(message)
    if head is None:
        text = message.strip()
        return (Part(0, text),) if text else ()
    body = _TAIL.sub("", message[head.end() :]).strip().removesuffix(".")
    return tuple(_part(text) for text in _NEXT.split(body) if text)


def _part(text: str) -> Part:
    counted = _COUNT.match(text)
    if counted is None:
        return Part(0, text)
    return Part(int(counted[1]), _short(counted[2]))


def _short(text: str) -> str:
    for pattern in _TAINTS:
        if found := pattern.match(text):
            return f"untolerated taint {found[1] or ''}".strip()
    return "unschedulable" if _UNSCHEDULABLE.match(text) else text
