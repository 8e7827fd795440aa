# SPDX-License-Identifier: GPL-2.0-or-later
"""How a report is printed: text, JSON, CSV."""
