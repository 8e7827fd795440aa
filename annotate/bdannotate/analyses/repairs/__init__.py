# SPDX-License-Identifier: GPL-2.0-or-later
"""What to change, and what it saves."""
