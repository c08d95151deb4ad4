"""B034: one sentence of the scheduler holds several causes."""

import pytest

from state.scheduling import Part, parts

MIXED = (
    "0/4 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {gpu: }, 1 node(s) were "
    "unschedulable, 1 node(s) had some reason nobody listed. preemption: 0/4 nodes are available: 4 Preemption is not "
    "helpful for scheduling."
)
GPU = Part(1, "Insufficient nvidia.com/gpu")


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (
            MIXED,
            (
                GPU,
                Part(1, "untolerated taint {gpu: }"),
                Part(1, "unschedulable"),
                Part(1, "node(s) had some reason nobody listed"),
            ),
        ),
        ("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.", (GPU,)),
        (
            "0/3 nodes are available: 2 node(s) had taint {a: b, c}, that the pod didn't tolerate, 1 Insufficient cpu.",
            (Part(2, "untolerated taint {a: b, c}"), Part(1, "Insufficient cpu")),
        ),
        (
            "0/2 nodes are available: 2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/2.",
            (Part(2, "untolerated taint"),),
        ),
        (
            "0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: not helpful.",
            (Part(0, "pod has unbound immediate PersistentVolumeClaims"),),
        ),
        ("skip schedule deleting pod: default/a", (Part(0, "skip schedule deleting pod: default/a"),)),
        ("0/4 nodes are available: 1 Insufficient nvid", (Part(1, "Insufficient nvid"),)),
        ("0/4 nodes are available: ", ()),
        ("", ()),
    ],
    ids=["mixed", "one", "older taint form", "newer taint form", "no count", "another sentence", "cut", "bare", "none"],
)
def test_given_a_message_when_taken_apart_then_each_cause_has_its_count(message: str, found: tuple[Part, ...]) -> None:
    assert parts(message) == found


def test_given_parts_when_spoken_then_count_first() -> None:
    assert [str(p) for p in parts(MIXED)][:2] == ["1 × Insufficient nvidia.com/gpu", "1 × untolerated taint {gpu: }"]
    assert str(Part(0, "unheard of")) == "unheard of"


@pytest.mark.parametrize(
    ("part", "gpus", "closed"),
    [
        (GPU, True, False),
        (Part(1, "Insufficient nvidia.com/mig-1g.5gb"), True, False),
        (Part(1, "Insufficient cpu"), False, False),
        (Part(3, "unschedulable"), False, True),
        (Part(3, "untolerated taint {gpu: }"), False, True),
        (Part(3, "node(s) didn't match Pod's node affinity/selector"), False, False),
    ],
    ids=str,
)
def test_given_a_part_when_asked_then_it_says_what_it_is_about(part: Part, gpus: bool, closed: bool) -> None:
    assert (part.about_gpus, part.about_closed_nodes) == (gpus, closed)
