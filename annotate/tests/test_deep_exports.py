# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports of deep trees: linear where the form shares what paths have in common, a sentence where it would be too
much elsewhere."""

import json
import resource

import pytest
from bdannotate.exports.folded import folded_bytes
from bdannotate.exports.formats import FORMATS
from bdannotate.exports.request import make_request
from bdannotate.model.errors import UserError
from bdannotate.reading.contexts import read_contexts
from bdannotate.reading.parser import parse_text
from context_files import ContextFile

NAME = "f" * 50


def request(folder, depth):
    """So many functions, of which each calls the next one and costs 1; recursion is apart."""
    path = folder / "contexts.x"
    nodes = [(0, 0, 0, (0,)), *((level, 1, 1, (1,)) for level in range(1, depth + 1))]
    path.write_bytes(ContextFile(("Ir",), [("a", "a.c", 1, NAME)], ["thread 1"], nodes, "apart", 8000).bytes())
    profile = parse_text(f"events: Ir\nob=a\nfl=a.c\nfn={NAME}\n1 {depth}\n")
    return make_request(profile, ("Ir",), 0.5, read_contexts(str(path)))


def work(form, folder, depth):
    """Processor time in seconds, the least of some."""
    made = request(folder, depth)
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        pieces = list(FORMATS[form].pieces(made))
        times.append(resource.getrusage(resource.RUSAGE_SELF).ru_utime - before)
    return min(times), pieces


def test_shared_paths_take_as_long_as_the_tree_is_large(tmp_path):
    small, _ = work("firefox", tmp_path, 2_000)
    large, pieces = work("firefox", tmp_path, 16_000)
    assert large < 8 * 3 * max(small, 0.01)  # the square would be 64 times
    document = json.loads("".join(pieces))
    offsets = document["shared"]["stackTable"]["prefixOffset"]
    assert offsets == [0, *[1] * 15_999]
    assert document["threads"][0]["samples"]["stack"] == list(range(16_000))


@pytest.mark.parametrize("form", ["folded", "speedscope", "pprof"])
def test_whole_paths_of_a_deep_tree_are_refused(form, tmp_path):
    with pytest.raises(UserError, match="use --export=firefox"):
        list(FORMATS[form].pieces(request(tmp_path, 12_000)))


def test_the_size_of_folded_stacks_is_known_before(tmp_path):
    made = request(tmp_path, 700)
    written = sum(len(piece.encode()) for piece in FORMATS["folded"].pieces(made))
    assert folded_bytes(made) == written == sum(depth * 51 + 2 for depth in range(1, 701))
    assert "MiB" not in FORMATS["folded"].note(made)
    assert "--export=folded is 97 MiB" in FORMATS["folded"].note(request(tmp_path, 2_000))
