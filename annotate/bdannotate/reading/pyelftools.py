# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds pyelftools. A python3 of pyenv, conda or a virtual environment does not see the system's package
python3-pyelftools, which works there, too, as it is pure Python."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

from bdcommon.regular_files import is_regular_file

from ..model.errors import UserError, shorten

_PACKAGE = "elftools"
_SYSTEM_PYTHON = "/usr/bin/python3"
_SECONDS = 20  # to start that Python
_WHERE = f"import {_PACKAGE}; print({_PACKAGE}.__path__[0])"


def require_pyelftools() -> None:
    """Makes pyelftools importable. UserError, to follow "types are not known:", if it is missing or does not work."""
    try:
        try:
            importlib.import_module(f"{_PACKAGE}.elf.elffile")
        except ImportError:
            if not _take_systems():
                raise
            importlib.import_module(f"{_PACKAGE}.elf.elffile")
    except ImportError:
        mine = sys.executable or "this Python"
        is_systems = os.path.realpath(mine) == os.path.realpath(_SYSTEM_PYTHON)
        lack = f"which {shorten(mine)} does not have"
        if not is_systems:
            lack = f"which neither {shorten(mine)} nor {_SYSTEM_PYTHON} has"
        raise UserError(f"that needs pyelftools (package python3-pyelftools), {lack}") from None
    except Exception as error:  # a damaged installation may raise anything
        reason = shorten(str(error) or type(error).__name__)
        raise UserError(f"pyelftools does not work ({reason})") from None


def _take_systems() -> bool:
    """Imports the system's package, and no other package of the system. Returns whether this worked."""
    if _PACKAGE in sys.modules or not is_regular_file(_SYSTEM_PYTHON):
        return False
    try:
        asked = subprocess.run(
            [_SYSTEM_PYTHON, "-I", "-c", _WHERE], capture_output=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    folder = os.path.dirname(os.fsdecode(asked.stdout).rstrip("\n"))
    spec = importlib.machinery.PathFinder.find_spec(_PACKAGE, [folder]) if folder else None
    if spec is None or spec.loader is None:
        return False
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    return True
