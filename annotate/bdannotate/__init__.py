# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_annotate: reports on profiles in callgrind format.

A stair: each floor knows only those above it in this list, and `tests/test_stair.py` watches.

  model      what a profile is and what follows from it: sums, differences, inclusive costs,
             invariants, numbers people read
  reading    files -> Profile
  analyses   Profile -> what a report holds: functions, trees, sources, hints, differences
  views      how that is printed: text, JSON, CSV
  exports    Profile -> the forms of other programs; knows the model only
  html       the web report
  options    the command line
  cli        runs it, and decides the exit status

Reading and analyses know nothing of each other. What bd_control needs, too, is in bdcommon.
"""
