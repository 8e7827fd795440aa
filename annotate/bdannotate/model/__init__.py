# SPDX-License-Identifier: GPL-2.0-or-later
"""What a profile is, and what follows from it by arithmetic: sums, inclusive costs, metrics."""
