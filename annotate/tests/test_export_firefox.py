# SPDX-License-Identifier: GPL-2.0-or-later
"""Firefox Profiler's form, taken apart here, and read by its command line."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
from hypothesis import given

from bdannotate.exports.firefox import firefox
from bdannotate.exports.request import make_request
from bdannotate.reading.parser import parse_text

from exporting import HELPER, inlined_request, load_contexts, run, seeds, with_tree
from traces import Trace


def table_checked(table):
    assert {len(column) for name, column in table.items() if isinstance(column, list)} == {
        table["length"]
    }
    return table


def firefox_threads(document):
    """The thread's name, and the paths with their weights. Everything refers to what is there."""
    shared = document["shared"]
    texts = shared["stringArray"]
    places, frames, functions, sources, resources = (
        table_checked(shared[f"{name}"])
        for name in ("stackTable", "frameTable", "funcTable", "sources", "resourceTable")
    )
    table_checked(shared["nativeSymbols"])
    table_checked(shared["sourceLocationTable"])

    def function(number):
        resource, source = functions["resource"][number], functions["source"][number]
        return (
            texts[resources["name"][resource]] if resource >= 0 else "",
            "???" if source is None else texts[sources["filename"][source]],
            texts[functions["name"][number]],
        )

    paths = []
    for number, (frame, offset) in enumerate(zip(places["frame"], places["prefixOffset"])):
        assert 0 <= offset <= number
        around = paths[number - offset] if offset else ()
        depth = frames["inlineDepth"][frame]
        paths.append((*around, (function(frames["func"][frame]), frames["line"][frame], depth)))
    threads = []
    for thread in document["threads"]:
        samples = table_checked(thread["samples"])
        table_checked(thread["markers"])
        assert samples["time"] == sorted(samples["time"]) and samples["time"][0] == 0
        assert samples["time"][-1] < 1000
        assert len(set(samples["time"])) == samples["length"]
        threads.append((
            thread["name"], samples["weightType"],
            {paths[stack]: weight for stack, weight in zip(samples["stack"], samples["weight"])},
        ))
        assert len(threads[-1][2]) == samples["length"]
    return threads


@given(seeds)
def test_the_firefox_form_has_a_thread_per_event(seed):
    trace = Trace(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = with_tree(pathlib.Path(folder), trace)
        request = make_request(parse_text(path.read_text()), ("X", "Ir"), 0, load_contexts(path))
    document = json.loads("".join(firefox(request)))
    assert document["meta"]["preprocessedProfileVersion"] == 70
    for (name, _, found), event in zip(firefox_threads(document), (1, 0)):
        assert name.startswith(f"{'Ir X'.split()[event]}: ")
        assert {tuple(function for function, _, _ in path): cost for path, cost in found.items()} == {
            path: costs[event] for path, (_, costs) in trace.contexts.items() if costs[event]
        }


def test_the_firefox_form_tells_inlined_functions_by_their_depth(tmp_path):
    document = json.loads("".join(firefox(inlined_request("firefox", tmp_path))))
    (_, _, found), _ = firefox_threads(document)
    of_f = next(path for path in found if path[-1][0][2] == "f")
    assert [(function[2], line, depth) for function, line, depth in of_f] == [
        ("main", 4, 0), ("outer", 40, 1), ("inner", 7, 2), ("f", 9, 0),
    ]
    assert sum(found.values()) == 46


def test_firefox_profiler_reads_its_form(tmp_path):
    program = shutil.which("profiler-cli")
    if not program:
        pytest.skip("profiler-cli is missing; with node 24: npm install -g @firefox-devtools/profiler-cli")
    path = tmp_path / "profile.json"
    assert run(HELPER, "--export=firefox", "--events=Ir,SpLoss1", "-o", path).returncode == 0
    words = ["--session", "bdgrind"]
    # It asks a server, which it would start itself but gives half a second only.
    environment = {**os.environ, "HOME": str(tmp_path)}
    server = subprocess.Popen(
        [program, "--daemon", path, *words], env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )

    def asked(*question):
        return subprocess.run(
            [program, *question, *words], capture_output=True, text=True, timeout=60,
            env=environment,
        )

    try:
        end = time.monotonic() + 60
        while (threads := asked("thread", "list")).returncode != 0:
            assert server.poll() is None and time.monotonic() < end, threads.stderr
        assert "SpLoss1: " in threads.stdout
        for thread, total, fetch in (("t-0", 100_000, 78_000), ("t-1", 448_320, 448_320)):
            answer = asked("thread", "functions", "--thread", thread, "--json")
            assert answer.returncode == 0, answer.stderr
            known = {found["name"]: found for found in json.loads(answer.stdout)["functions"]}
            root = known["(below main)"]
            assert (root["totalSamples"], root["totalPercentage"]) == (total, 100)
            assert sum(
                found["selfSamples"] for name, found in known.items() if name.startswith("fetch")
            ) == fetch
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()
