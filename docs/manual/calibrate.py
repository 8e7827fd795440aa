# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of bd_calibrate, as a Command. A test compares them with what the program prints for --help."""

from __future__ import annotations

from bdcommon.described import Command, Group, Option

COMMAND = Command(
    name="bd_calibrate",
    summary="measure the cost of cache misses on this machine",
    usage="bd_calibrate [options]",
    description=(
        "Measures the cost of cache misses and instructions on this machine, in about half a minute, and writes it "
        "as a machine file, for bd_annotate --machine-file=FILE: its estimates are then seconds of this machine.",
    ),
    groups=(
        Group("options", (
            Option(("-o", "--output"), "=FILE", "write the machine file there [standard output]", takes_file=True),
            Option(("--passes",), "=N",
                   "rounds of measurement, 1 to 100: more if the machine is busy [5]"),
            Option(("-h", "--help"), "", "print this and exit"),
            Option(("--version",), "", "print the version and exit"),
        )),
    ),
)
