# SPDX-License-Identifier: GPL-2.0-or-later
"""quickstart, with all that it calls replaced by scripts that say how they were called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
CHECKS = Path("bdgrind/tests/checks")

# What installs nothing, as nothing is missing.
SILENT = "#!/bin/sh\nexit 0\n"

CONFIGURE = """#!/bin/sh
echo "configure $*" >>"$CALLS"
shift  # --quiet, which is not remembered
{
    echo '#!/bin/sh'
    printf 'echo "'
    for word; do
        case $word in *[!a-zA-Z0-9=/_-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    echo '"'
} >config.status
chmod +x config.status
"""

# Writes the results of a kind unless there is a file that says not to.
MAKE = """#!/bin/sh
[ "$1" != --version ] || exit 0
echo "make $*" >>"$CALLS"
case $* in
*check)
    mkdir -p build/check-results
    for kind in $(grep -v '^#' bdgrind/tests/checks/kinds); do
        [ -e "no-$kind" ] || echo '<a><testcase name="it"/></a>' >"build/check-results/check-$kind.xml"
    done
    [ ! -e fails ];;
esac
"""


class Clone:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(TOP / "quickstart", folder)
        shutil.copytree(TOP / CHECKS, folder / CHECKS)
        self.write("configure", CONFIGURE)
        self.write("bin/make", MAKE)
        for name in ("g++", "autoreconf", "automake", "pkg-config", "apt-cache", "apt-get", "nproc",
                     "node", "npm", "chromium", "firefox-esr", "clang++", "groff"):
            self.write(f"bin/{name}", SILENT)
        self.write("bin/sudo", "#!/bin/sh\nexit 1\n")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    @property
    def calls(self) -> Path:
        return self.folder / "calls"

    def run(self) -> subprocess.CompletedProcess[str]:
        self.calls.write_text("")
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            ["./quickstart", "check"],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "CALLS": str(self.calls)},
            capture_output=True,
            text=True,
            check=False,
        )

    def check(self) -> tuple[int, str, list[str]]:
        """The status, the last line, and what was called."""
        completed = self.run()
        if "packages are missing" in completed.stderr:
            pytest.skip(completed.stderr.strip())
        return completed.returncode, completed.stdout.splitlines()[-1], self.calls.read_text().splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def kinds() -> list[str]:
    lines = (TOP / CHECKS / "kinds").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_the_last_line_sums_up(clone: Clone) -> None:
    status, last, _ = clone.check()
    assert (status, last) == (0, f"{len(kinds())} passed, 0 failed, 0 skipped")


def test_a_kind_that_does_not_run_is_a_failure(clone: Clone) -> None:
    clone.check()  # what it leaves does not count the next time
    (clone.folder / "no-system").touch()
    status, last, _ = clone.check()
    assert status == 1
    assert last == f"{len(kinds()) - 1} passed, 0 failed, 0 skipped; DID NOT RUN: system"


def test_a_failure_of_make_is_one_although_no_test_failed(clone: Clone) -> None:
    (clone.folder / "fails").touch()
    status, last, _ = clone.check()
    assert (status, last) == (1, f"{len(kinds())} passed, 0 failed, 0 skipped")


def test_each_time_it_looks_anew_for_what_is_installed(clone: Clone) -> None:
    for _ in range(2):
        _, _, calls = clone.check()
        assert calls[0] == "configure --quiet --enable-werror"
        assert not any("clean" in call for call in calls)


def test_what_the_web_report_needs_is_installed(clone: Clone) -> None:
    """Or asked for, where that is not allowed."""
    for name in ("node", "npm", "chromium", "chromium-browser", "firefox-esr", "firefox"):
        clone.write(f"bin/{name}", "#!/bin/sh\nexit 1\n")
    clone.write("bin/apt-get", """#!/bin/sh\necho "apt-get $*" >>"$CALLS"\n""")
    completed = clone.run()
    if os.geteuid() == 0:
        calls = clone.calls.read_text()
        assert re.search("^apt-get .* install .* nodejs npm chromium firefox-esr ", calls, re.MULTILINE)
    else:
        assert completed.returncode == 1
        assert re.search("please run: sudo apt-get install .*nodejs npm chromium firefox-esr ", completed.stderr)


def test_after_a_build_with_warnings_everything_is_compiled_again(clone: Clone) -> None:
    (clone.folder / "build").mkdir()
    subprocess.run(
        ["../configure", "--quiet", "--disable-werror", "CXX=ccache g++"],
        cwd=clone.folder / "build",
        env={**os.environ, "CALLS": os.devnull},
        check=True,
    )
    _, _, calls = clone.check()
    assert re.fullmatch("make .* clean", calls[0])
    assert calls[1] == "configure --quiet --enable-werror CXX=ccache g++"


def test_every_kind_that_make_check_runs_is_listed() -> None:
    makefile = (TOP / "bdgrind" / "tests" / "Makefile.am").read_text()
    (run,) = re.findall(r"^check_kinds = (.*)$", makefile, re.MULTILINE)
    makefile = (TOP / "annotate" / "Makefile.am").read_text()
    (of_annotate,) = re.findall(r"^check-local: (.*)$", makefile, re.MULTILINE)
    assert sorted([*run.split(), *of_annotate.replace("check-", "").split()]) == sorted(kinds())


def test_continuous_integration_does_what_the_readme_says() -> None:
    readme = re.findall(r"^    (\./quickstart.*?)(?: +#.*)?$", (TOP / "README.md").read_text(), re.M)
    script = (TOP / ".ci" / "run").read_text()
    run = re.findall(r"^(?:exec )?(\./quickstart.*?) </dev/null$", script, re.M)
    assert readme == run == ["./quickstart", "./quickstart check"]
