# SPDX-License-Identifier: GPL-2.0-or-later
"""Text, Markdown and JSON."""

from __future__ import annotations

import dataclasses
import enum
import json

from bdbench.model import Campaign, Metric
from bdbench.summary import QUESTIONS, Summary
from bdbench.tables import Table, all_tables, circumstances

JSON_VERSION = 1


def as_text(campaign: Campaign) -> str:
    blocks = ["\n".join(circumstances(campaign))]
    blocks += [f"{table.title}\n\n{_text_table(table)}" for table in all_tables(campaign)]
    return "\n\n\n".join(blocks) + "\n"


def as_markdown(campaign: Campaign) -> str:
    blocks = ["\n".join(f"- {line}" for line in circumstances(campaign))]
    blocks += [f"### {table.title}\n\n{_markdown_table(table)}" for table in all_tables(campaign)]
    return "\n\n".join(blocks) + "\n"


def as_json(campaign: Campaign) -> str:
    """All samples, and the geometric means of the targets' ratios."""
    summary = Summary(campaign)
    means = []
    for question in QUESTIONS:
        mean = summary.mean_ratio(question.of, question.to, question.metric)
        if mean and not campaign.sweep:
            means.append({
                "metric": question.metric.name.lower(),
                "of": question.of,
                "to": question.to,
                "target": question.target,
                **dataclasses.asdict(mean),
            })
    content = {
        "version": JSON_VERSION,
        "units": {metric.name.lower(): metric.unit for metric in Metric},
        "means": means,
        **dataclasses.asdict(campaign),
    }
    return json.dumps(content, indent=1, default=_enum_value) + "\n"


def _enum_value(thing: object) -> object:
    if isinstance(thing, enum.Enum):
        return thing.value
    raise TypeError(f"{thing!r} has no JSON form")


def _text_table(table: Table) -> str:
    """A variant's name is broken at its hyphen, or the table would be wider than a screen."""
    split = [heading.partition("-")[::2] for heading in table.header]
    head = [tuple(part[0] for part in split), tuple(part[1] for part in split)]
    lines = [*(head if any(head[1]) else head[:1]), *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def _markdown_table(table: Table) -> str:
    rule = ("---", *("---:" for _ in table.header[1:]))
    return "\n".join(f"| {' | '.join(line)} |" for line in (table.header, rule, *table.rows))
