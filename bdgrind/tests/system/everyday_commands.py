# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that people run, to see that a profiler changes nothing about them; and the files that they work on."""

from __future__ import annotations

import os
import random
from pathlib import Path

# Whose names begin with a star are run by every `make check`, the others by `make check-long` only.
# What needs a shell begins with the shell.
COMMANDS = r"""
* /bin/true
* /bin/false
cat text.txt
cat -A odd.txt
* cat missing.txt
tac text.txt
rev text.txt
nl text.txt
head -n 3 text.txt
head -c 100 data.bin
tail -n 3 text.txt
tail -c +100 data.bin
* wc text.txt data.bin
* sort text.txt
sort -n -k2 table.csv -t,
sort -R --random-source=data.bin text.txt
sort -u -r words.txt
sort --parallel=2 -S 64K -k1 words.txt
uniq -c words.txt
comm text.txt words.txt
cut -d, -f1,3 table.csv
paste -d: text.txt words.txt
join -t, table.csv table.csv
tr a-z A-Z
expand odd.txt
unexpand -a odd.txt
fold -w 20 text.txt
fmt -w 30 text.txt
pr -l 20 -h title text.txt
* od -t x1z data.bin
base64 data.bin
base32 data.bin
md5sum data.bin text.txt
sha1sum data.bin
* sha256sum data.bin
sha512sum data.bin text.txt missing.txt
b2sum data.bin
cksum data.bin
sum data.bin
split -b 5000 data.bin part.
csplit text.txt 5 10
tsort pairs.txt
shuf --random-source=data.bin text.txt
seq 1 3 100
factor 1234567890 9999999967
numfmt --to=iec 123456789
printf %s-%05.2f\n a 3.14159
echo hello world
expr 6 * 7
expr 1 / 0
test -f text.txt
test -d text.txt
basename /usr/lib/libc.so .so
dirname /usr/lib/libc.so
realpath tree/../text.txt
readlink -f tree/link
readlink /proc/self/exe
pathchk tree/a
mktemp --version
* ls -lR --time-style=+ tree
ls missing
ls --color=always -1 tree
stat -c %n:%s:%F:%a text.txt tree tree/link
du --apparent-size -b tree/a
cp -a tree copy
cp missing.txt copy
mv text.txt moved.txt
ln -s text.txt link
ln text.txt hard
rm -r tree
rm missing.txt
mkdir -p deep/er/still
rmdir tree
touch -d @0 new
truncate -s 5000 sparse
dd if=data.bin of=out.bin bs=512 count=7 status=none
install -m 640 text.txt installed
chmod 600 text.txt
mkfifo fifo
sync text.txt
date -u -d @86400
date -d nonsense
uname -s
id -u
nproc --ignore=1000
sleep 0.05
timeout 0.2 sleep 5
nice -n 5 true
nohup echo hello
env -i A=1 /bin/echo alone
stdbuf -oL echo hello
tee one two
yes --version
find tree -type f -name *.txt
* find tree -newer text.txt -o -name a -print -exec echo {} ;
find tree -type f -delete
xargs -n 50 echo
* grep -n a text.txt
grep -c nothing text.txt
grep -rE e.*o tree
grep -P (\w)\1 text.txt
sed s/a/b/g text.txt
* sed -n -e /a/,/o/p -e $= text.txt
sed -i 1,3d text.txt
awk -F, {s+=$2} END {print s} table.csv
diff text.txt words.txt
diff -ru tree other
cmp data.bin text.txt
patch -p0 -i change.patch
file text.txt
strings data.bin
* tar -cf tree.tar --sort=name --mtime=@0 tree
tar -xf archive.tar
tar -czf tree.tgz --mtime=@0 tree
* tar -tvf archive.tar --full-time --utc
tar -xf data.bin
cpio -it -F data.bin
gzip -k -n text.txt
gzip -dc data.bin
* bzip2 -k text.txt
xz -k -T2 --block-size=4096 data.bin
zstd -q -k data.bin
dpkg-query --version
openssl dgst -sha256 data.bin
openssl enc -aes-128-cbc -K 00112233445566778899aabbccddeeff -iv 00 -in text.txt -out secret.bin
openssl prime 1000003
bash -c openssl rsa -in missing.pem 2>/dev/null; echo $?
bc -q sums.bc
dc -e 2_100^p
xxd data.bin
hexdump -C data.bin
nm program.o
size program.o
objdump -d program.o
readelf -a program.o
strip -o stripped.o program.o
as -o nothing.o nothing.s
ar cr library.a program.o
ld -r -o linked.o program.o
c++filt _ZN2bd6EngineC1Ev
* gcc -O1 -c program.c -o new.o
gcc -O2 program.c -o program
gcc -c wrong.c
g++ -fsyntax-only program.cpp
cpp program.c
m4 macros.m4
make -f rules.mk -j3
make -f rules.mk missing
make -f rules.mk -n
* make -f rules.mk -s -j2 all
git init -q repository
git hash-object data.bin
bash -c git init -q r && cd r && echo 1 >a && git add a && git commit -qm one && git log --format=%H:%s && git status
bash -c git init -q r && cd r && for i in 1 2 3; do echo $i >>a; git add a; git commit -qm $i; done; git diff HEAD~2; git gc -q
git -C tree status
git diff --no-index text.txt words.txt
* bash -c trap 'echo bye' EXIT; trap 'echo usr1' USR1; kill -USR1 $$; echo after; exit 3
bash -c trap 'echo int; exit 4' INT; kill -INT $$; echo never
* bash -c sleep 5 & kill $!; wait $!; echo $?
bash -c kill -KILL $$
* bash -c kill -TERM $$
bash -c ulimit -c 0; kill -SEGV $$
bash -c for i in 1 2 3; do (echo $i; exit $i); echo $?; done
* bash -c cat text.txt | sort | uniq -c | sort -rn | head -n 3
bash -c yes | head -n 1000 | wc -l
bash -c set -o pipefail; yes | head -n 1; echo ${PIPESTATUS[@]}
bash -c x=$(cat text.txt | wc -l); echo $((x * 2))
bash -c diff <(sort text.txt) <(sort words.txt) | wc -l
bash -c exec 3>out; echo three >&3; exec 3>&-; cat out
bash -c read -t 0.1 x </dev/zero | true; echo $?
bash -c printf '%s\n' {a..e}{1..3}; declare -A m; m[a]=1; echo ${!m[@]} ${m[a]}
bash -c mkfifo f; (echo through >f &) ; cat f
bash -c coproc cat; echo x >&${COPROC[1]}; read y <&${COPROC[0]}; echo $y
bash -c nosuchcommand; echo $?
bash -c exec /bin/echo replaced
bash -c (trap '' TERM; kill -TERM $BASHPID; echo alive); echo $?
bash -c set -e; false; echo never
bash -n wrong.sh
dash -c echo $((1 << 10)); . ./script.sh
* dash -c trap 'echo hup' HUP; kill -HUP $$; wait
* perl -e print "$_\n" for sort { $b <=> $a } map { $_ * 7 % 31 } 1 .. 20
perl -ne print scalar reverse text.txt
perl -e my $p = fork; if (!$p) { exit 5 } waitpid $p, 0; print $? >> 8, "\n"
perl -e $SIG{ALRM} = sub { print "alarm\n"; exit 2 }; alarm 1; sleep 5
perl -e pipe R, W; if (fork) { close W; print <R> } else { close R; print W "child\n" }
perl -e die "no\n"
perl -MDigest::MD5=md5_hex -e print md5_hex("x" x 10000), "\n"
perl -e exec "echo", "from exec"
* python3 -c print(sorted({i * 7919 % 101: i for i in range(50)}.items()))
python3 -c import sys; sys.exit(9)
* python3 -c import threading as t; l = []; a = [t.Thread(target=l.append, args=(i,)) for i in range(8)]; [x.start() for x in a]; [x.join() for x in a]; print(sorted(l))
* python3 -c import subprocess as s; print(s.run(["echo", "x"], capture_output=True)); print(s.run("exit 3", shell=True).returncode)
python3 -c import multiprocessing as m; print(m.Pool(2).map(abs, range(-5, 5)))
python3 -c import asyncio; print(asyncio.run(asyncio.sleep(0.01, "done")))
python3 -c import os; r, w = os.pipe(); p = os.fork(); p or (os.write(w, b"child"), os._exit(7)); print(os.read(r, 9), os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))
python3 -c import signal, os; signal.signal(signal.SIGUSR1, lambda *a: print("caught")); os.kill(os.getpid(), signal.SIGUSR1)
python3 -c import signal; signal.setitimer(signal.ITIMER_REAL, 0.1); signal.pause()
python3 -c import mmap; m = mmap.mmap(-1, 8192); m[5000] = 7; print(sum(m))
python3 -c import socket; a, b = socket.socketpair(); a.send(b"hello"); print(b.recv(9))
python3 -c import ctypes; print(ctypes.CDLL(None).abs(-3))
python3 -c import json, zlib, hashlib; print(hashlib.sha1(zlib.compress(json.dumps(list(range(999))).encode())).hexdigest())
python3 -c import decimal; print(decimal.Decimal(2).sqrt() ** 50)
python3 -c import re; print(re.findall(r"(a+)b", "aab" * 99)[-1], 2 ** 200)
python3 -c def f(n): return n and f(n - 1)
python3 -c raise ValueError("bad")
python3 -c import os; os.abort()
python3 -c import queue, threading; q = queue.Queue(); t = threading.Thread(target=lambda: q.put(sum(range(9999)))); t.start(); print(q.get()); t.join()
* sqlite3 :memory: create table t(a, b); insert into t values (1, 'x'), (2, 'y'); select sum(a), group_concat(b) from t;
sqlite3 new.db create table t(a integer primary key, b); insert into t(b) values ('x'), ('y'); select * from t where b > 'x';
sqlite3 -csv -header :memory: with recursive n(i) as (select 1 union all select i + 1 from n where i < 99) select i, i * i from n where i % 9 = 0;
sqlite3 :memory: select nothing;
node -e console.log([3, 1, 2].sort(), 2 ** 64)
node -e process.exit(3)
node -e setTimeout(() => console.log("later"), 20); Promise.resolve(1).then(console.log)
java -version
ruby -e puts (1..5).map { |x| x * x }.inspect
lua5.4 -e print(string.rep("x", 5))
gdb --version
curl --version
ssh -V
jq .a missing.json
ls -la --time-style=+ /proc/self/task/self
"""

