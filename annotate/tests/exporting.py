# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of exports have in common: profiles, their export, and the context trees beside them."""

import pathlib

from hypothesis import strategies as st

from bdannotate.exports.formats import FORMATS
from bdannotate.exports.request import make_request
from bdannotate.model.frames import Position
from bdannotate.model.merge import Renaming
from bdannotate.reading.load import load_contexts as load_renamed
from bdannotate.reading.parser import parse_text

from annotating import bd_annotate
from context_files import ContextFile, of_paths

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILES = sorted((ROOT / "tests" / "profiles").glob("*.out"))
HELPER = ROOT / "tests" / "profiles" / "helper.out"
seeds = st.integers(0, 2**32)


def load_contexts(path):
    found = load_renamed(str(path), parse_text(path.read_text()), Renaming((), ()))
    assert found.note == ""
    return found.tree


def exported(profile, form, events=(), threshold=1.0):
    return "".join(FORMATS[form].pieces(make_request(profile, events, threshold)))


def run(*arguments):
    return bd_annotate(*arguments, text=True)


def with_tree(folder, trace, recursion="apart", **more):
    """The profile of a trace with its context tree beside it."""
    path = folder / "bdgrind.out.1"
    path.write_text(trace.text(0))
    tree = of_paths(["Ir", "X"], trace.contexts, recursion, **more)
    (folder / "contexts.bdgrind.out.1").write_bytes(tree.bytes())
    return path


INLINED = """events: Ir Dr
positions: instr line
ob=/bin/program
fl=a.c
fn=main
0x10 3 5 1
0x14 3 2 0
0x18 7 1 0
cfn=f
calls=2 0x40 9
0x18 7 8 6
fi=h.h
0x1c 50 30 2
fe=a.c
fn=f
0x40 9 8 6
totals: 46 9
"""
# Of main's instructions, two of line 3 are its own; the call is in inner, inlined into outer,
# which main calls in line 4; and 0x1c is in outer itself.
CHAINS = {"/bin/program": {
    0x18: (Position("main", "a.c", 4), Position("outer", "h.h", 40), Position("inner", "h.h", 7)),
    0x1C: (Position("main", "a.c", 4), Position("outer", "h.h", 50)),
}}


def inlined_request(form, tmp_path, sites=True):
    """main calls f from one place."""
    functions = [("/bin/program", "a.c", 2, "main"), ("/bin/program", "a.c", 9, "f")]
    nodes = [
        (0, 0, 0, (0, 0)), (1, 1, 1, (38, 3)), (2, 2, 2, (8, 6)),
    ]
    if sites:
        places = [("", 0, 0), ("", 0, 0), ("h.h", 7, 0x18)]
        nodes = [(*node, place) for node, place in zip(nodes, places)]
    path = tmp_path / "p"
    path.write_text(INLINED)
    tree = ContextFile(["Ir", "Dr"], functions, ["thread 1"], nodes)
    (tmp_path / "contexts.p").write_bytes(tree.bytes())
    profile = parse_text(INLINED)
    return make_request(profile, ("Ir", "Dr"), 0, load_contexts(path), chains=CHAINS)
