// The result of a query: its faults, and the panes that show it.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Fault } from "./api";
import { Chart } from "./chart";
import { copied, copyNote } from "./copy";
import { Explain } from "./explain";
import { nextPage, pageLength } from "./format";
import { GraphPane } from "./graph";
import { languageOf, type Outcome } from "./languages";
import { Network } from "./network";
import { jsonOf, type Block } from "./rows";
import { Table } from "./table";
import { Tabs } from "./tabs";
import { Words } from "./words";

const PANES = ["Table", "JSON", "Graph", "Chart", "Explain"];

interface Given {
  outcome: Outcome;
  pane: string;
  setPane(name: string): void;
  goTo(fault: Fault): void;
  /** Asks by a text, and says which rows stood before it. */
  page(text: string): void;
  tell(text: string): void;
}

/** Whether a text asks for uids itself; the console has all nodes tell theirs. */
const asksUid = (outcome: Outcome) => outcome.language !== "dql" || /(^|[\s{,:])uid(?=[\s},#]|$)/m.test(outcome.text);

function withoutUids(value: any): any {
  if (Array.isArray(value)) {
    return value.map(withoutUids);
  }
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).filter(([name]) => name !== "uid");
    return Object.fromEntries(pairs.map(([name, it]) => [name, withoutUids(it)]));
  }
  return value;
}

export function Faults({ faults, goTo }: { faults: Fault[]; goTo(fault: Fault): void }) {
  if (!faults.length) {
    return null;
  }
  return (
    <div class="faults" role="alert">
      <ul>
        {faults.map((fault, at) => (
          <li key={at} class={fault.isWarning ? "warning" : "error"}>
            {fault.line > 0 && (
              <button type="button" onClick={() => goTo(fault)} title="go to this place">
                {fault.line}:{fault.column}
              </button>
            )}
            <span><Words text={fault.message} />{fault.hint && <em> <Words text={fault.hint} /></em>}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function Result({ outcome, pane: chosen, setPane, goTo, page, tell }: Given) {
  const { blocks: blocksOf, explains } = languageOf(outcome.language);
  const panes = PANES.filter((it) => it !== "Explain" || explains || outcome.steps.length);
  const pane = panes.includes(chosen) ? chosen : "Table";
  const blocks = useMemo(() => blocksOf(outcome.data), [outcome]);
  const [name, setName] = useState("");
  const block = blocks.find((it) => it.name === name) ?? blocks[0];
  const shows = useMemo(() => asksUid(outcome), [outcome]);
  const { faults, data } = outcome;
  return (
    <section class="result" aria-label="result">
      <Faults faults={faults} goTo={goTo} />
      {data !== undefined && (
        <>
          <div class="result-bar">
            <Tabs names={panes} chosen={pane} choose={setPane} label="views of the result" prefix="pane" />
            {blocks.length > 1 && (pane === "Table" || pane === "Chart") && (
              <label class="block">
                block{" "}
                <select value={block?.name} onChange={(event) => setName(event.currentTarget.value)}>
                  {blocks.map((it) => <option key={it.name} value={it.name}>{it.name} ({it.rows.length})</option>)}
                </select>
              </label>
            )}
            <span class="muted" role="status">
              {outcome.milliseconds.toFixed(0)} ms{outcome.inside ? `, ${outcome.inside.toFixed(1)} ms in the server` : ""}
            </span>
          </div>
          <div class="pane-body" role="tabpanel" id={`pane-panel-${pane}`} aria-labelledby={`pane-${pane}`} tabIndex={-1}>
            <Pane {...{ pane, outcome, block, shows, page, tell }} />
          </div>
        </>
      )}
    </section>
  );
}

interface PaneGiven {
  pane: string;
  outcome: Outcome;
  block: Block | undefined;
  shows: boolean;
  page(text: string): void;
  tell(text: string): void;
}

function Pane({ pane, outcome, block, shows, page, tell }: PaneGiven) {
  const spoken = languageOf(outcome.language);
  const make = useMemo(() => async () => {
    const network = new Network();
    spoken.draw(network, outcome.data);
    await network.complete();
    return network;
  }, [outcome]);
  const json = useMemo(
    () => (pane === "JSON" ? jsonOf(shows ? outcome.data : withoutUids(outcome.data)) : ""),
    [pane, outcome, shows],
  );
  const next = useMemo(() => {
    const count = block && outcome.language === "dql" ? pageLength(outcome.text, block.name) : 0;
    const isFull = block && count > 0 && block.rows.length >= count;
    return isFull ? nextPage(outcome.text, block.name, String(block.rows.at(-1)?.uid ?? "")) : undefined;
  }, [outcome, block]);
  if (pane === "Graph") {
    return spoken.drawn ? <GraphPane make={make} reads example={spoken.drawn} /> : <p class="empty">The graph is drawn for queries in DQL and Cypher.</p>;
  }
  if (pane === "Explain") {
    return <Explain steps={outcome.steps} />;
  }
  if (pane === "JSON") {
    return <Json text={json} tell={tell} />;
  }
  if (!block) {
    return <p class="empty">The answer has no rows; it stands at JSON.</p>;
  }
  if (pane === "Chart") {
    return <Chart block={block} />;
  }
  return <Table block={block} key={block.name + outcome.text} showsUid={shows} more={next ? () => page(next) : undefined} tell={tell} />;
}

/** So much text is shown at once: a browser gets slow with more. */
const JSON_SHOWN = 1_000_000;

function Json({ text, tell }: { text: string; tell(text: string): void }) {
  const [all, setAll] = useState(false);
  useEffect(() => setAll(false), [text]);
  const copy = async () => {
    tell(copyNote(await copied(text), "the JSON is copied"));
  };
  return (
    <div class="pane">
      <pre class="json scroll" tabIndex={0} aria-label="JSON">{all ? text : text.slice(0, JSON_SHOWN)}</pre>
      <div class="footer">
        <span>{text.length.toLocaleString("en")} characters</span>
        {!all && text.length > JSON_SHOWN && <button type="button" onClick={() => setAll(true)}>Show all</button>}
        <button type="button" onClick={copy}>Copy JSON</button>
      </div>
    </div>
  );
}