STDIN = b"some words\non a few lines\n" * 20

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PERL_HASH_SEED": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_AUTHOR_DATE": "@86400 +0000",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
    "GIT_COMMITTER_DATE": "@86400 +0000",
}

_CHANGE = """--- pairs.txt
+++ pairs.txt
@@ -1,2 +1,2 @@
 a b
-b c
+b d
"""

_PROGRAM = """
#include <stdio.h>
int add(int a, int b) { return a + b; }
int main(void) { printf("%d\\n", add(1, 2)); return 0; }
"""

_RULES = """
all: a.out b.out c.out
%.out: ; cat text.txt words.txt | sort > $@
both: all ; cmp a.out b.out
"""


def _words(count: int) -> str:
    source = random.Random(4)
    return "".join(
        "".join(source.choices("aeiounrstl", k=source.randint(1, 8))) + "\n" for _ in range(count)
    )


def prepare(folder: Path) -> None:
    """Fills it with what the commands work on, the same each time."""
    data = random.Random(3).randbytes(20_000)
    files: dict[str, str | bytes] = {
        "text.txt": "".join(f"line {i} of a text that goes on\n" for i in range(40)),
        "words.txt": _words(300),
        "odd.txt": "tab\there\x01\n\n  trailing  \nno end",
        "data.bin": data,
        "table.csv": "".join(f"{i:03},{i * 37 % 101},name {i}\n" for i in range(50)),
        "pairs.txt": "a b\nb c\n",
        "change.patch": _CHANGE,
        "sums.bc": "scale=30\n1/7\n2^99\n",
        "macros.m4": "define(`twice', `$1$1')twice(`ab')\n",
        "program.c": _PROGRAM,
        "program.cpp": "#include <vector>\nint main() { return std::vector<int>{1, 0}.back(); }\n",
        "wrong.c": "int main(void) { return nothing; }\n",
        "nothing.s": "\t.text\n\tret\n",
        "rules.mk": _RULES,
        "script.sh": "echo sourced\n",
        "wrong.sh": "if true; then\n",
        "tree/a": "a\n",
        "tree/b/c.txt": "c, hello\n",
        "tree/b/d.txt": "d\n",
        "other/a": "another\n",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    (folder / "tree" / "link").symlink_to("a")
    for path in sorted(folder.rglob("*")):
        os.utime(path, (0, 0), follow_symlinks=False)


def commands() -> list[tuple[bool, list[str]]]:
    """Whether every `make check` runs it, and its words."""
    result = []
    for line in COMMANDS.strip().splitlines():
        often = line.startswith("* ")
        words = line.removeprefix("* ").split()
        # The script of an interpreter is one word.
        for option in ("-c", "-e", "-ne"):
            head, found, script = line.removeprefix("* ").partition(f" {option} ")
            if found and words[0] in ("bash", "dash", "perl", "python3", "node", "ruby", "lua5.4", "dc"):
                words = [*head.split(), option, script]
                break
        else:
            if words[0] in ("sqlite3", "awk"):
                words = _with_script(words[0], line.removeprefix("* "))
        result.append((often, words))
    return result


def _with_script(program: str, line: str) -> list[str]:
    """Of programs whose script has no option of its own."""
    words = line.split(" ")
    if program == "awk":
        return ["awk", words[1], " ".join(words[2:-1]), words[-1]]
    start = next(i for i, word in enumerate(words) if word in (":memory:", "new.db")) + 1
    return [*words[:start], " ".join(words[start:])]
