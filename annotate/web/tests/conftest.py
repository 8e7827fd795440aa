# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the page need: node and npm's packages, for the views also Chromium and Firefox. Each test that
asks for `browse` runs in both, and is skipped by name where one is missing."""

import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess

import pytest

from web_pages import BUILD, SECONDS, WEB, make_reports, run


@contextlib.contextmanager
def only_first(folder):
    """True in the first of the processes that share the tests of a run; the others wait until it is done."""
    run_of = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")
    with (folder / "made-for").open("a+") as stamp:
        fcntl.flock(stamp, fcntl.LOCK_EX)
        stamp.seek(0)
        yield not run_of or stamp.read() != run_of
        stamp.truncate(0)
        stamp.write(run_of)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """The sources with npm's packages beside them, in the build folder, where they stay for the next time."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node or npm is missing; on Debian: apt-get install nodejs npm")
    base = pathlib.Path(BUILD) / "annotate" if BUILD else tmp_path_factory.mktemp("web")
    folder = base / "web-build"
    folder.mkdir(parents=True, exist_ok=True)
    with only_first(folder) as first:
        if first:
            fill(folder)
    return folder


def fill(folder):
    for name in ("src", "tests"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for path in [*WEB.glob("*.*"), *WEB.glob(".npmrc"), *WEB.glob("src/**/*.*"), *WEB.glob("tests/*.*")]:
        if path.name != "package-lock.json":
            target = folder / path.relative_to(WEB)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)  # without its mode: the source folder may be read-only
    lock = (WEB / "package-lock.json").read_bytes()
    known = folder / "package-lock.json"
    if not (folder / "node_modules").is_dir() or not known.exists() or known.read_bytes() != lock:
        known.write_bytes(lock)
        result = run("npm", "ci", "--ignore-scripts", "--prefer-offline", cwd=folder)
        if result.returncode:
            known.unlink()
            pytest.skip(f"npm cannot get the packages: {result.stderr.strip()[-300:]}")


class Browser:
    """A browser that stays; each report is opened in it as if it had just been installed."""

    def __init__(self, workshop, kind, program):
        self.errors = (workshop / f"{kind}.log").open("w+")
        self.process = subprocess.Popen(
            ["node", "tests/browser.mjs", kind, program], cwd=workshop, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.errors,
        )

    def open(self, wanted):
        self.process.stdin.write(json.dumps(wanted) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        answer = self.process.stdout.readline() if ready else ""
        if not answer:
            self.process.kill()
            self.errors.seek(0)
            raise AssertionError(f"the browser does not answer: {self.errors.read()[-3000:]}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.errors.close()


PROGRAMS = {"chromium": ("chromium", "chromium-browser"), "firefox": ("firefox-esr", "firefox")}


@pytest.fixture(scope="session", params=PROGRAMS, name="browser")
def fixture_browser(request, workshop):
    program = next(filter(None, map(shutil.which, PROGRAMS[request.param])), None)
    if not program:
        name = PROGRAMS[request.param][0]
        pytest.skip(f"{name} is missing; on Debian: apt-get install {name}")
    browser = Browser(workshop, request.param, program)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def browse(browser):
    """Opens a report and does what the steps say; no error, no accessibility fault, nothing beside the window."""

    def go(report, steps, width=1280, scheme="light", old=False, opens=True):
        found = browser.open({
            "file": str(report), "width": width, "scheme": scheme, "old": old, "opens": opens, "steps": steps,
        })
        assert found.get("failed") is None, found["failed"]
        assert found["errors"] == []
        for step, result in zip(steps, found["results"]):
            assert result["violations"] == [], step
            assert result["overflow"] <= 0, step
        print(f"first picture after {found['ready']} ms")
        return [result["value"] for result in found["results"]]

    return go


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Reports of the fixtures' profiles, with a context tree beside one. No test changes them: all processes share
    them."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reports"
    folder.mkdir(exist_ok=True)
    with only_first(folder) as first:
        if first:
            make_reports(folder)
    return folder
