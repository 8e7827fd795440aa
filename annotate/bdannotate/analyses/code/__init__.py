# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions and lines of a profile, and their ownership."""
