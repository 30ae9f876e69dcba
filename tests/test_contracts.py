"""What the design forbids: imports against the arrows, DuckDB outside db.py, modules that grow too long."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

PACKAGE = ROOT / "bright_inspect"
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The top-level names of everything a module imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def test_import_contracts_are_kept() -> None:
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which("lint-imports")
    assert linter is not None, "import-linter is not installed (it is in the test extra)"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_is_over_400_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_duckdb_is_imported_by_one_module() -> None:
    assert [path.name for path in MODULES if "duckdb" in imported(path)] == ["db.py"]


def test_the_screen_is_drawn_by_the_tui_alone() -> None:
    def packages_that_import(name: str) -> set[str]:
        return {path.relative_to(PACKAGE).parts[0] for path in MODULES if name in imported(path)}

    assert packages_that_import("textual") == {"tui"}
    assert packages_that_import("rich") == {"cli", "tui"}


def test_the_domain_is_standard_library_only() -> None:
    for path in (PACKAGE / "domain").glob("*.py"):
        assert imported(path) - {"bright_inspect"} <= sys.stdlib_module_names, path.name
