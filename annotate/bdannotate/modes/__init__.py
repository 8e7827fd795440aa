# SPDX-License-Identifier: GPL-2.0-or-later
"""The modes of bd_annotate, from the files to the output."""
