# SPDX-License-Identifier: GPL-2.0-or-later
"""--format=sarif: hints and hot lines for code scanning and editors."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from annotating import bd_annotate
from screens import HEAD, HELPER, ROOT, call, screen, use


def body(file):
    return (
        f"ob=/home/me/program\nfl={file}\nfn=main\n1 1\n"
        + call("fill", use(7000, 16, 2), file, "/home/me/program")
        + f"fn=fill\n5 {use(6000, 16, 2)}\n7 {use(1000, 16, 2)}\n"
    )


def sarif_of(tmp_path, text, *arguments):
    return json.loads(screen(tmp_path, text, "--format=sarif", *arguments))


def results(shape, rule):
    return [result for result in shape["runs"][0]["results"] if result["ruleId"] == rule]


def where(location):
    place = location["physicalLocation"]
    return place["artifactLocation"]["uri"], place["region"]["startLine"]


def test_a_hint_is_a_warning_at_its_worst_line(tmp_path):
    shape = sarif_of(tmp_path, body("/home/me/main.c"))
    assert shape["version"] == "2.1.0"
    (hint,) = results(shape, "bdgrind/hint")
    assert hint["level"] == "warning"
    assert [where(one) for one in hint["locations"]] == [("file:///home/me/main.c", 5)]
    assert [where(one) for one in hint["relatedLocations"]] == [("file:///home/me/main.c", 7)]
    assert hint["message"]["text"].startswith("fill: 336k bytes were loaded into L1 and never used, 100% of")


def test_costly_lines_are_notes(tmp_path):
    lines = results(sarif_of(tmp_path, body("/home/me/main.c")), "bdgrind/hot-line")
    assert [where(line["locations"][0])[1] for line in lines] == [5, 7]
    assert {line["level"] for line in lines} == {"note"}
    # 48 bytes of 6,000 of 7,000 lines.
    assert "288k (85.7%) of SpLoss1" in lines[0]["message"]["text"]


def test_files_of_the_checkout_have_relative_names(tmp_path):
    source = tmp_path / "a folder" / "main.c"
    shape = sarif_of(tmp_path, body(str(source)))
    location = results(shape, "bdgrind/hint")[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "a%20folder/main.c", "uriBaseId": "SRCROOT"}
    root = shape["runs"][0]["originalUriBaseIds"]["SRCROOT"]["uri"]
    assert root == f"file://{os.path.realpath(tmp_path)}/"


def test_a_name_that_climbs_out_is_absolute(tmp_path):
    shape = sarif_of(tmp_path, body("../main.c"))
    for line in results(shape, "bdgrind/hot-line"):
        uri, _ = where(line["locations"][0])
        assert uri == f"file://{os.path.realpath(tmp_path.parent)}/main.c"


def test_rules_are_those_of_the_results(tmp_path):
    run = sarif_of(tmp_path, body("/home/me/main.c"))["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def test_what_costs_little_is_no_result(tmp_path):
    """Below the threshold of the text."""
    text = body("/home/me/main.c") + f"9 {use(60, 16, 2)}\n"
    assert [where(line["locations"][0])[1] for line in results(sarif_of(tmp_path, text), "bdgrind/hot-line")] == [5, 7]


def test_a_profile_without_cache_use_has_lines_only(tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text("version: 1\nevents: Ir\nfl=/home/me/main.c\nfn=main\n3 10\n")
    shape = json.loads(bd_annotate("--format=sarif", path, check=True).stdout)
    assert [where(one["locations"][0]) for one in shape["runs"][0]["results"]] == [("file:///home/me/main.c", 3)]


def test_other_views_are_refused(tmp_path):
    path = tmp_path / "out"
    path.write_text(HEAD + body("/home/me/main.c"))
    for view in ("--tree=both", "--objects", "--totals"):
        result = bd_annotate("--format=sarif", view, path, text=True)
        assert result.returncode == 2 and "cannot be combined with --format=sarif" in result.stderr


def test_it_is_for_reports(tmp_path):
    path = tmp_path / "out"
    path.write_text(HEAD + body("/home/me/main.c"))
    result = bd_annotate("--format=sarif", "--diff", path, path, text=True)
    assert (result.returncode, result.stderr) == (2, "bd_annotate: --format=sarif cannot be combined with --diff\n")


def package_of_reader():
    """Microsoft's reader, with the schema, from npm."""
    npm = shutil.which("npm")
    root = npm and subprocess.run([npm, "root", "-g"], capture_output=True, text=True).stdout.strip()
    package = pathlib.Path(root or "/nowhere", "@microsoft", "sarif-multitool-linux")
    if not package.is_dir():
        pytest.skip("a reader of SARIF is missing; with node: npm install -g @microsoft/sarif-multitool-linux")
    return package


FILES = ("/home/me/main.c", "main.c", "/home/me/\udcff <a>%41.c")


def written(tmp_path, file):
    path = tmp_path / "bdgrind.out.1"
    path.write_bytes((HEAD + body(file)).encode("utf-8", "surrogateescape"))
    command = [sys.executable, ROOT / "bd_annotate", "--format=sarif", path]
    report = tmp_path / "report.sarif"
    report.write_bytes(subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout)
    return report


@pytest.mark.parametrize("file", FILES)
def test_it_is_as_the_schema_says(tmp_path, file):
    jsonschema = pytest.importorskip(
        "jsonschema", reason="jsonschema is missing; on Debian: apt-get install python3-jsonschema"
    )
    text = (package_of_reader() / "sarif-2.1.0.json").read_text(encoding="utf-8-sig")
    shape = json.loads(written(tmp_path, file).read_text())
    check = jsonschema.Draft7Validator(json.loads(text))
    assert [error.message for error in check.iter_errors(shape)] == []
    shape["runs"][0]["results"][0]["level"] = "fatal"
    assert not check.is_valid(shape)


@pytest.mark.parametrize("file", FILES)
def test_a_reader_finds_the_results(tmp_path, file):
    report = written(tmp_path, file)
    command = [package_of_reader() / "Sarif.Multitool", "query", report, "-e"]
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    for rule, number in (("bdgrind/hint", 1), ("bdgrind/hot-line", 2)):
        result = subprocess.run(
            [*command, f"RuleId == '{rule}'"], capture_output=True, text=True, env=environment
        )
        assert f"Found {number} of 3 results" in result.stdout


def test_the_helper_is_read_without_a_reader():
    shape = json.loads(bd_annotate("--format=sarif", HELPER, check=True).stdout)
    assert results(shape, "bdgrind/hint") and results(shape, "bdgrind/hot-line")
