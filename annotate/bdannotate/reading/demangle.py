# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns names for linkers into names as sources have them, if c++filt is installed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable

from bdcommon.auxiliary import ToolError, answer_of

_TOOL = "c++filt"
_SECONDS = 600
_MANGLED = re.compile(r"_[ZR][\w.$]+", re.ASCII)


def demangled(names: Iterable[str]) -> dict[str, str]:
    """The source names of those names that are from C++ or Rust. Empty if c++filt is missing or fails."""
    mangled = sorted({name for name in names if _MANGLED.fullmatch(name)})
    tool = shutil.which(_TOOL)
    if not mangled or tool is None:
        return {}
    try:
        text = answer_of([tool], "\n".join(mangled), _SECONDS)
    except ToolError:
        return {}
    found = text.removesuffix("\n").split("\n")
    return dict(zip(mangled, found)) if len(found) == len(mangled) else {}
