# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates: what no compiler reports, but breaks the tool or the order of the source tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BDGRIND_BUILD", TOP))
SOURCES = TOP / "bdgrind"

# Which folders of bdgrind/ a layer may include from, besides the C++ library and Boost.
LAYERS = {
    "engine": {"engine"},
    "profile": {"engine", "profile"},
    "tool": {"engine", "profile", "tool"},
}
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def run(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def tool_objects() -> list[Path]:
    folder = BUILD / "bdgrind"
    objects = [folder / name for name in (folder / "tool_objects.list").read_text().split()]
    assert objects
    return objects


def tool() -> Path:
    (path,) = (BUILD / "bdgrind").glob("bdgrind-*-linux")
    return path


def layer_files(layer: str) -> list[Path]:
    return sorted(path for path in (SOURCES / layer).rglob("*") if path.suffix in {".cpp", ".h"})


def includes(path: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def is_library_header(name: str) -> bool:
    """C++ library headers have neither folder nor suffix; the compiler has its intrinsics."""
    return re.fullmatch(r"[a-z_]+|boost/.*|[a-z]mmintrin\.h|arm_neon\.h", name) is not None


def test_no_static_constructors() -> None:
    """Nothing calls them in a tool: a global that needs one is silently left zero."""
    found = []
    for path in [*tool_objects(), tool()]:
        for line in run("readelf", "--sections", "--wide", path).splitlines():
            if re.search(r" \.(preinit_array|init_array|fini_array|ctors|dtors)\b", line):
                found.append(f"{path.name}: {line.strip()}")
    assert found == []


def test_undefined_symbols_are_on_the_allow_list() -> None:
    lines = (Path(__file__).parent / "allowed_undefined.txt").read_text().splitlines()
    allowed = [re.compile(line) for line in lines if line and not line.startswith("#")]
    defined: set[str] = set()
    undefined: set[str] = set()
    for path in tool_objects():
        for line in run("nm", "--format=posix", path).splitlines():
            name, kind = line.split()[:2]
            (undefined if kind == "U" else defined).add(name)
    wanted = sorted(undefined - defined)
    assert wanted  # The list is not empty by mistake: every tool calls its core.
    assert [name for name in wanted if not any(rule.fullmatch(name) for rule in allowed)] == []


@pytest.mark.parametrize("layer", LAYERS)
def test_includes_never_point_up(layer: str) -> None:
    wrong = []
    for path in layer_files(layer):
        for number, bracket, name in includes(path):
            if bracket == '"' and name.split("/")[0] in LAYERS[layer] and (SOURCES / name).exists():
                continue
            if bracket == "<" and is_library_header(name):
                continue
            if layer == "tool" and name == "bdgrind.h":  # What the guest asks, the tool answers.
                continue
            if path == SOURCES / "tool" / "valgrind.h":  # The one door to Valgrind's headers.
                continue
            wrong.append(f"{path.relative_to(TOP)}:{number}: {name}")
    assert wrong == []


@pytest.mark.parametrize(
    ("folder", "patterns"),
    [
        ("bdgrind", ["engine/*/*.cpp", "engine/*/*.h", "profile/*.cpp", "profile/*.h"]),
        ("bdgrind", ["tool/*.cpp", "tool/*.h"]),
        ("bdgrind/tests", ["unit/*.cpp", "unit/*.h"]),
        ("bdgrind/tests/guest", ["*.c", "*.cpp", "*.S", "*.h"]),
        ("annotate", ["bdannotate/**/*.py"]),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_every_source_is_listed(folder: str, patterns: list[str]) -> None:
    """A file that no Makefile.am lists is neither built nor packed."""
    makefile = TOP / folder / "Makefile.am"
    listed = set(re.findall(r"[\w./-]+", makefile.read_text()))
    paths = [path for pattern in patterns for path in (TOP / folder).glob(pattern)]
    there = {str(path.relative_to(TOP / folder)) for path in paths}
    assert sorted(there - listed) == []


def source_files() -> list[Path]:
    suffixes = {".cpp", ".h", ".c", ".S", ".py", ".am", ".ac"}
    folders = [TOP / "bdgrind", TOP / "annotate", TOP / "docs"]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]
    return sorted([*files, TOP / "configure.ac", TOP / "Makefile.am"])


def test_every_source_names_its_licence() -> None:
    header = re.compile(r"(//|#) SPDX-License-Identifier: GPL-2\.0-or-later")
    missing = []
    for path in source_files():
        if path == SOURCES / "bdgrind.h":  # Goes into users' programs, under a licence of its own.
            continue
        if TOP / "annotate" / "tests" in path.parents and path.suffix != ".py":  # Test data.
            continue
        first = [line for line in path.read_text().splitlines()[:2] if not line.startswith("#!")]
        if not first or not header.fullmatch(first[0]):
            missing.append(str(path.relative_to(TOP)))
    assert missing == []


def test_python_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is missing; on Debian: apt-get install mypy")
    packages = ["annotate/bdannotate", "bdgrind/tests/bench/bdbench"]
    folders = ["bdgrind/tests/oracle", "bdgrind/tests/system"]
    path = ":".join(str(TOP / folder) for folder in ["annotate", "bdgrind/tests/bench", *folders])
    files = [file for folder in packages + folders for file in (TOP / folder).glob("*.py")]
    files.append(TOP / "annotate" / "bd_control")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, *files],
        env={**os.environ, "MYPYPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        pytest.fail(result.stdout + result.stderr, pytrace=False)
