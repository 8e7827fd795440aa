# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles in the formats of other programs: a module per format, and `formats`, which lists them.

Only what a profile knows is written. A call graph does not have paths: they mix in a function with several callers.
Therefore, formats that consist of paths only get those that are certain, see `stacks`.
"""
