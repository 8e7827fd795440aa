# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_annotate: reports on profiles in callgrind format.

The layers, each knowing only those above it in this list:

  reading    a file, compressed or not, as blocks of lines
  parser     lines -> Profile (headers: what stands before the costs)
  model      the Profile: parts, self costs per line, calls
  merge      Profiles -> Profile: sums, differences, renamed functions
  graph      Profile -> CallGraph: inclusive costs, cycles
  check      the invariants that a profile must satisfy
  metrics    costs -> numbers people read: counts, shares, rates
  report     which functions, in which order, with which columns
  text, ...  how it is printed
  cli        options and exit status
"""

__version__ = "0.1.0"
