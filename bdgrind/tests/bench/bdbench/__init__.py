# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark of bdgrind: see docs/performance.md and `run --help`."""
