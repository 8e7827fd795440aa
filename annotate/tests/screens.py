# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes profiles, and what bd_annotate prints of them."""

import pathlib
import re

from bdannotate.analyses.code.report import make_report, make_selection
from bdannotate.reading.parser import parse_text
from annotating import bd_annotate

ROOT = pathlib.Path(__file__).resolve().parent.parent
HELPER = ROOT / "tests" / "profiles" / "helper.out"
EVENTS = "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 EvLine1 UsByte1 Access1"
EVENTS += " AcCost2 SpLoss2 EvLine2 UsByte2 Access2"
HEAD = f"""version: 1
creator: bdgrind-test
cmd: ./program
desc: I1 cache: 32768 B, 64 B, 8-way associative
desc: D1 cache: 32768 B, 64 B, 8-way associative
desc: LL cache: 8388608 B, 64 B, 16-way associative
positions: line
events: {EVENTS}
"""


def use(lines, used, accesses, code=0):
    """The costs of so many lines loaded for data, each with so many bytes used in so many accesses,
    and of so many lines of code of which half is used."""
    loaded = lines + code
    rareness = 1000 * lines // accesses + 125 * code
    return (
        f"{10 * loaded} {accesses * lines} 0 {code} {lines} 0 0 0 0 {rareness} "
        f"{(64 - used) * lines + 32 * code} {loaded} {used * lines + 32 * code} "
        f"{accesses * lines + 8 * code}"
    )


def call(name, cost, file=None, module=None, count=1):
    head = f"cob={module}\n" if module else ""
    head += f"cfi={file}\n" if file else ""
    return f"{head}cfn={name}\ncalls={count} 1\n1 {cost}\n"


def screen(tmp_path, body, *arguments, environment=None):
    path = tmp_path / "bdgrind.out.1"
    path.write_text(HEAD + body)
    result = bd_annotate(path.name, "--width=80", *arguments, cwd=tmp_path, environment=environment, text=True)
    # What a narrow page has no room for is said where columns were asked for.
    assert re.fullmatch(r"(bd_annotate: no room for .*\n)?", result.stderr), result.stderr
    assert result.returncode == 0
    return result.stdout


def section(text, title):
    return re.split(r"\n\n(?=== |Next )", text.partition(f"== {title}")[2])[0].split("\n")[1:]


def report_of(body, events=EVENTS, **selection):
    profile = parse_text(HEAD.replace(EVENTS, events) + body)
    chosen = {"show": (), "sort": (), "threshold": 1.0, "inclusive": None, "function": None}
    return make_report(profile, make_selection(profile, **{**chosen, **selection}))


STARTUP = (
    "ob=/lib/ld.so\nfl=???\nfn=0x000000000001ab70\n1 {own}\n"
    "cob=/home/me/program\ncfi=???\ncfn=(below main)\ncalls=1 1\n1 {all}\n"
    "ob=/home/me/program\nfl=???\nfn=(below main)\n1 {own}\n"
    "cob=/lib/libc.so\ncfi=???\ncfn=__libc_start_main@@GLIBC_2.34\ncalls=1 1\n1 {all}\n"
    "ob=/lib/libc.so\nfl=???\nfn=__libc_start_main@@GLIBC_2.34\n1 {own}\n"
    "cob=/home/me/program\ncfi={file}\ncfn={main}\ncalls=1 1\n1 {all}\n"
)


def startup(cost, main="main", file="/home/me/main.c"):
    return STARTUP.format(own="1", all=cost, main=main, file=file)


LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
