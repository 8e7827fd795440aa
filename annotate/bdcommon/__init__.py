# SPDX-License-Identifier: GPL-2.0-or-later
"""What bd_annotate and bd_control share: how they speak, and how their options are described."""

__version__ = "0.1.0"
