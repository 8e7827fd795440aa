# SPDX-License-Identifier: GPL-2.0-or-later
"""What all forms of other programs have in common: how one is asked for, and mistakes."""

import pytest

from bdannotate.exports.request import make_request
from bdannotate.model.errors import UserError
from bdannotate.reading.parser import parse_text

from exporting import HELPER, exported, run


def test_code_without_a_name_has_its_objects():
    profile = parse_text("events: Ir\nob=/lib/a.so\nfl=???\nfn=0x0000000000000500\n1 9\n")
    for form in ("folded", "dot", "speedscope"):
        assert "a.so+0x500" in exported(profile, form, ("Ir",), 1)
    assert "fn=(1) 0x0000000000000500\n" in exported(profile, "callgrind", ("Ir",), 1)


@pytest.mark.parametrize("arguments, message", [
    (["--export=callgrind", "--events=Foo"], "event 'Foo' is unknown or a ratio; known are Ir Dr"),
    (["--export=callgrind", "--events=D1rate"], "event 'D1rate' is unknown or a ratio"),
    (["--export=callgrind", "--events=Ir,Ir"], "--events names an event twice"),
    (["--export=folded", "--events=Ir,Dr"], "--export=folded has room for one event"),
    (["--export=callgrind", "-o", "/missing/x"], "/missing/x: No such file or directory"),
    (["--export=callgrind", "-o", "/dev/full"], "/dev/full: No space left on device"),
    (["--export=nothing"], "invalid choice: 'nothing'"),
    (["--export=pprof"], "--export=pprof is not text: name a file with -o"),
    (["--events=Ir"], "--events is for --export"),
    (["-o", "x"], "--output is for --export"),
    (["--export=dot", "--hints"], "--hints cannot be combined with --export"),
    (["--export=dot", "--format=json"], "--format cannot be combined with --export"),
])
def test_mistakes_are_one_sentence(arguments, message):
    result = run(HELPER, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_the_default_event_is_that_of_the_report():
    profile = parse_text(HELPER.read_text())
    assert make_request(profile, (), 1).metrics[0].name == "SpLoss1"
    of_data = parse_text("events: Ir SpLoss1 SpLossD1\nfn=f\n1 1 2 3\n")
    assert make_request(of_data, (), 1).metrics[0].name == "SpLossD1"
    with pytest.raises(UserError):
        make_request(profile, ("Unused1",), 1)
