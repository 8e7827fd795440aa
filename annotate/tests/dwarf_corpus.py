# SPDX-License-Identifier: GPL-2.0-or-later
"""Object files whose debug information is made to hang, to fill memory or to break what reads it."""

import struct

from dwarf_writer import COMPRESSED, Entry, debug_sections, elf, packed, uleb

INT = dict(name=b"int", size=4)


def of(*entries, more=None, **options):
    return elf({**debug_sections(entries, **options), **(more or {})})


def const_names():
    return of(Entry("structure", [], name=b"const const", size=8), wanted())


def many_consts():
    return of(Entry("structure", [], name=b"S<" + b"const a," * 20_000 + b"b>", size=8), wanted())


def wanted(target=None):
    return Entry("structure", [Entry("member", name=b"a", type=target or 11, at=0)], name=b"thing", size=8)


def type_of_itself():
    loop = Entry("const")
    loop.attributes["type"] = loop
    return of(loop, wanted(loop))


def types_of_each_other():
    one, two = Entry("typedef", name=b"one"), Entry("pointer")
    one.attributes["type"], two.attributes["type"] = two, one
    return of(one, two, wanted(one))


def specification_loop():
    one, two = Entry("variable", location=b"\x03" + struct.pack("<Q", 64)), Entry("variable")
    one.attributes["specification"], two.attributes["specification"] = two, one
    own = Entry("structure", [], name=b"thing", size=8)
    own.attributes["specification"] = own
    return of(one, two, own)


def struct_in_itself():
    own = Entry("structure", [], name=b"thing", size=8)
    own.add(Entry("member", name=b"a", type=own, at=0), Entry("member", name=b"b", type=own, at=0))
    return of(own)


def empty_structs():
    """Each has two of the one before it: 2 to the 60th members that are nothing."""
    entries = [Entry("structure", [], name=b"S", size=1)]
    for number in range(60):
        inner = entries[-1]
        members = [Entry("member", name=b"m", type=inner, at=0) for _ in range(2)]
        entries.append(Entry("structure", members, name=b"thing" if number == 59 else b"S", size=1))
    return of(*entries)


def dimensions():
    base = Entry("base", **INT)
    array = Entry("array", [Entry("subrange", count=(1 << 64) - 1) for _ in range(200_000)], type=base)
    return of(base, array, wanted(array))


def huge_sizes():
    base = Entry("base", name=b"int", size=(1 << 63) - 1)
    member = Entry("member", name=b"a", type=base, at=1 << 62)
    return of(base, Entry("structure", [member], name=b"thing", size=1 << 46))


def long_offset():
    base = Entry("base", **INT)
    member = Entry("member", name=b"a", type=base, block_at=b"\x23" + b"\x80" * 200 + b"\x01")
    return of(base, Entry("structure", [member], name=b"thing", size=8))


def deep_namespaces():
    inner = wanted()
    for _ in range(3_000):
        inner = Entry("namespace", [inner], name=b"n" * 40)
    return of(inner)


def long_names():
    """A megabyte, to which 3,000 entries refer."""
    entries = [Entry("structure", [], long_name=0, size=8) for _ in range(3_000)]
    return of(*entries, wanted(), more={".debug_str": b"thing" * 200_000 + b"\0"})


def abbreviations():
    table = b"".join(uleb(number + 1000) + b"\x34\0\0\0" for number in range(100_000))
    return of(Entry("base", **INT), wanted(), abbreviations=table)


def units():
    return of(wanted(), repeats=300)


def bomb():
    sections = debug_sections([wanted()])
    data = packed(bytes(300 << 20))
    return elf({**sections, ".debug_str": (data, COMPRESSED)})


def lying_bomb():
    sections = debug_sections([wanted()])
    return elf({**sections, ".debug_str": (packed(bytes(1 << 20), 1 << 50), COMPRESSED)})


def understated_bomb():
    sections = debug_sections([wanted()])
    return elf({**sections, ".debug_str": (packed(bytes(200 << 20), 100), COMPRESSED)})


def old_bomb():
    data = packed(bytes(300 << 20))[24:]
    return elf({**debug_sections([wanted()]), ".zdebug_str": b"ZLIB" + struct.pack(">Q", 300 << 20) + data})


def nested_inlined():
    inner = Entry("inlined", [], name=b"f")
    for _ in range(30_000):
        inner = Entry("inlined", [inner], name=b"f")
    return of(Entry("subprogram", [inner], name=b"main"), wanted())


def sibling_back():
    own = wanted()
    first = Entry("structure", [Entry("member", name=b"a", type=own, at=0)], name=b"S", size=8)
    first.attributes["sibling"] = first
    return of(first, own)


def outside():
    return of(wanted(0xFFFFFFF0))


def link_to_itself():
    return elf({".gnu_debuglink": b"self\0\0\0\0" + bytes(4)})


CASES = (
    const_names, many_consts, type_of_itself, types_of_each_other, specification_loop, struct_in_itself,
    empty_structs, dimensions, huge_sizes, long_offset, deep_namespaces, long_names, abbreviations, bomb,
    lying_bomb, understated_bomb, old_bomb, nested_inlined, sibling_back, outside, link_to_itself,
)
