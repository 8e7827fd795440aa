# SPDX-License-Identifier: GPL-2.0-or-later
"""Costs below 0, as Xdebug has them for memory that is freed, and calls that cost more than all functions."""

import pytest
from exporting import run as run_anywhere
from test_hostile import run
from test_huge_costs import EVENTS, VIEWS

# As Xdebug writes them; of 65,536 bytes that str_repeat takes, unset gives back more.
XDEBUG = """version: 1
creator: xdebug 3.2.0 (PHP 8.2.0)
cmd: /srv/app/index.php
part: 1
positions: line

events: Time_(10ns) Memory_(bytes)

fl=(1) php:internal
fn=(1) php::str_repeat
4 120 65536

fl=(2) /srv/app/index.php
fn=(2) fill
3 500 1024
cfl=(1)
cfn=(1)
calls=1 0 0
4 120 65536

fl=(1)
fn=(3) php::unset
7 30 -66000

fl=(2)
fn=(4) {main}
1 900 424
cfl=(2)
cfn=(2)
calls=1 0 0
6 620 66560
cfl=(1)
cfn=(3)
calls=1 0 0
7 30 -66000

summary: 1550 984
"""


@pytest.fixture(name="xdebug")
def fixture_xdebug(tmp_path):
    path = tmp_path / "cachegrind.out.1"
    path.write_text(XDEBUG)
    return path


def test_what_a_function_frees_is_listed(xdebug):
    done = run_anywhere("--sort=Memory_(bytes)", "--width=80", xdebug)
    assert done.returncode == 0 and not done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["-66.0k", "-", "-66.0k", "-", "30", "1.9%", "php::unset", "php:internal"] in rows
    assert ["984", "100.0%", "424", "43.1%", "1,550", "100.0%", "{main}", "index.php"] in rows
    assert "Shares   Memory_(bytes) is also credited back" in done.stdout
    assert run_anywhere("--check", xdebug).returncode == 0


def test_what_is_lost_in_a_form_is_said(xdebug, tmp_path):
    done = run_anywhere("--export=folded", "--events=Memory_(bytes)", xdebug)
    assert done.stdout == "{main} 424\n{main};fill 1024\n{main};fill;php::str_repeat 65536\n"
    assert "-66.0k of Memory_(bytes) is left out" in done.stderr
    assert not run_anywhere("--export=folded", "--events=Time_(10ns)", xdebug).stderr
    kept = run_anywhere("--export=callgrind", xdebug)
    assert "7 -66000 30" in run_anywhere("--export=callgrind", "--events=Memory_(bytes)", xdebug).stdout
    assert not kept.stderr
    page = run_anywhere(f"--html={tmp_path / 'page.html'}", xdebug)
    assert "the page shows Memory_(bytes) below 0 as 0" in page.stderr


@pytest.mark.parametrize(
    "own, view", [*((-7, view) for view in VIEWS), *((5, view) for view in VIEWS[:4])], ids=str
)
def test_every_view_takes_them(own, view, tmp_path):
    """Also totals below 0, and of 0 in sum."""
    row, rest, whole = (" ".join([str(cost)] * 12) for cost in (own, -5, own - 5))
    for name in ("p", "other"):
        (tmp_path / name).write_text(
            f"events: {EVENTS}\nob=a\nfl=a.c\nfn=main\n1 {row}\ncfn=f\ncalls=1 9\n2 {rest}\nfn=f\n9 {rest}\n"
            f"totals: {whole}\n"
        )
    result = run(*view, "p", cwd=tmp_path)
    assert b"Traceback" not in result.stderr and result.returncode == 0, result.stderr.decode()[-600:]


def test_calls_that_cost_more_than_everything_are_named(tmp_path):
    path = tmp_path / "cut"
    path.write_text("events: Ir\nfl=a.c\nfn=main\n1 100\ncfn=f\ncalls=1 1\n2 700\nfn=f\n10 0\n")
    done = run_anywhere("--width=80", path)
    assert "800  >100%  100 100.0%  1 main  a.c" in done.stdout and "00.0%" not in done.stdout.replace("100.0%", "")
    assert "the calls in main cost 8.0 times as much Ir as all functions: the" in done.stdout
    whole = tmp_path / "whole"
    whole.write_text("events: Ir\nfl=a.c\nfn=main\n1 100\ncfn=f\ncalls=1 1\n2 700\nfn=f\n10 700\n")
    assert "Shares" not in run_anywhere("--width=80", whole).stdout
