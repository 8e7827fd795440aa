# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the system tests: they run the tool in place, as the build folder has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("part_files")

from harness import VALGRIND, Run, run_tool  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The file that takes by far the longest is first, so that no processor waits for it at the end.
    items.sort(key=lambda item: item.path.name != "test_repairs.py")
    if not VALGRIND.exists():
        missing = pytest.mark.skip(reason=f"{VALGRIND.name} is missing: run make, then make check")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(missing)


@pytest.fixture(autouse=True, scope="session")
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """bd_annotate keeps nothing of what it reads outside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Run]:
    def run_here(*arguments: object, **options: object) -> Run:
        return run_tool(tmp_path, *arguments, **options)  # type: ignore[arg-type]

    return run_here
