# SPDX-License-Identifier: GPL-2.0-or-later
"""VEX checks each block that it translates where --check-ir=yes asks for it, as all other system tests do."""

import os
import shutil
import subprocess

import pytest
from harness import BUILD, GUESTS, configured, require_guests

GDB = shutil.which("gdb")
pytestmark = pytest.mark.skipif(GDB is None, reason="gdb is missing; on Debian: apt-get install gdb")


@pytest.mark.parametrize("option, stops", [("--check-ir=yes", True), ("--check-ir=no", False), ("", False)])
def test_blocks_are_checked_where_it_is_asked_for(option: str, stops: bool) -> None:
    """A breakpoint is where VEX checks. The program ends, unless it is reached."""
    require_guests([str(GUESTS / "one_byte")])
    tool = [*("--tool=bdgrind", "--engine-threads=0", "--bdgrind-out-file=/dev/null"), *([option] if option else [])]
    program = BUILD / "bdgrind" / f"bdgrind-{configured('VG_ARCH')}-linux"
    commands = ("handle SIGSEGV nostop noprint pass", "break sanityCheckIRSB", "run")
    done = subprocess.run(
        [
            str(GDB), "-nx", "-batch", *(word for command in commands for word in ("-ex", command)),
            "--args", str(program), *tool, str(GUESTS / "one_byte"),
        ],
        env={
            **os.environ, "VALGRIND_LAUNCHER": str(configured("VALGRIND")),
            "VALGRIND_LIB": str(BUILD / "vg-in-place.d"),
        },
        capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
    )
    assert ("Breakpoint 1, " in done.stdout) == stops, done.stdout + done.stderr
    assert ("exited normally" in done.stdout) != stops, done.stdout + done.stderr
