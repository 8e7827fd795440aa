# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes manual pages and the shells' completion out of the tables that --help is printed from.

  tool       bdgrind/tool/options.h, as a Command
  commands   all commands, with what their pages say besides options
  roff       a Command as a manual page
  bash, zsh  a Command as completion for a shell
  __main__   KIND NAME, to standard output
"""
