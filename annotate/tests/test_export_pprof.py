# SPDX-License-Identifier: GPL-2.0-or-later
"""The pprof form, taken apart here, and read by pprof."""

import gzip
import os
import re
import shutil
import subprocess

import pytest

from bdannotate.exports.formats import FORMATS
from bdannotate.exports.request import make_request
from bdannotate.reading.parser import parse_text

from context_files import ContextFile
from exporting import HELPER, inlined_request, run


def fields(data):
    """Keys and values of a message of protocol buffers: numbers and bytes."""
    def varint():
        nonlocal at
        found = shift = 0
        while True:
            byte = data[at]
            at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    at, result = 0, {}
    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at += value
            value = data[at - value : at]
        else:
            assert key & 7 == 0
        result.setdefault(key >> 3, []).append(value)
    return result


def unpacked(data):
    found, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(number)
            number = shift = 0
    return found


def test_the_pprof_form_has_all_events_and_the_lines_of_calls(tmp_path):
    """main calls f twice, from lines 7 and 8."""
    functions = [("/bin/program", "a.c", 3, "main"), ("/bin/program", "b.c", 40, "f")]
    nodes = [
        (0, 0, 0, (0, 0), ("", 0, 0)), (1, 1, 1, (300, 1), ("", 0, 0)),
        (2, 2, 1, (20, 0), ("a.c", 7, 0)), (2, 2, 2, (1, 128), ("a.c", 8, 0)),
    ]
    path = tmp_path / "p"
    path.write_text("events: Ir Dr\nob=/bin/program\nfl=a.c\nfn=main\n3 300 1\nfl=b.c\nfn=f\n1 21 128\n")
    tree = ContextFile(["Ir", "Dr"], functions, ["thread 1"], nodes)
    (tmp_path / "contexts.p").write_bytes(tree.bytes())
    target = tmp_path / "p.pb.gz"
    assert run(path, "--export=pprof", "-o", target).stderr == ""
    again = tmp_path / "again.pb.gz"
    run(path, "--export=pprof", "-o", again)
    assert again.read_bytes() == target.read_bytes()

    profile = fields(gzip.decompress(target.read_bytes()))
    texts = [text.decode() for text in profile[6]]
    names = [texts[fields(each)[1][0]] for each in profile[1]]
    assert names == ["Ir", "Dr"] and texts[profile[14][0]] == "Ir"
    functions = {
        (found := fields(each))[1][0]: (texts[found[2][0]], texts[found[4][0]], found[5][0])
        for each in profile[5]
    }
    locations = {}
    for each in profile[4]:
        found = fields(each)
        line = fields(found[4][0])
        locations[found[1][0]] = (functions[line[1][0]], line.get(2, [0])[0])
    main, callee = ("main", "a.c", 3), ("f", "b.c", 40)
    samples = []
    for each in profile[2]:
        found = fields(each)
        samples.append(([locations[n] for n in unpacked(found[1][0])], unpacked(found[2][0])))
    assert samples == [
        ([(main, 0)], [300, 1]),
        ([(callee, 0), (main, 7)], [20, 0]),
        ([(callee, 0), (main, 8)], [1, 128]),
    ]
    assert [texts[fields(each)[5][0]] for each in profile[3]] == ["/bin/program"]


@pytest.mark.parametrize("main", ["main", "0x500"])
def test_what_pprof_takes_for_the_program(main):
    """The first object, which the dynamic linker's would be, as it runs first."""
    profile = parse_text(
        "cmd: program -x\nevents: Ir\nob=/lib/ld.so\nfl=???\nfn=0x9\n1 1\ncob=/bin/program\n"
        f"cfn={main}\ncalls=1 1\n1 2\nob=/bin/program\nfn={main}\n1 2\n"
    )
    data = b"".join(FORMATS["pprof"].pieces(make_request(profile, ("Ir",), 1)))
    message = fields(gzip.decompress(data))
    assert [message[6][fields(each)[5][0]] for each in message[3]] == [b"/bin/program", b"/lib/ld.so"]


def test_the_pprof_form_has_a_line_for_each_inlined_function(tmp_path):
    request = inlined_request("pprof", tmp_path)
    data = gzip.decompress(b"".join(FORMATS["pprof"].pieces(request)))
    profile = fields(data)
    texts = [text.decode() for text in profile[6]]
    names = {(found := fields(each))[1][0]: texts[found[2][0]] for each in profile[5]}
    locations = {
        (found := fields(each))[1][0]: [
            (names[(line := fields(part))[1][0]], line[2][0]) for part in found[4]
        ]
        for each in profile[4]
    }
    samples = [
        [locations[number] for number in unpacked(fields(each)[1][0])] for each in profile[2]
    ]
    assert [[("f", 9)], [("inner", 7), ("outer", 40), ("main", 4)]] in samples


def test_pprof_reads_its_form(tmp_path):
    if not shutil.which("go"):
        pytest.skip("go is missing; on Debian: apt-get install golang-go")
    path = tmp_path / "p.pb.gz"
    assert run(HELPER, "--export=pprof", "-o", path).stderr == ""
    profile = parse_text(HELPER.read_text())
    environment = {
        **os.environ, "HOME": str(tmp_path), "GOFLAGS": "-mod=mod", "GOCACHE": str(tmp_path / "go"),
        "GOTOOLCHAIN": "local", "PPROF_TMPDIR": str(tmp_path),
    }

    def shown(*options):
        words = ["go", "tool", "pprof", *options, str(path)]
        return subprocess.run(
            words, capture_output=True, text=True, env=environment, check=True, timeout=60
        ).stdout

    kinds = re.search(r"^Samples:\n(.*)$", shown("-raw"), re.MULTILINE)[1].split()
    main = "SpLoss1/bytes[dflt]"
    assert kinds[0] == main
    assert sorted(kind.partition("/")[0] for kind in kinds) == sorted(profile.events)
    top = shown("-top", "-sample_index=Ir", "-unit=count", "-nodefraction=0")
    # As in the folded form: fetch has 40,000 + 8,000 + 30,000 below its three callers.
    assert re.search(r"^ +78000 78\.00% .* fetch$", top, re.MULTILINE), top
    assert re.search(r"100000 total", top)
