# SPDX-License-Identifier: GPL-2.0-or-later
"""What changed from one profile to another."""
