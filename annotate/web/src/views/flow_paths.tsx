// SPDX-License-Identifier: GPL-2.0-or-later
//
// Hot paths within functions: the cost of each, its lines, and where it leaves other hot paths.

import type { ComponentChildren } from "preact";
import { usePage } from "../context";
import type { HotPath, PathRow, Paths, PathsOf } from "../data";
import { baseName, count, grouped, percent, times } from "../format";
import { FunctionLink } from "../parts";

const mostStretches = 24;

export function PathsView() {
    const paths = usePage().report.facts.paths;
    if (!paths) return <p class="empty">Paths within functions are recorded by a run with --paths=yes.</p>;
    const sparse = {
        number: paths.hot.number - paths.dense.number,
        costs: paths.hot.costs.map((cost, at) => cost - paths.dense.costs[at]!),
    };
    return (
        <section class="paths" data-hot={paths.hot.number}>
            <h2>Paths within functions</h2>
            <p>{paths.mark}</p>
            <Table paths={paths} name="All paths">
                <Row paths={paths} row={paths.hot}>{times(paths.hot.number, "hot path")}</Row>
                <Row paths={paths} row={paths.dense}>{grouped(paths.dense.number)} of them dense</Row>
                <Row paths={paths} row={sparse}>{grouped(sparse.number)} of them sparse</Row>
                <Row paths={paths} row={paths.colder}>{times(paths.colder.number, "colder path")}</Row>
                {paths.other.costs.some(Boolean) && <Row paths={paths} row={paths.other}>not separated</Row>}
                {paths.unfollowed.costs.some(Boolean) && (
                    <Row paths={paths} row={paths.unfollowed}>functions without paths</Row>
                )}
            </Table>
            <ol class="hints">
                {paths.functions.map((one) => <OfFunction key={one.function} one={one} paths={paths} />)}
            </ol>
        </section>
    );
}

function Table({ paths, name, children }: { paths: Paths; name: string; children: ComponentChildren }) {
    const { report } = usePage();
    return (
        <div class="scroll-x" tabIndex={0} role="region" aria-label={name}>
            <table class="top">
                <thead>
                    <tr>
                        {paths.columns.map((metric) => (
                            <th key={metric} scope="col" class="n" title={report.metric(metric)?.title}>
                                {report.metric(metric)?.heading ?? metric}
                            </th>
                        ))}
                        <th scope="col">path</th>
                    </tr>
                </thead>
                <tbody>{children}</tbody>
            </table>
        </div>
    );
}

function Row({ paths, row, children }: { paths: Paths; row: PathRow; children: ComponentChildren }) {
    return (
        <tr>
            {row.costs.map((cost, at) => (
                <td key={at} class="n" data-exact={cost}>
                    {count(cost)}{cost !== 0 && ` (${percent(cost / paths.totals[at]!)})`}
                </td>
            ))}
            <td>{children}</td>
        </tr>
    );
}

function OfFunction({ one, paths }: { one: PathsOf; paths: Paths }) {
    const { report } = usePage();
    return (
        <li data-paths={report.name(one.function)}>
            <h3><FunctionLink fn={one.function} view="source" /></h3>
            <p>
                {grouped(one.hot.length)} of {times(one.whole.number, "path")}{" "}
                {one.hot.length === 1 ? "is" : "are"} hot.
            </p>
            <Table paths={paths} name={`Paths of ${report.name(one.function)}`}>
                {one.hot.map((path, at) => (
                    <Row key={at} paths={paths} row={path.row}>
                        <Path path={path} fn={one.function} />
                    </Row>
                ))}
                {(one.colder.number > 0 || one.colder.costs.some(Boolean)) && (
                    <Row paths={paths} row={one.colder}>{times(one.colder.number, "colder path")}</Row>
                )}
                {(one.other.number > 0 || one.other.costs.some(Boolean)) && (
                    <Row paths={paths} row={one.other}>not separated: {times(one.other.number, "time")}</Row>
                )}
                <Row paths={paths} row={one.whole}>all of the function itself</Row>
            </Table>
        </li>
    );
}

function Path({ path, fn }: { path: HotPath; fn: number }) {
    const kind = path.dense === null ? "" : path.dense ? ", dense" : ", sparse";
    return (
        <>
            {times(path.row.number, "time")}{kind}: <Trail path={path} fn={fn} />
            {path.parts.map((text, at) => <div key={at} class="note">{text}</div>)}
        </>
    );
}

function Trail({ path, fn }: { path: HotPath; fn: number }) {
    const { report, link } = usePage();
    const more = path.trail.length - mostStretches;
    let before = -1;
    return (
        <>
            {path.trail.slice(0, mostStretches).map(([file, first, last], at) => {
                const comma = at > 0 && ", ";
                if (file < 0) return <span key={at}>{comma}0x{first.toString(16)}-0x{last.toString(16)}</span>;
                const name = file === before ? "" : `${baseName(report.facts.files[file] ?? "")}:`;
                before = file;
                return (
                    <span key={at}>
                        {comma}
                        <a href={link({ view: "source", fn, file, line: first })}>
                            {name}{first === last ? first : `${first}-${last}`}
                        </a>
                    </span>
                );
            })}
            {more > 0 && ` and ${grouped(more)} more`}
        </>
    );
}
