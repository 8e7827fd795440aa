# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds guest programs and their inputs, once: what exists for the same recipe is kept."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bdbench import sources
from bdbench.model import Absent, BenchError

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"

_COMPILE_JOBS = 2
_LANGUAGE_FLAGS = {".c": ("-std=gnu11",), ".cpp": ("-std=c++20",)}
_COMMON_FLAGS = ("-g", "-Wall", "-Wextra")


class Workshop:
    """A folder of finished things, each in a subfolder named by a digest of its recipe."""

    def __init__(self, folder: Path, scale: float) -> None:
        self._folder = folder
        self._scale = scale

    def scaled(self, amount: int) -> int:
        """An amount of work of the default scale, at this scale."""
        return max(1, round(amount * self._scale))

    def program(self, source_name: str) -> str:
        """The compiled guest program of this source file."""
        source = PROGRAMS / source_name
        command = (
            *_compiler(source.suffix),
            "-O2",
            *_LANGUAGE_FLAGS[source.suffix],
            *_COMMON_FLAGS,
            "-pthread",
        )

        def build(folder: Path) -> None:
            _run_compiler((*command, "-o", str(folder / source.stem), str(source), "-lm"))

        recipe = repr(command).encode() + source.read_bytes()
        return str(self._finished(recipe, build) / source.stem)

    def functions_program(self, count: int) -> str:
        """The generated program of `count` functions; 100,000 take a minute or two to compile."""
        command = (*_compiler(".c"), "-O1", *_LANGUAGE_FLAGS[".c"], *_COMMON_FLAGS)

        def build(folder: Path) -> None:
            paths = sources.write_function_sources(folder / "source", count)
            objects = [path.with_suffix(".o") for path in paths]

            def compile_one(path: Path, target: Path) -> None:
                _run_compiler((*command, "-c", "-o", str(target), str(path)))

            with ThreadPoolExecutor(_COMPILE_JOBS) as pool:
                for _ in pool.map(compile_one, paths, objects):
                    pass
            _run_compiler((*command, "-o", str(folder / "functions"), *map(str, objects)))
            shutil.rmtree(folder / "source")

        recipe = repr((command, count)).encode() + Path(sources.__file__).read_bytes()
        return str(self._finished(recipe, build) / "functions")

    def compiler_input(self, functions: int) -> Path:
        """A preprocessed C file."""

        def build(folder: Path) -> None:
            sources.write_compiler_input(folder / "input.i", functions)

        recipe = f"input {functions} ".encode() + Path(sources.__file__).read_bytes()
        return self._finished(recipe, build) / "input.i"

    def text(self, size_bytes: int) -> Path:
        """Prose of made-up words, as often as words of that rank are in natural language."""

        def build(folder: Path) -> None:
            _write_text(folder / "text", size_bytes)

        recipe = f"text {size_bytes} ".encode() + Path(__file__).read_bytes()
        return self._finished(recipe, build) / "text"

    def script(self, content: str) -> Path:
        """A file with this content."""

        def build(folder: Path) -> None:
            (folder / "script").write_text(content, encoding="ascii")

        return self._finished(content.encode(), build) / "script"

    def _finished(self, recipe: bytes, build: Callable[[Path], None]) -> Path:
        folder = self._folder / hashlib.sha256(recipe).hexdigest()[:16]
        if folder.is_dir():
            return folder
        # An interrupted build must not pass for a finished one: rename when all is there.
        unfinished = self._folder / f"unfinished-{os.getpid()}"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        try:
            build(unfinished)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return folder


def installed(name: str) -> str:
    """The path of a program of the distribution, never of a user's own installation."""
    path = shutil.which(name, path="/usr/bin:/bin")
    if path is None:
        raise Absent(f"{name} is not installed")
    return path


def compiler_proper() -> str:
    """The path of gcc's cc1."""
    gcc = installed("gcc")
    found = subprocess.run(
        (gcc, "-print-prog-name=cc1"), capture_output=True, text=True, check=False
    ).stdout.strip()
    if not os.path.isabs(found):
        raise Absent("gcc has no cc1")
    return found


def _compiler(suffix: str) -> tuple[str, ...]:
    name = os.environ.get("CXX", "c++") if suffix == ".cpp" else os.environ.get("CC", "cc")
    return tuple(name.split())


def _run_compiler(command: tuple[str, ...]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise BenchError(f"there is no compiler '{command[0]}'") from None
    if done.returncode != 0:
        raise BenchError(f"'{' '.join(command)}' failed:\n{done.stderr.rstrip()}")


def _write_text(path: Path, size_bytes: int) -> None:
    choose = random.Random(size_bytes)
    syllables = [c + v for c in "bcdfghklmnprstvw" for v in ("a", "e", "i", "o", "u", "ou", "ee")]
    words = [
        "".join(choose.choices(syllables, k=1 + int(choose.random() * 4))) for _ in range(8000)
    ]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    written = 0
    line = ""
    with path.open("w", encoding="ascii") as out:
        while written < size_bytes:
            for word in choose.choices(words, weights, k=400):
                if choose.random() < 0.08:
                    word += "."
                if len(line) + len(word) > 80:
                    written += out.write(line + "\n")
                    line = word
                else:
                    line = f"{line} {word}" if line else word
