# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles and the files beside them, and what follows from these by arithmetic: sums, inclusive costs, metrics."""
