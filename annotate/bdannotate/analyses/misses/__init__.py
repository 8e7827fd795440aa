# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines are loaded, and what that costs in time."""
