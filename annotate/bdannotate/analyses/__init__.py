# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report holds: choices, orders, comparisons, hints. Data, without a word about printing."""
