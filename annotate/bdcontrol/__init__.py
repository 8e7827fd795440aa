# SPDX-License-Identifier: GPL-2.0-or-later
"""bd_control: looks at programs that run under bdgrind, and steers them, through vgdb.

Each module knows only those above it in this list.

  errors     what is wrong, as a sentence for the user
  arguments  the command line
  state      what a run says of itself
  view       how that is shown
  runs       processes under bdgrind, and which of them are meant
  vgdb       the program that talks to them
  cli        runs it, and decides the exit status
"""
