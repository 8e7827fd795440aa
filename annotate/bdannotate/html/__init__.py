# SPDX-License-Identifier: GPL-2.0-or-later
"""The web report: one self-contained page with everything that is known of a profile."""
