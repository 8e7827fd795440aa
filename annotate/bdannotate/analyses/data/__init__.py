# SPDX-License-Identifier: GPL-2.0-or-later
"""Data objects: what they cost, and who loads them."""
