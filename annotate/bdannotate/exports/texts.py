# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts of profiles in forms that have no place for bytes that are no text."""

from __future__ import annotations


def unicode_text(text: str) -> str:
    """Bytes that were not UTF-8 are U+FFFD."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
