# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_annotate: reports on profiles in callgrind format.

The rooms:

  model      what a profile is and what follows from it: sums, differences, inclusive costs,
             invariants, numbers people read
  reading    files -> Profile
  analyses   Profile -> what a report holds: functions, trees, sources, hints, differences
  views      how that is printed: text, JSON, CSV
  options    the command line
  cli        runs it, and decides the exit status
"""

__version__ = "0.1.0"
