# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs of data layouts: fields that are used together are separated from the rest, packed without padding, or
aligned to lines.

The evidence is that bytes of lines are never used while the object lives. Bytes that another stay of the line uses do
not count, as another order of loops would bring these uses into one stay. If the data takes fewer lines, fewer are
loaded, and some of them hit when they come again, as fewer others come between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...model.data_types import CPP_LIBRARIES
from ...model.objects import ObjectGroup
from ...model.profile import Function
from ..misses.site import Change, Site
from ..misses.sites import Sites, busiest, by_loop
from ..types.field_use import FieldUse, Unit, units, visits
from ..types.object_details import Details
from ..types.split import FieldGroup, Split, is_array
from .repair import Amount, Remedy, Repair, amount, code_lines

# The minimum share of lines that a change of a type must save.
_LEAST_SAVING = 0.15
# The minimum share of a line that must be unused if the type is not known.
_UNUSED = 0.25
# All parts are used alike if the least used one is used at least this fraction as often as the most used one.
_ALL = 0.8
# Data is visited in the same order each time if at least this share of its lines comes back at distances within one
# octave, which is _OCTAVE buckets of the histogram.
_AS_FAR = 0.4
_OCTAVE = 4
# Types of libraries, by the beginnings of their names. (A program may well have a namespace `core` or `alloc`.)
_LIBRARIES = (*CPP_LIBRARIES, "alloc::collections::", "hashbrown::", "boost::")
# If other loops had loaded at least this share of a site's lines before, they are taken to use other bytes of them.
_SHARED = 0.1
# Heap blocks of at least this many bytes are not elements, but pools of elements.
_POOL = 2048
# Steps of at least this many bytes, a page, are not taken for the size of a record.
_MOST_STEP = 4096
# How many fields and parts are named in one list.
_MOST_FIELDS = 6
_MOST_PARTS = 3
# A part is named if it is used at least this fraction as often as the most used one.
_SOME = 0.1
# A function influences the layout of a type if it loads at least this share of the lines that are loaded for it.
_NOTABLE = 0.1


def layout_repairs(
    sites: Sites, notable: Sequence[Site], details: Sequence[Details], groups: Mapping[int, ObjectGroup]
) -> Iterator[Repair]:
    """The repairs of data layouts. details: those of the object groups that the sites load most of. groups: these
    groups, by the number of the site."""
    known = {id(one.entry.group): one for one in details}
    by_group: dict[int, list[Site]] = {}
    for site in notable:
        if site.number in groups:
            by_group.setdefault(id(groups[site.number]), []).append(site)
    covered: set[int] = set()
    for number, here in by_group.items():
        one = known.get(number)
        if one is None:
            continue
        kinds = (_aligned,) if _is_fixed(one) else (_split, _packed, _reordered, _aligned)
        repairs = [
            repair for make in kinds
            if (repair := make(sites, here, one)) is not None
        ]
        yield from repairs
        if one.typed is not None:
            covered.update(site.number for site in here)
    for _, here in by_loop([site for site in notable if site.number not in covered]).items():
        yield from _by_use_alone(sites, here, groups)


def _is_fixed(one: Details) -> bool:
    """Whether the type is from a library, so that its fields cannot be changed."""
    return one.typed is not None and one.typed.type.name.startswith(_LIBRARIES)


def _is_used_late(here: Sequence[Site]) -> bool:
    """Whether outer loops go through the rest of most lines, so that another order of loops helps. It does not if more
    bytes are never used while the object lives than are used later, whatever the steps look like."""
    measured = [site for site in here if site.late is not None and site.never is not None]
    late = sum(site.lines * (site.late or 0.0) for site in measured)
    never = sum(site.lines * (site.never or 0.0) for site in measured)
    if never > late:
        return False
    return 2 * sum(site.lines for site in here if site.is_used_later) > amount(here).lines


def _is_scattered(here: Sequence[Site]) -> bool:
    return 2 * sum(site.lines for site in here if site.is_scattered) > amount(here).lines


