# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes of the user, and runs that do not answer."""

from __future__ import annotations

from collections.abc import Sequence


class ControlError(Exception):
    """What is wrong, as a sentence for the user, and what there is to choose from."""

    def __init__(self, problem: str, choices: Sequence[str] = ()) -> None:
        super().__init__(problem)
        self.choices = tuple(choices)
