# SPDX-License-Identifier: GPL-2.0-or-later
"""What bd_annotate can be asked for, from the files to the output."""
