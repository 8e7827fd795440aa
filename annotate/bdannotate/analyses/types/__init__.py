# SPDX-License-Identifier: GPL-2.0-or-later
"""The types of data objects, the use of their fields, and what other layouts would load."""
