# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts, shares and differences as people read them."""

from __future__ import annotations

from .metrics import Metric, Number

_WHOLE = 1.0005  # as rounded
_UNITS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


def short_count(value: Number) -> str:
    """Three digits and a unit of thousands; up to 9,999 exactly."""
    if abs(value) < 10_000:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    for unit, suffix in _UNITS:
        if abs(value) >= unit * 0.9995:
            scaled = value / unit
            digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
            return f"{scaled:.{digits}f}{suffix}"
    return f"{value:,}"


_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def seconds_text(value: Number) -> str:
    """Three digits, as 1.23 s or 45.6 ms."""
    for unit, name in _TIMES:
        if abs(value) >= unit * 0.9995:
            scaled = value / unit
            digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
            return f"{scaled:,.{digits}f} {name}"
    return f"{value * 1e9:.0f} ns" if value else "0"


def signed(text: str) -> str:
    """A difference with its sign, unless it is none at the digits shown."""
    if not text.strip("-0.%"):
        return text.lstrip("-")
    return text if text.startswith("-") else "+" + text


def percent(part: Number, whole: Number) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def share_of(value: Number, total: Number) -> str:
    """In percent. A total of costs that outweigh each other has no shares; nor is a share above all of it one, as
    where a file's calls cost more than what is in it."""
    if total <= 0 or value < 0:
        return "-"
    share = value / total
    return ">100%" if share > _WHOLE else f"{100 * share:.1f}%"


def ratio(metric: Metric, value: Number | None) -> str:
    if value is None:
        return "-"
    if metric.is_share:
        return f"{100 * value:.1f}%"
    return f"{value:.1f}" if abs(value) < 10_000 else short_count(value)


def counted(number: int, what: str) -> str:
    """what: one of these; several have an s."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def bytes_told(number: int) -> str:
    return "1 byte" if number == 1 else f"{number:,} bytes"


_BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def size_text(size: int) -> str:
    """Of a cache, as 32 KiB, or 1.2 MiB between the powers of two."""
    for unit, name in _BINARY:
        if size >= unit:
            scaled = size / unit
            return f"{scaled:.0f} {name}" if scaled >= 10 or size % unit == 0 else f"{scaled:.1f} {name}"
    return f"{size} B"
