# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions and lines of a profile, and whose they are."""
