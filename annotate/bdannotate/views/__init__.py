# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms in which reports are printed: text, Markdown, JSON, CSV and SARIF."""
