# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs of functions and of paths for Graphviz, and Graphviz on them."""

import re
import shutil
import subprocess

import pytest

from bdannotate.reading.parser import parse_text

from context_files import ContextFile
from exporting import HELPER, ROOT, exported, run


def test_the_graph_leaves_out_what_is_below_the_threshold():
    profile = parse_text(HELPER.read_text())
    all_of_it = exported(profile, "dot", ("Ir",), 0)
    assert len(re.findall(r"^  n\d+ \[", all_of_it, re.MULTILINE)) == 6
    most = exported(profile, "dot", ("Ir",), 10)
    assert len(re.findall(r"^  n\d+ \[", most, re.MULTILINE)) == 5
    assert r'[label="columns\n50.0k (50.0%) with callees\n10.0k (10.0%) itself"' in most
    assert r'[label="40.0k (40.0%)\n8,000 calls", penwidth=2.60]' in most


def test_calls_within_recursion_have_no_cost_in_the_graph():
    profile = parse_text((ROOT / "tests" / "profiles" / "recursion.out").read_text())
    assert re.search(r'n\d -> n\d \[label="\d+ calls?", style=dashed\]', exported(profile, "dot"))


def test_the_graph_of_contexts_has_a_node_for_each_path(tmp_path):
    """main calls f and g, which calls f: of 100 in all, 40 by one path and 55 by the other."""
    functions = [("", "a.c", 1, name) for name in ("main", "f", "g")]
    nodes = [
        (0, 0, 0, (0,)), (1, 1, 0, (4,)), (2, 2, 7, (40,)), (2, 3, 1, (1,)), (3, 2, 3, (55,)),
    ]
    path = tmp_path / "p"
    path.write_text("events: Ir\nfl=a.c\nfn=main\n1 4\nfn=f\n1 95\nfn=g\n1 1\n")
    (tmp_path / "contexts.p").write_bytes(
        ContextFile(["Ir"], functions, ["thread 1"], nodes).bytes()
    )
    drawn = run(path, "--export=dot-contexts", "--threshold=20").stdout
    assert re.findall(r'^  n(\d) \[label="([^\\]*)\\n(\S+) ', drawn, re.MULTILINE) == [
        ("0", "thread 1", "100"), ("1", "main", "100"), ("2", "f", "40"), ("3", "g", "56"),
        ("4", "f", "55"),
    ]
    assert re.findall(r'^  n(\d) -> n(\d) \[label="([^"]*)"', drawn, re.MULTILINE) == [
        ("0", "1", ""), ("1", "2", "7 calls"), ("1", "3", "1 call"), ("3", "4", "3 calls"),
    ]
    (tmp_path / "contexts.p").unlink()
    refused = run(path, "--export=dot-contexts")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "needs a context tree beside each profile" in refused.stderr


def test_graphviz_draws_the_graph(tmp_path):
    if not shutil.which("dot"):
        pytest.skip("dot is missing; on Debian: apt-get install graphviz")
    for name in ('fetch "quoted" \\ <b>', "fetch\\n", 'fetch"];n0->n0;'):
        profile = parse_text(HELPER.read_text().replace("fetch", name))
        drawn = subprocess.run(
            ["dot", "-Tplain"], input=exported(profile, "dot", ("Ir",), 0), capture_output=True,
            text=True, check=True,
        )
        assert drawn.stderr == ""
        assert len(re.findall(r"^node ", drawn.stdout, re.MULTILINE)) == 6
        assert len(re.findall(r"^edge ", drawn.stdout, re.MULTILINE)) == 7
