"""The shape of the house, measured: sizes, names, what may stand where. import-linter holds the rings beside this."""

import ast
import importlib
import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("bot", "handlers", "state", "sandbox")
RINGS = ("bot", "handlers", "state")
LONGEST_FILE, LONGEST_STEP, LONGEST_FUNCTION = 250, 100, 40


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in (ROOT / folder).rglob("*.py") if path.read_text(encoding="utf-8").strip())


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_given_any_file_when_counted_then_it_fits_a_few_screens() -> None:
    """Style guide 7."""
    long = {str(p.relative_to(ROOT)): len(p.read_text(encoding="utf-8").splitlines()) for p in files(*OURS)}

    assert {name: lines for name, lines in long.items() if lines > LONGEST_FILE} == {}


def test_given_a_step_when_counted_then_it_can_be_read_at_once() -> None:
    long = {p.name: len(p.read_text(encoding="utf-8").splitlines()) for p in files("state/steps")}

    assert {name: lines for name, lines in long.items() if lines > LONGEST_STEP} == {}


def test_given_any_function_when_measured_then_it_is_short() -> None:
    spans = {
        f"{p.relative_to(ROOT)}:{f.name}": (f.end_lineno or 0) - f.lineno + 1
        for p in files(*OURS)
        for f in functions(p)
    }

    assert {name: lines for name, lines in spans.items() if lines > LONGEST_FUNCTION} == {}


def test_given_the_core_when_searched_then_it_reads_no_clock_and_no_environment() -> None:
    """`datetime.now` would be a clock; events carry `at`."""
    core = [p for p in files("state") if "store" not in p.parts]
    bad = [
        p.name
        for p in core
        for word in ("datetime.now(", "utcnow(", "os.environ", "random.", "structlog")
        if word in p.read_text()
    ]

    assert bad == []


def test_given_the_rings_when_searched_then_broad_excepts_report() -> None:
    """`except Exception` stands only at the top of a task, and its body says so to the log or to somebody."""
    silent = []
    for path in files(*RINGS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name) and node.type.id == "Exception":
                said = "\n".join(ast.unparse(statement) for statement in node.body)
                handed_on = node.name is not None and node.name in said
                if not handed_on and not any(word in said for word in ("log", "report", "raise")):
                    silent.append(f"{path.relative_to(ROOT)}:{node.lineno}")

    assert silent == []


def test_given_installed_packages_when_asked_then_our_top_level_names_are_ours_alone() -> None:
    owners = importlib.metadata.packages_distributions()

    assert {name: set(owners.get(name, ["gpu-migrate"])) for name in OURS} == {name: {"gpu-migrate"} for name in OURS}


@pytest.mark.parametrize("ring", OURS)
def test_given_no_environment_when_every_module_is_imported_then_nothing_happens(ring: str) -> None:
    """Importing builds nothing, reads nothing and says nothing (style guide 10)."""
    modules = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in files(ring) if p.stem != "__main__"]
    script = "import importlib,sys\nfor name in sys.argv[1:]: importlib.import_module(name.removesuffix('.__init__'))"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", script, *modules],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
