# SPDX-License-Identifier: GPL-2.0-or-later
"""soak.py SECONDS [SEED]: keeps one run going and disturbs it at random.

The guest starts threads, forks, throws and jumps out of signal handlers. From outside come dumps, zeroing, looks at its
calls, stops of observation, and signals. Every part of the profile must conserve, and the memory of the run must not
grow. The status is 1 if not. `make check-long` runs it for half an hour.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from harness import ENVIRONMENT, GUESTS, SMALL_CACHES, SOURCE, VALGRIND, check_profile, configured

BD_CONTROL = SOURCE / "annotate" / "bd_control"
VGDB_FOLDER = configured("VALGRIND").parent

# What bd_control is asked to do.
REQUESTS = [["-d"], ["-d", "soak"], ["-z"], ["-s"], ["-b"], ["-e"], ["-i", "off"], ["-i", "on"]]

# How much more memory the second half of the run may have than the first.
GROWTH = 1.05
# What it may grow by, in KiB, each time that observation starts again: code is translated anew, and Valgrind's table
# keeps what it had until it is full. (Callgrind grows by 600 there, bdgrind by 400.)
TRANSLATED_ANEW = 600


@dataclass
class Soak:
    folder: Path
    choice: random.Random
    process: subprocess.Popen[bytes]
    done: Counter[str] = field(default_factory=Counter)
    memory_kib: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def start(cls, folder: Path, seed: int) -> Soak:
        command = [
            str(VALGRIND),
            "--tool=bdgrind",
            f"--log-file={folder}/log.%p",
            f"--bdgrind-out-file={folder}/out.%p",
            f"--vgdb-prefix={folder}/vgdb",
            *SMALL_CACHES,
            str(GUESTS / "restless"),
        ]
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE)
        # Before its handlers are there, a signal would end it.
        assert process.stdout and process.stdout.readline() == b"ready\n"
        return cls(folder, random.Random(seed), process)

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if self.choice.random() < 0.5:
                self.process.send_signal(signal.SIGUSR1)
                self.done["signal"] += 1
            else:
                self.control(self.choice.choice(REQUESTS))
            self.check_parts()
            self.measure()
            time.sleep(self.choice.uniform(0, 1))
        self.finish()

    def control(self, request: list[str]) -> None:
        words = [sys.executable, "-B", str(BD_CONTROL), f"--vgdb-prefix={self.folder}/vgdb", *request]
        path = f"{VGDB_FOLDER}:{os.environ['PATH']}"
        completed = subprocess.run(
            [*words, str(self.process.pid)],
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.done[" ".join(request)] += 1
        if completed.returncode != 0 and self.process.poll() is None:
            self.faults.append(f"bd_control {request}: {completed.stdout}{completed.stderr}")

    def check_parts(self) -> None:
        """What dumps have written, and children that have ended."""
        own = str(self.process.pid)
        for part in sorted(self.folder.glob("out.*")):
            _, pid, *number = part.name.split(".")
            if number if pid == own else not Path("/proc", pid).exists():
                self.check(part)

    def check(self, part: Path) -> None:
        """Removes it, too: there are thousands."""
        self.done["parts"] += 1
        if fault := check_profile(part):
            self.faults.append(f"{part.name}: {fault}")
        else:
            part.unlink()

    def measure(self) -> None:
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return
        for line in status.splitlines():
            if line.startswith("VmRSS:"):
                self.memory_kib.append(int(line.split()[1]))

    def finish(self) -> None:
        if self.process.poll() is None:
            self.control(["-i", "on"])
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(600)
        if status != 0:
            log = (self.folder / f"log.{self.process.pid}").read_text(errors="replace")
            self.faults.append(f"the run ended with status {status}:\n{log[-4000:]}")
        for part in sorted(self.folder.glob("out.*")):
            self.check(part)
        first, second = self.halves()
        if second > first * GROWTH + self.done["-i on"] / 2 * TRANSLATED_ANEW:
            self.faults.append(f"memory has grown from {first} to {second} KiB")

    def halves(self) -> tuple[int, int]:
        """The most memory in the first half and in the second."""
        middle = len(self.memory_kib) // 2
        return max(self.memory_kib[:middle], default=0), max(self.memory_kib[middle:], default=0)


def main(arguments: list[str]) -> int:
    if not 1 <= len(arguments) <= 2:
        print("Usage: soak.py SECONDS [SEED]", file=sys.stderr)
        return 2
    seconds, seed = float(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 1
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak.start(Path(folder), seed)
        try:
            soak.run(seconds)
        finally:
            soak.process.kill()
    first, second = soak.halves()
    done = ", ".join(f"{count} {what}" for what, count in sorted(soak.done.items()))
    print(f"{seconds:.0f} seconds, seed {seed}: {done}; at most {first} KiB in the first half, {second} in the second")
    print("\n".join(soak.faults) if soak.faults else "no fault")
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
