# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of counts, shares and differences for readers."""

from __future__ import annotations

from .metrics import Metric, Number

_WHOLE = 1.0005  # the largest share that is rounded to 100.0%
_UNITS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


def short_count(value: Number) -> str:
    """A count with three digits and a unit (k, M, G or T); whole numbers up to 9,999 are exact."""
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
    """A time in seconds as a text with three digits, such as 1.23 s or 45.6 ms."""
    for unit, name in _TIMES:
        if abs(value) >= unit * 0.9995:
            scaled = value / unit
            digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
            return f"{scaled:,.{digits}f} {name}"
    return f"{value * 1e9:.0f} ns" if value else "0"


def signed(text: str) -> str:
    """A difference with its sign, unless it is 0 at the digits shown."""
    if not text.strip("-0.%"):
        return text.lstrip("-")
    return text if text.startswith("-") else "+" + text


def percent(part: Number, whole: Number) -> str:
    """A part in percent of the whole; "-" if that is 0."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def share_of(value: Number, total: Number) -> str:
    """A value in percent of a total; ">100%" if it is more, as if a file's calls cost more than all that is in it. "-"
    if the total is not positive, as when costs cancel each other out, or if the value is negative."""
    if total <= 0 or value < 0:
        return "-"
    share = value / total
    return ">100%" if share > _WHOLE else f"{100 * share:.1f}%"


def ratio(metric: Metric, value: Number | None) -> str:
    """The value of a ratio, in percent if it is a share; "-" for None."""
    if value is None:
        return "-"
    if metric.is_share:
        return f"{100 * value:.1f}%"
    return f"{value:.1f}" if abs(value) < 10_000 else short_count(value)


def counted(number: int, what: str) -> str:
    """A number of things. what: the singular, whose plural must have an s."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def bytes_text(number: int) -> str:
    """A number of bytes as a text."""
    return "1 byte" if number == 1 else f"{number:,} bytes"


_BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def size_text(size: int) -> str:
    """The size of a cache in bytes as a text, such as 32 KiB; or 1.2 MiB, if it is not a multiple of the unit."""
    for unit, name in _BINARY:
        if size >= unit:
            scaled = size / unit
            return f"{scaled:.0f} {name}" if scaled >= 10 or size % unit == 0 else f"{scaled:.1f} {name}"
    return f"{size} B"
