# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs: changes of the program, and what they save."""
