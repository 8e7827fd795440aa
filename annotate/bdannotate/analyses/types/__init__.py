# SPDX-License-Identifier: GPL-2.0-or-later
"""Of what types data objects are, how their fields are used, and what other layouts would load."""
