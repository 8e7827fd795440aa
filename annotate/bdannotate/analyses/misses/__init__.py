# SPDX-License-Identifier: GPL-2.0-or-later
"""The reasons why lines are loaded, and the time that this takes."""