def _split(sites: Sites, every: Sequence[Site], one: Details) -> Repair | None:
    """The split of a type for all functions that use only a part of it. Functions that load few of its lines, such as
    those that fill the objects, do not count."""
    split, typed, group = one.split, one.typed, one.entry.group
    if split is None or typed is None or not split.now:
        return None
    found = units(typed.fields)
    visited = visits(typed.type.size, found, group.patterns)
    factors: dict[int, float] = {}
    wanted: Counter[int] = Counter()
    for function in dict.fromkeys(site.place.function for site in every):
        here = [site for site in every if site.place.function == function]
        is_busy = amount(here).lines >= _NOTABLE * amount(every).lines
        if not is_busy or function not in visited or _is_used_late(here):
            continue
        times = _visits_of_parts(split, found, visited[function])
        factor = _split_factor(split, times, group, function, sites.why.line, _is_scattered(here))
        if factor is None or factor > 1 - _LEAST_SAVING:
            continue
        factors.update((site.number, factor) for site in here)
        wanted.update({part: number for part, number in enumerate(times) if number >= _SOME * max(times)})
    if not factors:
        return None
    here = [site for site in every if site.number in factors]
    parts = [split.parts[part] for part in sorted(wanted, key=lambda part: (-wanted[part], part))]
    functions = len({site.place.function for site in here})
    user = "it uses" if functions == 1 else f"{functions} functions use"
    return _shrunk(
        Remedy.SPLIT, sites, here, factors, group,
        (
            *_use_of_lines(here),
            f"of the {typed.type.size:,} bytes of {typed.type.name}, {user} only "
            f"{sum(part.size for part in parts):,}: "
            f"{_fields([field for part in parts for field in part.fields], ', ')}",
        ),
        _split_code(parts, len(parts) < len(split.parts)),
        "how the program would find one part from the other",
        between=sum(part.size for part in parts) / typed.type.size,
    )


def _fields(fields: Sequence[FieldUse], between: str) -> str:
    """The first names, and "..." if there are more. between: the separator."""
    names = [field.name for field in fields[:_MOST_FIELDS]]
    return between.join([*names, "..."] if len(fields) > len(names) else names)


def _split_code(parts: Sequence[FieldGroup], others: bool) -> tuple[str, ...]:
    if len(parts) == 1:
        return (
            f"struct hot {{ {_fields(parts[0].fields, '; ')}; }};    // {parts[0].size:,} bytes",
            "struct hot hot[N]; struct rest rest[N];    // the same index",
        )
    return (
        *(
            f"struct part_{number} {{ {_fields(part.fields, '; ')}; }};    // {part.size:,} bytes"
            for number, part in enumerate(parts[:_MOST_PARTS], 1)
        ),
        f"an array of each{', and one of the rest' if others or len(parts) > _MOST_PARTS else ''}, with the same index",
    )


def _of_busiest(every: Sequence[Site]) -> list[Site]:
    """The sites of the function with most of the time."""
    function = busiest(every)
    return [site for site in every if site.place.function == function]


def _visits_of_parts(split: Split, found: Sequence[Unit], visited: Sequence[int]) -> list[int]:
    """How often a function visits each part. visited: how often it visits each unit of fields."""
    times = {field.offset: number for unit, number in zip(found, visited) for field in unit.fields}
    return [max((times.get(field.offset, 0) for field in part.fields), default=0) for part in split.parts]


