# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles that are estimates from bursts, see docs/sampling.md."""

from __future__ import annotations

from collections.abc import Sequence

from .profile import Part

SAMPLE = "Sample"


def is_estimate(parts: Sequence[Part]) -> bool:
    """Whether any of the parts is."""
    return any(name == SAMPLE for part in parts for name, _ in part.descriptions)
