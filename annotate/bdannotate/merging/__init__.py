# SPDX-License-Identifier: GPL-2.0-or-later
"""Merges many profiles into one, with one process or with many: docs/ranks.md."""
