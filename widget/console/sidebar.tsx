// Beside the editor: what was saved, what was run, and the names of the schema.

import { useState } from "preact/hooks";
import { LANGUAGES, languageOf } from "./languages";
import type { Schema } from "./schema";
import * as stored from "./stored";
import { Tabs } from "./tabs";

interface Given {
  schema: Schema;
  /** Grows when something was stored. */
  serial: number;
  isOpen: boolean;
  close(): void;
  open(query: stored.Saved): void;
  /** Writes a name where the cursor is. */
  write(name: string): void;
  changed(): void;
}

const LISTS = ["History", "Saved", "Names"];

const firstWords = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, 90);

export function Sidebar({ schema, isOpen, close, open, write, changed }: Given) {
  const [list, setList] = useState("Names");
  return (
    <aside class={isOpen ? "open" : ""} aria-label="queries and names" onKeyDown={(event) => event.key === "Escape" && close()}>
      <Tabs names={LISTS} chosen={list} choose={setList} label="lists" prefix="list" />
      <div class="scroll" role="tabpanel" id={`list-panel-${list}`} aria-labelledby={`list-${list}`} tabIndex={0}>
        {list === "History" && <Queries queries={stored.history()} open={open} none="Queries that were run stand here; none with a password is kept." />}
        {list === "History" && stored.history().length > 0 && (
          <button type="button" onClick={() => { stored.clearHistory(); changed(); }}>Clear the history</button>
        )}
        {list === "Saved" && (
          <Queries queries={stored.saved()} open={open} forget={(name) => { stored.forget(name); changed(); }} none="Ctrl-S saves a query in this browser." />
        )}
        {list === "Names" && <Names schema={schema} write={write} />}
      </div>
    </aside>
  );
}

interface QueriesGiven {
  queries: stored.Saved[];
  none: string;
  open(query: stored.Saved): void;
  forget?(name: string): void;
}

function Queries({ queries, none, open, forget }: QueriesGiven) {
  if (!queries.length) {
    return <p class="empty">{none}</p>;
  }
  return (
    <ul class="queries">
      {queries.map((it, at) => (
        <li key={it.name || at}>
          <button type="button" onClick={() => open(it)} title={it.text.slice(0, 1000)}>
            {it.name && <b>{it.name}</b>} {it.language !== LANGUAGES[0].id && <small class="muted">{languageOf(it.language).name}</small>} <code>{firstWords(it.text)}</code>
          </button>
          {forget && <button type="button" class="small" onClick={() => forget(it.name)} aria-label={`delete ${it.name}`}>×</button>}
        </li>
      ))}
    </ul>
  );
}

function Names({ schema, write }: { schema: Schema; write(name: string): void }) {
  const name = (it: string) => <button type="button" class="name" title="write it into the query" onClick={() => write(it)}>{it}</button>;
  if (!schema.predicates.length) {
    return <p class="empty">There are no predicates yet, or none that you may read.</p>;
  }
  return (
    <>
      {schema.types.length > 0 && <h2>Types</h2>}
      <ul class="names">
        {schema.types.map((it) => <li key={it.name} title={it.fields.join(", ")}><b>{name(it.name)}</b> <span class="muted">{it.fields.length} {it.fields.length === 1 ? "field" : "fields"}</span></li>)}
      </ul>
      <h2>Predicates</h2>
      <ul class="names">
        {schema.predicates.map((it) => (
          <li key={it.name}>{name(it.name)} <span class="muted">{it.list ? `[${it.type}]` : it.type}{it.reverse ? " ⇄" : ""}{it.index.length ? ` · ${it.index.join(", ")}` : ""}</span></li>
        ))}
      </ul>
    </>
  );
}
