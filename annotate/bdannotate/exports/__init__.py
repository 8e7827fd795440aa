# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles in the forms of other programs: a module per form, and `formats`, which lists them.

Only what a profile knows is written. A call graph keeps no paths: through a function with several
callers all paths mix. So forms that are made of paths get those that are certain, see `stacks`.
"""
