# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the package importable, whether or not it is installed."""

import pathlib
import sys

from hypothesis import settings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

# Examples are the same in every run, and nothing is written beside the sources.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.load_profile("fixed")
