# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts of profiles for formats that only allow Unicode."""

from __future__ import annotations


def unicode_text(text: str) -> str:
    """The text with U+FFFD for bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
