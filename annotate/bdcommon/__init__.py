# SPDX-License-Identifier: GPL-2.0-or-later
"""The code that bd_annotate and bd_control share: their output, and the description of their options."""

__version__ = "0.1.0"
