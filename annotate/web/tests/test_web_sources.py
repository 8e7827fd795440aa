# SPDX-License-Identifier: GPL-2.0-or-later
"""The web report's sources: packages, types, unit tests, and the built file bit by bit."""

from web_pages import BUILT, WEB, node, run


def test_the_lock_file_names_no_host():
    """The lock file does not name the server that the packages came from: others get them elsewhere."""
    text = (WEB / "package-lock.json").read_text()
    assert "://" not in "".join(line for line in text.splitlines() if '"url"' not in line)


def test_types(workshop):
    result = run("node", "node_modules/typescript/bin/tsc", "-p", ".", cwd=workshop)
    assert result.returncode == 0, result.stdout


def test_units(workshop):
    tests = sorted(path.relative_to(workshop) for path in workshop.glob("tests/*.test.ts"))
    node(workshop, "node_modules/esbuild/bin/esbuild", *tests, "--bundle", "--platform=node", "--format=esm",
         "--log-level=warning", "--outdir=units", "--out-extension:.js=.mjs")
    node(workshop, "--test", *(f"units/{path.stem}.mjs" for path in tests))


def test_the_built_page_is_that_of_the_sources(workshop):
    node(workshop, "build.mjs", "rebuilt.html")
    assert (workshop / "rebuilt.html").read_bytes() == BUILT.read_bytes(), (
        "annotate/bdannotate/html/report.html is not what annotate/web makes: see docs/web-report.md"
    )
