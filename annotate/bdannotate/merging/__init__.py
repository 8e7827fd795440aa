# SPDX-License-Identifier: GPL-2.0-or-later
"""Many profiles as one, by one process or by many: docs/ranks.md."""
