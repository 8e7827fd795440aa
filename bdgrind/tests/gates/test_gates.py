# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates: what no compiler reports, but breaks the tool or the order of the source tree."""

from __future__ import annotations

import ast
import os
import re
import shutil
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
# The rooms of engine/, and which others each may include from, and no circle.
ROOMS: dict[str, set[str]] = {
    "base": set(),
    "program": {"base"},
    "trace": {"base", "program"},
    "cache": {"base", "program", "trace"},
    "costs": {"base", "program"},
    "calls": {"base", "program", "costs"},
    "objects": {"base", "program", "costs", "calls"},
    "order": {"base", "program", "trace"},
    "why": {"base", "costs"},
    "sharing": {"base", "program", "trace"},
    "replay": {"base", "program", "trace", "cache", "costs", "calls", "objects", "order", "why", "sharing"},
}
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def run(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def tool_objects() -> list[Path]:
    folder = BUILD / "bdgrind"
    objects = [folder / name for name in (folder / "tool_objects.list").read_text().split()]
    assert objects
    return objects


def tools() -> list[Path]:
    paths = sorted((BUILD / "bdgrind").glob("bdgrind-*-linux"))
    assert paths
    return paths


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
    for path in [*tool_objects(), *tools()]:
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


@pytest.mark.parametrize("tool", tools(), ids=lambda path: path.name)
def test_the_fast_path_calls_nothing(tool: Path) -> None:
    """Else its sums would not stay in registers, and all that hits would be slower."""
    if not re.search(r"\.debug_info\b", run("readelf", "--sections", "--wide", tool)):
        pytest.skip("no package helps: the tool is compiled without debug information")
    names = [line.split()[0] for line in run("nm", "--format=posix", tool).splitlines()]
    loops = [name for name in names if re.fullmatch(r"_ZN2bd.*(Cache|Plain)Replay.*3runE.*", name)]
    assert loops
    calls = []
    for name in loops:
        code = run("objdump", "--disassemble=" + name, "--no-show-raw-insn", tool)
        calls += re.findall(r"^ *([0-9a-f]+):\s+(?:call|bl)\b", code, re.MULTILINE)
    assert calls
    # Each address with the functions that were inlined there, the innermost first.
    where = run("addr2line", "--inlines", "--functions", "--addresses", "--exe", tool, *calls)
    frames = re.split(r"^0x[0-9a-f]+$", where, flags=re.MULTILINE)[1:]
    assert len(frames) == len(calls)
    assert "follow" in where  # The names of inlined functions are there at all.
    assert [frame for frame in frames if "run_fast_path" in frame] == []


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


def test_every_room_of_the_engine_includes_what_it_may() -> None:
    arrows: set[tuple[str, str]] = set()
    for path in layer_files("engine"):
        room = path.parent.relative_to(SOURCES / "engine").as_posix()
        for _, bracket, name in includes(path):
            parts = name.split("/")
            if bracket == '"' and parts[0] == "engine" and parts[1] != room:
                arrows.add((room, parts[1]))
    # Both ways: a rule that no file needs is no rule.
    assert arrows == {(room, other) for room, others in ROOMS.items() for other in others}


@pytest.mark.parametrize(
    ("folder", "patterns"),
    [
        ("bdgrind", ["engine/*/*.cpp", "engine/*/*.h", "profile/*.cpp", "profile/*.h"]),
        ("bdgrind", ["tool/*.cpp", "tool/*.h"]),
        ("bdgrind", ["calibrate/*.cpp", "calibrate/*.h"]),
        ("bdgrind/tests", ["unit/*.cpp", "unit/*.h"]),
        ("bdgrind/tests/guest", ["*.c", "*.cpp", "*.S", "*.h", "arm64/*"]),
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


def test_every_file_that_the_design_names_is_there() -> None:
    text = (TOP / "docs" / "design.md").read_text()
    named = re.findall(r"`((?:engine|profile|tool|tests|annotate|docs)/[\w./*-]*)`", text)
    assert len(named) > 80
    gone = {name for name in named if not any(sorted(top.glob(name)) for top in (TOP, SOURCES))}
    assert sorted(gone) == []


def test_the_page_that_the_readme_leads_to_has_the_script_of_today() -> None:
    """`make -C docs example-page` makes it anew."""
    pages = [TOP / "docs" / "example" / "report.html", TOP / "annotate" / "bdannotate" / "html" / "report.html"]
    found = [re.findall(r"script-src '(sha256-[\w+/=]+)'", page.read_text(encoding="utf-8")) for page in pages]
    assert len(found[0]) == 1 and found[0] == found[1]


def unused_imports(text: str) -> list[str]:
    """The imported names that a Python file does not use, in the order of their lines. What is imported under its own
    name (`as`) is for other files to import. A parameter may be a fixture of pytest that is imported."""
    tree = ast.parse(text)
    imported: dict[str, int] = {}
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            for name in node.names:
                if name.asname is None or name.asname != name.name:
                    imported.setdefault(name.asname or name.name.split(".")[0], node.lineno)
        elif isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.arg):
            used.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            used.update(re.findall(r"\w+", node.value))  # it may be a type
    return sorted(imported.keys() - used, key=lambda name: (imported[name], name))


@pytest.mark.parametrize(("text", "unused"), [
    ("import os\nimport sys\nprint(sys.argv)\n", ["os"]),
    ("import os.path\nprint(os.path.sep)\n", []),
    ("from a import b as c, d\nprint(b, d)\n", ["c"]),
    ("from a import b as b\n", []),
    ("from __future__ import annotations\nfrom a import B, C\nx: B\n", ["C"]),
    ('from a import b, c\n__all__ = ["b"]\n', ["c"]),
    ("from a import b\nfrom a import c\n\ndef test(b): pass\n", ["c"]),
    ('from a import b, c\nx: "list[b]"\n', ["c"]),
    ("def f():\n    import a\n    import b\n    return b.a\n", ["a"]),
])
def test_what_an_unused_import_is(text: str, unused: list[str]) -> None:
    assert unused_imports(text) == unused


def test_all_imports_are_used() -> None:
    files = [*written_files({".py"}), TOP / "annotate" / "bd_annotate", TOP / "annotate" / "bd_control"]
    unused = [
        f"{path.relative_to(TOP)}: {name}" for path in sorted(files) for name in unused_imports(path.read_text())
    ]
    assert unused == []


def written_files(suffixes: set[str]) -> list[Path]:
    """What is written by hand: not what npm brings, nor what a build beside the sources makes."""
    made = {"node_modules", "web-build"}
    folders = [TOP / name for name in ("annotate", "bdgrind", "docs")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]
    return [path for path in files if not made & set(path.parts)]


def source_files() -> list[Path]:
    files = written_files({".cpp", ".h", ".c", ".S", ".py", ".am", ".ac"})
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
    packages = ["annotate/bdannotate", "annotate/bdcommon", "annotate/bdcontrol"]
    packages += ["bdgrind/tests/bench/bdbench", "docs/manual"]
    tests = ["arm64", "checks", "clock", "mutation", "oracle", "system", "versions"]
    folders = [*(f"bdgrind/tests/{name}" for name in tests), "docs/gallery", "docs/guide", "docs/site"]
    roots = ["annotate", "bdgrind/tests/bench", "docs", *folders]
    path = ":".join(str(TOP / folder) for folder in roots)
    files = [file for folder in packages + folders for file in (TOP / folder).rglob("*.py")]
    files += [TOP / "annotate" / "bd_annotate", TOP / "annotate" / "bd_control"]
    result = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--scripts-are-modules"),
            *("--cache-dir", tmp_path, *files),
        ],
        env={**os.environ, "MYPYPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        pytest.fail(result.stdout + result.stderr, pytrace=False)


def test_code_is_laid_out_as_clang_format_says() -> None:
    """The engine and the profile; tests lay out made-up programs by hand, which it would spoil."""
    formatter = shutil.which("clang-format")
    if formatter is None:
        pytest.skip("clang-format is missing; on Debian: apt-get install clang-format")
    files = [*layer_files("engine"), *layer_files("profile")]
    result = subprocess.run(
        [formatter, "--dry-run", "--Werror", *files], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr[:4000]


def test_files_are_as_editorconfig_says() -> None:
    settings = (TOP / ".editorconfig").read_text()
    assert "trim_trailing_whitespace = true" in settings and "insert_final_newline = true" in settings
    wrong = []
    for path in source_files():
        text = path.read_text()
        if not text.endswith("\n") and text:
            wrong.append(f"{path.relative_to(TOP)}: it does not end with a line's end")
        for number, line in enumerate(text.splitlines(), 1):
            where = f"{path.relative_to(TOP)}:{number}"
            if line != line.rstrip():
                wrong.append(f"{where}: there is space at the end")
            if path.suffix in {".cpp", ".h"} and "\t" in line:
                wrong.append(f"{where}: a tab")
    assert wrong == []


COLUMNS = 120
# A command of a user's has a line, as it would be typed.
WITH_LONG_LINES = {SOURCES / "tests" / "system" / "everyday_commands.py"}


def text_files() -> list[Path]:
    files = written_files({".cpp", ".h", ".py", ".ts", ".tsx", ".mjs", ".js", ".css", ".md"})
    return sorted([*files, *TOP.glob("*.md")])


def long_lines(text: str, is_markdown: bool) -> list[int]:
    """The numbers of lines that are too long. In Markdown, a table's row is one line, and what a program has printed
    stays as it was."""
    found = []
    is_printed = False
    for number, line in enumerate(text.splitlines(), 1):
        if is_markdown and line.startswith("```"):
            is_printed = not is_printed
        may_be_long = is_markdown and (is_printed or line.lstrip().startswith("|"))
        if len(line) > COLUMNS and not may_be_long:
            found.append(number)
    return found


def test_what_a_long_line_is() -> None:
    full = "x" * COLUMNS
    assert long_lines(f"{full}\n{full}x\n|{full}\n", False) == [2, 3]
    assert long_lines(f"{full}x\n| {full}\n```\n{full}x\n```\n- {full}\n", True) == [1, 6]


def test_lines_fit_the_columns() -> None:
    files = [path for path in text_files() if path not in WITH_LONG_LINES]
    assert {path.suffix for path in files} >= {".cpp", ".py", ".tsx", ".md"}
    wrong = [
        f"{path.relative_to(TOP)}:{number}: it is longer than {COLUMNS} columns"
        for path in files for number in long_lines(path.read_text(), path.suffix == ".md")
    ]
    assert wrong == []


# What automake or autoconf distribute without being asked, and what is of a clone only.
NOT_NAMED = {".gitignore", "Makefile.am", "check.am", "configure.ac", "vg-in-place.in"}


def test_all_files_are_distributed() -> None:
    """A Makefile.am above names each file, or a folder that it is in and that has none of its own."""
    if not (TOP / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no package helps: this is no clone")
    files = run("git", "-c", "safe.directory=*", "-C", TOP, "ls-files", "-z").rstrip("\0").split("\0")
    words = {path.parent: set(path.read_text().split()) for path in (TOP / name for name in files)
             if path.name == "Makefile.am"}
    assert len(words) > 5
    missing = [
        name for name in files if Path(name).name not in NOT_NAMED and not any(
            str(part.relative_to(folder)) in words[folder]
            for folder in (TOP / name).parents if folder in words
            for part in (TOP / name, *(TOP / name).parents)
            if folder in part.parents and not any(part == other or part in other.parents for other in words)
        )
    ]
    assert missing == []
