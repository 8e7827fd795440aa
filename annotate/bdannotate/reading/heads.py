# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the head of a profile, without its costs."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.errors import FormatProblem, ProfileError
from .blocks import display_name, line_blocks
from .headers import Headers, is_known, split_header
from .progress import Progress


@dataclass(frozen=True, slots=True)
class FileHead:
    source: str
    headers: Headers

    def described(self, name: str) -> str:
        """The text of a desc: line; empty if there is none of this name."""
        return next((text for key, text in self.headers.descriptions if key == name), "")


def read_head(path: str) -> FileHead:
    """The head of the first part. UserError: the file cannot be read, or its head is malformed."""
    headers = Headers()
    number = 0
    try:
        for lines in line_blocks(path, Progress("", enabled=False)):
            for text in lines:
                number += 1
                if not text or text.isspace() or text.startswith("#"):
                    continue
                header = split_header(text)
                if header is None or not is_known(header[0]):
                    return _whole(path, headers)
                headers.read(*header, number)
    except FormatProblem as problem:
        raise ProfileError(display_name(path), number, str(problem)) from None
    return _whole(path, headers)


def _whole(path: str, headers: Headers) -> FileHead:
    if not headers.events:
        raise ProfileError(display_name(path), 0, "this is not a profile in callgrind or Cachegrind format")
    return FileHead(display_name(path), headers)