def _split_factor(
    split: Split, times: Sequence[int], group: ObjectGroup, function: Function, line: int, scattered: bool
) -> float | None:
    """What a function would load of all parts, as a share of what it loaded. times: its visits of each part. None if it
    uses all of them: then only padding would be left out, and that needs no second array."""
    recorded = sum(pattern.bytes * pattern.times for pattern in group.patterns if pattern.by.function == function)
    if not recorded or min(times) >= _ALL * max(times):
        return None
    then = sum(
        number * (line * -(-part.size // line) if scattered else part.size)
        for part, number in zip(split.parts, times)
    )
    return then / recorded


def _packed(sites: Sites, here: Sequence[Site], one: Details) -> Repair | None:
    """The order of fields without padding, for elements of arrays."""
    packed, typed = one.packed, one.typed
    here = _of_busiest(here)
    if packed is None or typed is None or not is_array(one.entry.group, packed.size_now):
        return None
    names = [field.name for field in packed.fields][:_MOST_FIELDS]
    padding = packed.size_now - sum(unit.size for unit in units(typed.fields))
    return _shrunk(
        Remedy.PACK, sites, here, packed.size / packed.size_now, one.entry.group,
        (
            f"{padding:,} of the {packed.size_now:,} bytes of {typed.type.name} are padding; ordered by alignment, "
            f"its fields need {packed.size:,}",
        ),
        (
            f"struct {{ {'; '.join(names)}{'; ...' if len(packed.fields) > len(names) else ''}; }};"
            f"    // {packed.size:,} bytes",
        ),
        "whether files, messages or other languages fix the order of the fields",
    )


def _reordered(sites: Sites, here: Sequence[Site], one: Details) -> Repair | None:
    """The order that puts fields next to each other that are used together, for heap blocks of one element each."""
    order, typed = one.order, one.typed
    here = _of_busiest(here)
    if order is None or typed is None or not order.now:
        return None
    names = [field.name for field in order.first][:_MOST_FIELDS]
    return _shrunk(
        Remedy.PACK, sites, here, order.then / order.now, one.entry.group,
        (
            f"of the {typed.type.size:,} bytes of {typed.type.name}, {', '.join(names)} are used most, but do not lie "
            "side by side",
        ),
        (f"struct {{ {'; '.join(names)}; ... }};    // fields used together come first",),
        "whether files, messages or other languages fix the order of the fields",
    )


def _aligned(sites: Sites, here: Sequence[Site], one: Details) -> Repair | None:
    """The alignment of elements that are a fraction or a multiple of a line, but straddle lines."""
    layout, line = one.layout, sites.why.line
    here = _of_busiest(here)
    size = one.typed.type.size if one.typed else layout.size if layout else 0
    if size < 2 or (line % size and size % line):
        return None
    group = one.entry.group
    whole, cut, beginnings = _visits(group, size, line)
    parts = whole + cut
    if not parts or cut < _LEAST_SAVING * parts or not _is_scattered(here):
        return None
    # A visit of an element that straddles lines loads two of them.
    visits = whole + cut / 2
    factor = visits / parts
    begin = ", ".join(f"{byte:,}" for byte in beginnings[:2])
    return _shrunk(
        Remedy.ALIGN, sites, here, factor, group,
        (
            f"an element has {size:,} bytes, and a line begins at its byte {begin}: {100 * cut / parts:.0f}% of "
            "the parts used belong to elements that straddle two lines",
        ),
        (f"aligned_alloc({line}, size)    // or alignas({line}): {_each(size, line)}",),
        "how much memory the alignment costs", is_smaller=False,
    )


def _each(size: int, line: int) -> str:
    return "each lies in one line" if size <= line else f"each lies in {size // line} lines"


def _visits(group: ObjectGroup, size: int, line: int) -> tuple[int, int, list[int]]:
    """The uses of elements in lines that hold as much of the element as a line can, the uses in lines that hold less of
    it, and the bytes of an element at which lines begin, the most frequent first."""
    whole = cut = 0
    borders: dict[int, int] = {}
    most = min(size, line)
    for pattern in group.patterns:
        if not pattern.bytes:
            continue
        if pattern.offset % size and pattern.offset:
            borders[pattern.offset % size] = borders.get(pattern.offset % size, 0) + pattern.times
        at = pattern.offset
        end = pattern.offset + pattern.bytes
        while at < end:
            element = at // size * size
            stop = min(element + size, end)
            mask = ((1 << (stop - at)) - 1) << (at - pattern.offset)
            if pattern.used & mask:
                if stop - at >= most:
                    whole += pattern.times
                else:
                    cut += pattern.times
            at = stop
    return whole, cut, sorted(borders, key=lambda byte: -borders[byte])


def _by_use_alone(
    sites: Sites, here: Sequence[Site], groups: Mapping[int, ObjectGroup]
) -> Iterator[Repair]:
    """The split of records of unknown type: they lie at constant steps, and some of their bytes are never used."""
    guilty = [
        site for site in here
        if site.element_step is not None and 0 < abs(site.element_step) < _MOST_STEP
        and not site.is_used_later
        and _unused(sites, site) >= _UNUSED * site.line
    ]
    if not guilty:
        return
    # Elements that are skipped between two visits are loaded, too.
    used = sum(site.lines * site.used * site.elements_per_step for site in guilty) / max(amount(guilty).lines, 1)
    inner = guilty[0].inner
    multiples = "" if inner is None or inner.step is not None else "or multiples of that, "
    step = abs(guilty[0].element_step or 0)
    repair = _shrunk(
        Remedy.SPLIT, sites, guilty, used / sites.why.line, groups.get(guilty[0].number),
        (
            f"steps of {step:,} bytes, {multiples}and {', '.join(_use_of_lines(guilty))}",
        ),
        (
            "struct hot hot[N];      // what this loop uses",
            "struct rest rest[N];    // all else, with the same index",
        ),
        "what these bytes are, as their type is not known: with --object-type=PLACE=TYPE, there is one split for all "
        "loops",
    )
    if repair is not None:
        yield repair


def _unused(sites: Sites, site: Site) -> float:
    """The bytes of a line that a site's loop does not use. With small steps, bytes that are used late are used by its
    next iterations; with large ones by those of an outer loop, as in the columns of a matrix, unless other code loads
    the same lines."""
    if site.never is None:
        return 0.0
    is_strided = abs(site.element_step or 0) >= site.line
    return site.never + (site.late or 0.0 if is_strided and _is_shared(sites, site) else 0.0)


def _is_shared(sites: Sites, site: Site) -> bool:
    """Whether other loops had loaded a notable share of a site's lines before."""
    loop = site.inner.loop if site.inner else None
    others = 0
    for row in site.reuses:
        before = sites.at(row.before)
        if before is not None and (before.inner is None or before.inner.loop != loop):
            others += row.misses
    return others >= _SHARED * site.lines


def _use_of_lines(here: Sequence[Site]) -> tuple[str, ...]:
    """The average use of the sites' lines, as a clause; empty if not known."""
    known = [site for site in here if site.never is not None and site.lines]
    if not known:
        return ()
    lines = sum(site.lines for site in known)
    used, late, never = (
        sum(site.lines * (getattr(site, name) or 0.0) for site in known) / lines
        for name in ("used", "late", "never")
    )
    return (
        f"of each line, {used:.0f} bytes are used while it is cached, {late:.0f} at other times, {never:.0f} never",
    )


def _shrunk(
    remedy: Remedy, sites: Sites, here: Sequence[Site], factors: float | Mapping[int, float],
    group: ObjectGroup | None, evidence: tuple[str, ...], code: tuple[str, ...], unknown: str,
    is_smaller: bool = True, between: float = 0.0,
) -> Repair | None:
    """The repair by which sites load fewer lines; None if it saves too little. factors: the share of the present lines
    that remain, for all sites or by their numbers. is_smaller: whether the data also takes fewer lines. between: the
    share of its lines that it takes then; 0: the same as `factors`."""
    if not isinstance(factors, Mapping):
        if factors > 1 - _LEAST_SAVING:
            return None
        factors = {site.number: factors for site in here}
    why = sites.why
    after = Amount(0, 0)
    changes: dict[int, Change] = {}
    for site in here:
        factor = factors[site.number]
        left = Amount(round(site.lines * factor), round(site.last_level * factor))
        if is_smaller:
            left = Amount(*site.shrunk(factor, between or factor, why.d1_lines, why.ll_lines))
        access = site.access_with_steps(factor, remedy is Remedy.COLOCATE)
        changes[site.number] = Change(left.lines, left.last_level, access)
        after = after.plus(left)
    file, lines = code_lines(here)
    return Repair(
        remedy, busiest(here), file, lines, (), group, amount(here), after, None, sites.saved(changes), evidence,
        code, unknown, frozenset(site.number for site in here), why.line,
    )


def colocate_repairs(
    sites: Sites, notable: Sequence[Site], groups: Mapping[int, ObjectGroup], details: Sequence[Details]
) -> Iterator[Repair]:
    """The repairs of chains whose elements are scattered: laid out in the order of their visits, neighbours share
    lines. The order must be the same each time, as in a list, unlike that of searches in a tree. Tables are excluded:
    there an index says where the next element is, so elements cannot be moved."""
    for _, here in by_loop(notable).items():
        if not any(site.is_chain and not site.has_numbers_as_links for site in here) or not repeats(here):
            continue
        guilty = [site for site in here if site.is_scattered or site.is_chain]
        now = amount(guilty)
        visits = max(site.accesses for site in guilty)
        group = next((groups[site.number] for site in guilty if site.number in groups), None)
        if not visits or not now.lines:
            continue
        used = sum(site.lines * site.used for site in guilty)
        step = max(abs(site.element_step or 0) for site in guilty)
        size = _element(group, details) or step or max(used / visits, used / now.lines, 1)
        repair = _shrunk(
            Remedy.COLOCATE, sites, guilty, visits * size / sites.why.line / now.lines, group,
            (
                "each address is read from what the previous access loaded, and lies "
                + ("in another line" if all(site.is_nearby for site in guilty) else "far from it"),
                f"{now.lines / visits:.1f} lines are loaded per element of {size:,.0f} bytes",
            ),
            (
                "node* nodes = allocate(count * sizeof(node));    // one array",
                "nodes[i] = i-th of the visits; nodes[i].next = &nodes[i + 1];",
            ),
            "whether the order of the visits stays the same as elements are added and removed",
        )
        if repair is not None:
            yield repair


def repeats(here: Sequence[Site]) -> bool:
    """Whether lines come back after about the same number of others each time."""
    again: dict[int, int] = {}
    for site in here:
        for row in site.distances:
            if row.bucket:
                again[row.bucket] = again.get(row.bucket, 0) + row.misses
    octaves = (sum(again.get(bucket + step, 0) for step in range(_OCTAVE)) for bucket in again)
    return max(octaves, default=0) >= _AS_FAR * sum(again.values())


def _element(group: ObjectGroup | None, details: Sequence[Details]) -> int:
    """The size of an element of a group in bytes, by its type or its heap blocks; 0 if not known."""
    typed = next((one.typed for one in details if one.typed and one.entry.group is group), None)
    if typed is not None:
        return typed.type.size
    if group is None or group.blocks is None:
        return 0
    blocks = group.blocks
    is_element = blocks.smallest == blocks.largest < _POOL and blocks.number > 1
    return blocks.largest if is_element else 0
