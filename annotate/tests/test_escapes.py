# SPDX-License-Identifier: GPL-2.0-or-later
"""No way out of bd_annotate lets a profile's names control a terminal; what goes into a file is as it was."""

import os
import pty
import subprocess

import pytest
from test_hostile import BD_ANNOTATE, HELPER, run

NAME = b"col\x1b[2J\xc2\x9b2J\x9b\x07umns"
CONTROLS = (b"\x1b[2J", b"\xc2\x9b", b"\x9b", b"\x07")
EXPORTS = ("callgrind", "dot", "folded", "speedscope", "firefox")
REPORTS = (
    *(["--export=" + name] for name in EXPORTS), ["--format=json"], ["--format=csv"], ["--format=markdown"],
    ["--format=sarif"], ["--hints", "--tree=both", "--files", "--annotate"], ["--check"],
    ["--diff", "other.out"], ["--diff", "--format=json", "other.out"], ["--diff", "--format=csv", "other.out"],
    ["--per-file", "other.out"], ["--per-file", "--format=json", "other.out"],
    ["--per-file", "--format=csv", "other.out"],
)


@pytest.fixture(name="profile")
def fixture_profile(tmp_path):
    text = HELPER.read_bytes().replace(b"columns", NAME).replace(b"cmd: ", b"cmd: " + NAME)
    (tmp_path / "p.out").write_bytes(text)
    (tmp_path / "other.out").write_bytes(text.replace(b"totals", b"totals"))
    return tmp_path


def on_terminal(folder, arguments):
    master, slave = pty.openpty()
    environment = {**os.environ, "PAGER": "cat", "NO_COLOR": "1", "TERM": "xterm"}
    process = subprocess.Popen(
        [*BD_ANNOTATE, *arguments, "p.out"], stdout=slave, stderr=slave, cwd=folder, env=environment
    )
    os.close(slave)
    output = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
    os.close(master)
    return process.wait(), output


@pytest.mark.parametrize("arguments", REPORTS, ids=" ".join)
def test_names_cannot_control_a_terminal(arguments, profile):
    status, output = on_terminal(profile, arguments)
    assert status == 0 and b"Traceback" not in output
    assert len(output) > 50
    for control in CONTROLS[:2] + CONTROLS[3:]:
        assert control not in output, output
    # A byte that is part of UTF-8 is none.
    assert "\x9b" not in output.decode("utf-8", "replace") and b"\x9b" not in output.replace(b"\xc2\x9b", b"")


def test_a_file_has_the_names_as_they_are(profile):
    assert run("--export=callgrind", "p.out", cwd=profile).stdout.count(NAME) >= 1
    assert run("--export=callgrind", "-o", "out", "p.out", cwd=profile).returncode == 0
    assert NAME in (profile / "out").read_bytes()


# --- Files that are written ---------------------------------------------------------------------


def test_an_export_that_fails_leaves_what_was_there(profile):
    (profile / "out").write_text("before")
    # No room for so much: the limit of a file's size stands for a full disk.
    words = ["sh", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "sh", *BD_ANNOTATE, "--html=out", "p.out"]
    result = subprocess.run(words, capture_output=True, cwd=profile, timeout=60)
    assert result.returncode == 2 and result.stderr == b"bd_annotate: out: File too large\n"
    assert (profile / "out").read_text() == "before"
    assert sorted(os.listdir(profile)) == ["other.out", "out", "p.out"]


def test_a_file_that_is_replaced_keeps_its_mode_and_links(profile):
    (profile / "real").write_text("before")
    (profile / "real").chmod(0o640)
    (profile / "out").symlink_to("real")
    assert run("--export=callgrind", "-o", "out", "p.out", cwd=profile).returncode == 0
    assert (profile / "out").is_symlink()
    assert (profile / "real").stat().st_mode & 0o777 == 0o640
    assert b"events:" in (profile / "real").read_bytes()


def test_an_export_may_go_to_a_device(profile):
    assert run("--export=callgrind", "-o", "/dev/null", "p.out", cwd=profile).returncode == 0
    words = [*BD_ANNOTATE, "--export=callgrind", "-o", "/dev/stdout", "p.out"]
    assert subprocess.run(words, capture_output=True, cwd=profile).stdout.startswith(b"# callgrind")
    assert b"No space left" in run("--export=callgrind", "-o", "/dev/full", "p.out", cwd=profile).stderr
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")
