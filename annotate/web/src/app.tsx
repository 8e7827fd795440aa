// SPDX-License-Identifier: GPL-2.0-or-later
//
// The frame around the views: title, tabs, and the chosen function at the bottom.

import { Component, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { PageContext, linkTo, usePage, type Page } from "./context";
import { metricValue } from "./costs";
import { baseName, metricText } from "./format";
import { KeysButton } from "./keys";
import { Memory } from "./memory";
import { Interval } from "./parts";
import { RangeNote } from "./range";
import { rangeOf, type Report } from "./report";
import { fragment, parse, patched, type State, type View } from "./state";
import { SampledNote } from "./sampled";
import { store, stored } from "./stored";
import { Data } from "./views/data";
import { PathsView } from "./views/flow_paths";
import { Graph } from "./views/graph";
import { Icicle } from "./views/icicle";
import { Profiles } from "./views/profiles";
import { RanksView } from "./views/ranks";
import { SharingView } from "./views/sharing";
import { Source } from "./views/source";
import { Summary } from "./views/summary";
import { Tables } from "./views/tables";
import { Treemap } from "./views/treemap";

const titles: Record<View, string> = {
    summary: "Summary",
    icicle: "Icicle",
    tables: "Tables",
    graph: "Call graph",
    source: "Source",
    treemap: "Treemap",
    data: "Data",
    sharing: "Sharing",
    paths: "Paths",
    ranks: "Ranks",
    profiles: "Profiles",
};
const components: Record<View, () => preact.JSX.Element> = {
    summary: Summary,
    icicle: Icicle,
    tables: Tables,
    graph: Graph,
    source: Source,
    treemap: Treemap,
    data: Data,
    sharing: SharingView,
    paths: PathsView,
    ranks: RanksView,
    profiles: Profiles,
};

export function App({ report }: { report: Report }) {
    const opened = useMemo(() => parse(location.hash, report.links), []);
    const [state, setState] = useState<State>(opened.state);
    const [problems, setProblems] = useState(opened.problems);
    const wanted = useRef(state);
    const [, setLoaded] = useState(0);
    const [failure, setFailure] = useState("");
    const [dark, setDark] = useState(() => {
        const chosen = stored("theme");
        return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    });
    // Only the first failure is shown.
    const fail = (error: unknown): void =>
        setFailure((said) => said || (error instanceof Error ? error.message : String(error)));
    // Keeps the report of the range that was chosen last.
    const ranged = useRef<Report | null>(null);
    const reportOf = (state: State): Report => {
        const range = rangeOf(report.facts, state);
        if (!range || !report.canWeigh("functions")) return report;
        const known = ranged.current?.range;
        if (known?.from !== range.from || known.to !== range.to) ranged.current = report.of(range);
        return ranged.current!;
    };
    // The old view stays until the data for the new state is unpacked.
    const show = (next: State): void => {
        const { dataset } = document.documentElement;
        const before = wanted.current;
        wanted.current = next;
        if (reportOf(next).isReady(next)) {
            delete dataset["busy"];
            return setState(next);
        }
        dataset["busy"] = "";
        if (next.view !== before.view) setState(next);
        void reportOf(next).load(next).catch(fail).then(() => {
            if (wanted.current !== next) return;
            delete dataset["busy"];
            setState({ ...next });
        });
    };
    useEffect(() => {
        const changed = (): void => {
            const { state: next, problems } = parse(location.hash, report.links);
            setProblems(problems);
            show(next);
        };
        const load = async (): Promise<void> => {
            const changed = (): void => setLoaded((count) => count + 1);
            await report.load(state).catch(fail);
            if (reportOf(state) !== report) await reportOf(state).load(state).catch(fail);
            changed();
            await report.loadRest(state, changed, fail);
            document.documentElement.dataset["loaded"] = "";
        };
        addEventListener("hashchange", changed);
        requestAnimationFrame(() => setTimeout(() => void load())); // after the first view is drawn
        return () => removeEventListener("hashchange", changed);
    }, []);
    useEffect(() => {
        document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    }, [dark]);
    const memory = useMemo(() => new Memory(), []);
    memory.searches.set(state.view, { q: state.q, re: state.re });
    const ofState = reportOf(state);
    const shown = ofState.isReady(state) ? ofState : report;
    const page = useMemo((): Page => ({
        report: shown,
        state,
        dark,
        memory,
        link: (patch) => linkTo(report, state, patch),
        go(patch, detail = false) {
            const next = patched(state, patch);
            if (detail) {
                history.replaceState(null, "", fragment(next, report.links));
                show(next);
            } else location.hash = fragment(next, report.links);
        },
    }), [shown, state, dark]);
    const current = useRef<HTMLAnchorElement>(null);
    useEffect(() => current.current?.scrollIntoView({ block: "nearest", inline: "nearest" }), [state.view]);
    const View = components[state.view];
    const tabs = (Object.keys(titles) as View[]).filter((view) =>
        (view !== "profiles" || report.facts.members.length > 0) && (view !== "data" || report.facts.data)
        && (view !== "sharing" || report.facts.sharing) && (view !== "paths" || report.facts.paths)
        && (view !== "ranks" || report.facts.ranks));
    const command = report.facts.sides[0]![0]!.command;
    return (
        <PageContext.Provider value={page}>
            <header class="top">
                <h1>
                    {report.comparing ? "What changed" : "Cache use"}{" "}
                    <span class="command" title={command}>{shortCommand(command)}</span>
                </h1>
                <span class="page-buttons">
                    <KeysButton />
                    <button
                        type="button" class={`theme glyph ${dark ? "sun" : "moon"}`}
                        onClick={() => { store("theme", dark ? "light" : "dark"); setDark(!dark); }}
                        aria-label={dark ? "Light colours" : "Dark colours"}
                    />
                </span>
                <nav aria-label="Views">
                    {tabs.map((view) => (
                        <a
                            key={view} ref={view === state.view ? current : null}
                            href={linkTo(report, state, { view, q: "", re: false, ...memory.searches.get(view) })}
                            aria-current={view === state.view ? "page" : undefined}
                        >
                            {titles[view]}
                        </a>
                    ))}
                </nav>
            </header>
            {failure && <p class="failure" role="status">Not all of the report can be shown: {failure}.</p>}
            {problems.length > 0 && (
                <p class="failure" role="status">
                    The link names what is not in this report, and is followed without it: {problems.join("; ")}.
                </p>
            )}
            <RangeNote />
            <SampledNote />
            <main data-view={state.view}>
                <Boundary key={`${state.view} ${shown.range?.from} ${shown.range?.to}`} at={state}><View /></Boundary>
            </main>
            {state.fn !== null && state.fn < report.facts.functions.length && <Chosen fn={state.fn} />}
        </PageContext.Provider>
    );
}

// An error in a view is confined to it: other views still work, and the view can be opened again.
interface Tried {
    at: State;
    error: string | null;
}

class Boundary extends Component<{ at: State; children: ComponentChildren }, Tried> {
    override state: Tried = { at: this.props.at, error: null };
    static override getDerivedStateFromError(error: unknown): Partial<Tried> {
        return { error: error instanceof Error ? error.message : String(error) };
    }
    static override getDerivedStateFromProps({ at }: { at: State }, tried: Tried): Partial<Tried> | null {
        return at === tried.at ? null : { at, error: null };
    }
    override render() {
        if (this.state.error === null) return this.props.children;
        return (
            <p class="failure" role="status">
                This view cannot be shown: {this.state.error}. The others can.{" "}
                <button type="button" onClick={() => { location.hash = "#summary"; }}>Summary</button>
            </p>
        );
    }
}

function shortCommand(command: string): string {
    const [program = "", ...rest] = command.split(" ");
    return [baseName(program), ...rest].join(" ");
}

// The chosen function, with links to it in each view.
function Chosen({ fn }: { fn: number }) {
    const { report, state, go, link } = usePage();
    const metric = report.sizeMetric(state.metric);
    const costs = report.functionCosts(fn);
    const to: [string, Partial<State>][] = [
        ["call graph", { view: "graph", centre: null }],
        ["source", { view: "source", file: null, line: null }],
        ["callers", { view: "tables", table: "callers" }],
        ["flat", { view: "tables", table: "flat", group: "none" }],
        ["treemap", { view: "treemap" }],
    ];
    if (report.facts.tree) to.unshift(["icicle", { view: "icicle", focus: true, node: null }]);
    return (
        <footer class="chosen-bar" aria-label="Chosen function">
            <span class="chosen-name" title={report.fullName(fn)}>
                <b>{report.name(fn)}</b> <small>{report.where(fn)}</small>
            </span>
            <span class="chosen-costs">
                {metric.heading}: {metricText(metric, metricValue(metric, costs, "incl"))}
                <Interval metric={metric} costs={costs} kind="incl" /> <small>incl</small>{" "}
                {metricText(metric, metricValue(metric, costs, "self"))}
                <Interval metric={metric} costs={costs} /> <small>self</small>
            </span>
            <span class="chosen-links">
                {to.map(([name, patch]) => (
                    <a key={name} href={link({ ...patch, q: "", re: false })}>{name}</a>
                ))}
                <button
                    type="button" class="glyph close" aria-label="Choose none"
                    onClick={() => go({ fn: null, focus: false })}
                />
            </span>
        </footer>
    );
}
