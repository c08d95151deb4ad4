"""Small parts of the pretend API server as tables: quantities, selectors, printer columns, list merging."""

from typing import Any

import pytest

from sandbox.kubernetes.patches import json_patch, merge_patch
from sandbox.kubernetes.quantities import canonical
from sandbox.kubernetes.selectors import label_selector_matches, parse_labels
from sandbox.kubernetes.shapes import builtin_shape
from sandbox.kubernetes.statuses import ApiError
from sandbox.kubernetes.strategic import strategic_patch
from sandbox.kubernetes.table import look

POD = builtin_shape("v1/Pod")


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        *(("1000m", "1"), ("1500m", "1500m"), ("0.5", "500m"), ("1024Mi", "1Gi"), ("1.5Gi", "1536Mi"), ("1000", "1k")),
        *(("100k", "100k"), ("0", "0"), ("1e3", "1e3"), ("1n", "1n"), ("not a quantity", "not a quantity"), ("8", "8")),
    ],
)
def test_given_a_quantity_when_stored_then_it_has_its_one_spelling(given: str, stored: str) -> None:
    assert canonical(given) == stored


@pytest.mark.parametrize(
    ("selector", "labels", "fits"),
    [
        ("a=1", {"a": "1"}, True),
        ("a!=1", {}, True),
        ("a in (1, 2),!b", {"a": "2"}, True),
        ("a notin (1)", {"a": "1"}, False),
        ("a>3", {"a": "4"}, True),
        ("a<3", {"a": "x"}, False),
        ("a", {"b": ""}, False),
        ("", {}, True),
    ],
)
def test_given_a_label_selector_when_matched_then_all_terms_count(selector: str, labels: Any, fits: bool) -> None:
    assert all(requirement.matches(labels) for requirement in parse_labels(selector)) is fits


@pytest.mark.parametrize("selector", ["a in", "a in (", "!", "a=1,", "a b", ")", "a==="])
def test_given_no_selector_when_parsed_then_it_is_a_bad_request(selector: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_labels(selector)

    assert refused.value.code == 400


def test_given_a_selector_object_when_it_is_empty_then_it_selects_all_and_when_absent_none() -> None:
    assert label_selector_matches({}, {"a": "1"})
    assert not label_selector_matches(None, {"a": "1"})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ('.conditions[?(@.type=="Ready")].status', "True"),
        (".list[1]", 2),
        (".list[*]", 1),
        (".none.at.all", None),
        (".labels.example\\.com/a", "x"),
    ],
)
def test_given_a_printer_column_when_read_then_its_first_value_is_shown(path: str, value: Any) -> None:
    conditions = [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]
    obj = {"conditions": conditions, "list": [1, 2], "labels": {"example.com/a": "x"}}

    assert look(obj, path) == value


def test_given_keyed_lists_when_patched_strategically_then_items_merge_by_key_and_directives_hold() -> None:
    old = {
        "spec": {
            "containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}],
            "tolerations": [{"key": "x"}],
        }
    }
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
            "containers": [{"name": "a", "image": "2"}, {"name": "b", "$patch": "delete"}, {"name": "c", "image": "3"}],
            "tolerations": [{"key": "y"}],
        }
    }

    new = strategic_patch(old, patch, POD)

    assert new["spec"]["containers"] == [{"name": "c", "image": "3"}, {"name": "a", "image": "2"}]
    assert new["spec"]["tolerations"] == [{"key": "y"}]


def test_given_a_merge_patch_when_it_holds_null_then_the_field_goes_and_the_target_stays_as_it_was() -> None:
    target = {"a": {"b": 1, "c": 2}}

    assert merge_patch(target, {"a": {"b": None}}) == {"a": {"c": 2}}
    assert target == {"a": {"b": 1, "c": 2}}


def test_given_a_json_patch_when_it_copies_a_part_into_itself_then_the_copy_is_its_own() -> None:
    patched = json_patch({"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/a/c"}])

    assert patched == {"a": {"b": 1, "c": {"b": 1}}}
