# SPDX-License-Identifier: GPL-2.0-or-later
"""What `make install` puts where, that it works there, and that `make uninstall` takes it back."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BDGRIND_BUILD", TOP))


def make(target: str, destination: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "-C", BUILD, "--no-print-directory", target, f"DESTDIR={destination}"],
        env=clean | {"MAKEFLAGS": ""}, capture_output=True, text=True, check=True,
    ).stdout


def configured(name: str) -> str:
    """A variable of the Makefiles, with those that it is made of."""
    text = (BUILD / "docs" / "Makefile").read_text()
    found = re.search(rf"^{name} = (.*)$", text, re.MULTILINE)
    assert found
    return re.sub(r"\$[({](\w+)[)}]", lambda match: configured(match[1]), found[1])


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture(name="root", scope="module")
def fixture_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("installed")
    make("install", root)
    yield root


def below(root: Path, folder: str) -> Path:
    return root / configured(folder).lstrip("/")


def test_everything_is_where_programs_look_for_it(root: Path) -> None:
    (tool,) = (BUILD / "bdgrind").glob(f"bdgrind-{configured('VG_ARCH')}-linux")
    assert (below(root, "vgtooldir") / tool.name).is_file()
    assert (below(root, "vgheaderdir") / "bdgrind.h").is_file()
    for name in ("bdgrind", "bd_annotate", "bd_calibrate", "bd_control"):
        assert (below(root, "mandir") / "man1" / f"{name}.1").is_file()
    data = below(root, "datadir")
    for name in ("bd_annotate", "bd_calibrate", "bd_control"):
        assert os.access(below(root, "bindir") / name, os.X_OK)
        assert (data / "bash-completion" / "completions" / name).is_file()
        assert (data / "zsh" / "site-functions" / f"_{name}").is_file()
    documents = below(root, "docdir")
    assert {path.name for path in (TOP / "docs").glob("*.md")} == {
        path.name for path in documents.glob("*.md")
    }
    for folder in ("example", "guide"):
        sources = {name for name in files(TOP / "docs" / folder) if "__pycache__" not in name}
        assert sources <= files(documents / folder)


def test_no_run_has_to_read_debug_information_of_the_tool(root: Path) -> None:
    for folder in (below(root, "vgtooldir"), BUILD / "vg-in-place.d"):
        (tool,) = folder.glob(f"bdgrind-{configured('VG_ARCH')}-linux")
        sections = subprocess.run(
            ["readelf", "--sections", "--wide", tool], capture_output=True, text=True, check=True
        ).stdout
        assert ".symtab" in sections
        assert ".debug" not in sections


def test_the_scripts_find_their_packages(root: Path) -> None:
    for name in ("bd_annotate", "bd_calibrate", "bd_control"):
        said = subprocess.run(
            [below(root, "bindir") / name, "--version"], cwd="/", capture_output=True, text=True,
            check=True, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        assert said.stdout.startswith(name)


def test_the_tool_runs_from_its_folder(root: Path, tmp_path: Path) -> None:
    """With VALGRIND_LIB, as `make install` says where the folder is not Valgrind's own."""
    folder = below(root, "vgtooldir")
    if not (folder / "default.supp").exists():
        pytest.skip("no package helps: it is to be installed beside the files of Valgrind, which are not in DESTDIR")
    done = subprocess.run(
        [configured("VALGRIND"), "--tool=bdgrind", "/bin/true"], cwd=tmp_path,
        env=os.environ | {"VALGRIND_LIB": str(folder)}, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("bdgrind.out.*"))


def test_programs_find_the_header(root: Path) -> None:
    compiler = configured("CC").split()
    includes = [f"-I{below(root, 'vgheaderdir').parent}", f"-I{Path(configured('VG_INCLUDEDIR')).parent}"]
    subprocess.run(
        [*compiler, *includes, "-fsyntax-only", "-Wall", "-Werror", "-xc", "-"],
        input="#include <valgrind/bdgrind.h>\n", text=True, check=True,
    )


def test_uninstalling_leaves_nothing(tmp_path: Path) -> None:
    stranger = below(tmp_path, "docdir").parent / "stranger" / "README"
    stranger.parent.mkdir(parents=True)
    stranger.touch()
    make("install", tmp_path)
    # As Python does where it may write, when a script runs for the first time.
    script = below(tmp_path, "bindir") / "bd_annotate"
    ours = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
    writing = {name: value for name, value in os.environ.items() if name not in ours}
    subprocess.run([script, "--version"], env=writing, capture_output=True, check=True)
    assert any("__pycache__" in name for name in files(tmp_path))
    make("uninstall", tmp_path)
    assert files(tmp_path) == {str(stranger.relative_to(tmp_path))}
    # Where it was installed may have such a name, too, as for make distcheck.
    prefix = below(tmp_path, "prefix")
    folders = (path for path in tmp_path.rglob("*") if path not in (prefix, *prefix.parents))
    assert [path for path in folders if "bdgrind" in path.name] == []
