# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects: their costs, and the code that loads them."""
