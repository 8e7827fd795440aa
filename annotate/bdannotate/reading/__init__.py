# SPDX-License-Identifier: GPL-2.0-or-later
"""From files to Profiles: one format, compressed or not, checked as it is read."""
