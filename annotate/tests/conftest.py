# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the package importable, whether or not it is installed; and what tests of several files need."""

import pathlib
import pickle
import sys

import pytest
from hypothesis import settings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

# Examples are the same in every run, and nothing is written beside the sources.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.load_profile("fixed")


@pytest.fixture(autouse=True, scope="session")
def fixture_own_cache_folder(tmp_path_factory):
    """Nothing of what is read is kept outside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(name="elftools")
def fixture_elftools():
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")


@pytest.fixture(name="own_process")
def fixture_own_process():
    """Debug information is read in a process of its own, as bd_annotate does it, also where `in_this_process` holds."""


@pytest.fixture(name="in_this_process")
def fixture_in_this_process(request, monkeypatch):
    """Debug information, which must be sound, is read in this process: to make another one takes longer than that."""
    if "own_process" not in request.fixturenames:
        from bdannotate.reading import debug_types

        monkeypatch.setattr(debug_types, "bounded", lambda work, _: pickle.loads(pickle.dumps(work())))
