# SPDX-License-Identifier: GPL-2.0-or-later
"""The contents of reports: choices, orders, comparisons and hints. Nothing here prints."""
