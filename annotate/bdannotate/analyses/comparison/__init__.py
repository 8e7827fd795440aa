# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes from one profile to another."""
