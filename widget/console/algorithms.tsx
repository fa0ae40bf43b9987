// A form for each algorithm, made of the server's table. It writes a query in DQL, which runs in the editor like any other one.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { edgesOf, hasFields, hasNumbers, orderOf, ORDERS, RARE, readAlgorithms, textOf, type Algorithm, type Argument, type Filled } from "./algorithm-text";
import { labelPredicates, named, type Schema } from "./schema";
import { Words } from "./words";

interface Given {
  schema: Schema;
  isShown: boolean;
  /** Puts a query into the editor, and runs it there. */
  run(text: string): void;
  /** Puts a query into the editor. */
  open(text: string): void;
}

export function AlgorithmsView({ schema, isShown, run, open }: Given) {
  const [table, setTable] = useState<Algorithm[]>([]);
  const [fault, setFault] = useState("");
  const [name, setName] = useState("");
  useEffect(() => {
    if (isShown && !table.length) {
      setFault("");
      readAlgorithms().then(setTable, (error: Error) => setFault(error.message));
    }
  }, [isShown]);
  const chosen = table.find((it) => it.name === name) ?? table[0];
  return (
    <div class="algorithms" hidden={!isShown} role="tabpanel" id="view-panel-Algorithms" aria-labelledby="view-Algorithms">
      {fault && <p class="fault empty" role="alert">{fault}</p>}
      {chosen && (
        <>
          <Choice table={table} chosen={chosen} choose={setName} />
          <Form key={chosen.name} {...{ table, algorithm: chosen, schema, choose: setName, run, open }} />
        </>
      )}
    </div>
  );
}

interface ChoiceGiven {
  table: Algorithm[];
  chosen: Algorithm;
  choose(name: string): void;
}

/** The names at the side, of which those are left that have a word in their name or their summary; arrows move between them. */
function Choice({ table, chosen, choose }: ChoiceGiven) {
  const [word, setWord] = useState("");
  const left = table.filter((it) => `${it.name} ${it.summary}`.toLowerCase().includes(word.trim().toLowerCase()));
  const key = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !left.length) {
      return;
    }
    const isInside = (event.target as HTMLElement).tagName === "BUTTON";
    const at = left.findIndex((it) => it.name === chosen.name);
    const next = left[isInside ? Math.max(0, Math.min(left.length - 1, at + step)) : 0];
    choose(next.name);
    document.getElementById(`algorithm-${next.name}`)?.focus();
    event.preventDefault();
  };
  return (
    <aside aria-label="algorithms" onKeyDown={key}>
      <input type="search" placeholder="Search" aria-label="search algorithms" value={word} onInput={(event) => setWord(event.currentTarget.value)} />
      <ul class="scroll">
        {left.map((it) => (
          <li key={it.name}>
            <button
              type="button"
              id={`algorithm-${it.name}`}
              aria-current={it === chosen ? "true" : undefined}
              title={it.summary}
              onClick={() => choose(it.name)}
            >
              {it.name}
            </button>
          </li>
        ))}
        {!left.length && <li class="empty">No algorithm has this word.</li>}
      </ul>
    </aside>
  );
}

/** What was filled in, by algorithm: it is there when somebody comes back to one. Edges are common to all. */
const memory: { edges: string[]; facet: string; forms: Map<string, Filled> } = { edges: [], facet: "", forms: new Map() };

function initial(algorithm: Algorithm, schema: Schema): Filled {
  const edges = edgesOf(schema);
  const alone = edges.length === 1 ? [edges[0].name] : [];
  const labels = labelPredicates(schema).slice(0, 2).map((name) => {
    const isOfLanguages = schema.predicates.find((it) => it.name === name)?.lang;
    return isOfLanguages ? `${named(name)}@.` : named(name);
  });
  const known = memory.forms.get(algorithm.name);
  const fresh = { values: {}, fields: labels.join(" "), order: orderOf(algorithm), rows: "50" };
  return { ...(known ?? fresh), edges: memory.edges.length ? memory.edges : alone, facet: memory.facet };
}

interface FormGiven {
  table: Algorithm[];
  algorithm: Algorithm;
  schema: Schema;
  choose(name: string): void;
  run(text: string): void;
  open(text: string): void;
}

function Form({ table, algorithm, schema, choose, run, open }: FormGiven) {
  const [filled, setFilled] = useState(() => initial(algorithm, schema));
  const form = useRef<HTMLFormElement>(null);
  const edges = useMemo(() => edgesOf(schema), [schema]);
  const change = (part: Partial<Filled>) => {
    const next = { ...filled, ...part };
    Object.assign(memory, { edges: next.edges, facet: next.facet });
    memory.forms.set(algorithm.name, next);
    setFilled(next);
  };
  const set = (name: string, value: string) => change({ values: { ...filled.values, [name]: value } });
  const flip = (name: string) =>
    change({ edges: filled.edges.includes(name) ? filled.edges.filter((it) => it !== name) : [...filled.edges, name] });
  // Edges that the schema no longer has, or that somebody else may read, are not asked for.
  const there = { ...filled, edges: filled.edges.filter((name) => edges.some((it) => it.name === name)) };
  const text = textOf(algorithm, there);
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    first.current?.setCustomValidity(there.edges.length ? "" : "Choose the edges that the graph has.");
  });
  const send = (go: (text: string) => void) => {
    if (form.current?.reportValidity()) {
      go(text);
    }
  };
  const [rare, usual] = [
    algorithm.arguments.filter((it) => RARE.includes(it.name)),
    algorithm.arguments.filter((it) => !RARE.includes(it.name)),
  ];
  const field = (argument: Argument) => <Field key={argument.name} {...{ argument, algorithm, schema, set }} value={filled.values[argument.name] ?? ""} />;
  return (
    <form
      class="algorithm"
      ref={form}
      onSubmit={(event) => { event.preventDefault(); send(run); }}
      onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send(run); } }}
    >
      <div class="scroll" tabIndex={-1}>
      <div class="inputs">
        <label class="narrow-only">Algorithm{" "}
          <select value={algorithm.name} onChange={(event) => choose(event.currentTarget.value)}>
            {table.map((it) => <option key={it.name}>{it.name}</option>)}
          </select>
        </label>
        <h2>{algorithm.name}</h2>
        <p><Words text={algorithm.summary} /></p>
        <p class="muted">Gives {algorithm.gives}. Source: {algorithm.source}.</p>
        <fieldset>
          <legend>Edges</legend>
          {edges.length === 0 && <p class="muted">The schema has no predicate of the type uid, or none that you may read.</p>}
          <div class="choices">
            {edges.map((it, at) => (
              <label key={it.name}>
                <input type="checkbox" ref={at === 0 ? first : undefined} checked={filled.edges.includes(it.name)} onChange={() => flip(it.name)} /> {it.name}
              </label>
            ))}
          </div>
          {algorithm.weights && (
            <label class="row">
              <span>weight <small>The facet with the weight of an edge; each counts once without.</small></span>
              <input value={filled.facet} placeholder="facet" autocomplete="off" spellcheck={false} onInput={(event) => change({ facet: event.currentTarget.value })} />
            </label>
          )}
        </fieldset>
        <fieldset>
          <legend>Arguments</legend>
          {usual.map(field)}
          <details>
            <summary>{rare.map((it) => it.name).join(" and ")}</summary>
            {rare.map(field)}
          </details>
        </fieldset>
        {hasFields(algorithm) && (
          <fieldset>
            <legend>Result</legend>
            <label class="row">
              <span>values <small>What is shown of each node: names of predicates, with spaces between them.</small></span>
              <input value={filled.fields} autocomplete="off" spellcheck={false} onInput={(event) => change({ fields: event.currentTarget.value })} />
            </label>
            {hasNumbers(algorithm) && (
              <label class="row">
                <span>order</span>
                <select value={filled.order} onChange={(event) => change({ order: event.currentTarget.value })}>
                  {ORDERS.map((it) => <option key={it}>{it}</option>)}
                </select>
              </label>
            )}
            <label class="row">
              <span>rows <small>On a page; the table has a button for the next one.</small></span>
              <input type="number" required min={1} max={100_000} value={filled.rows} onInput={(event) => change({ rows: event.currentTarget.value })} />
            </label>
          </fieldset>
        )}
      </div>
      <section class="preview" aria-label="the query that runs">
        <h3>The query</h3>
        <pre tabIndex={0}>{text}</pre>
      </section>
      </div>
      <div class="footer">
        <span>Ctrl-Enter runs it in the editor.</span>
        <button type="button" onClick={() => send(open)}>Open in editor</button>
        <button type="submit" class="main">Run</button>
      </div>
    </form>
  );
}

interface FieldGiven {
  argument: Argument;
  algorithm: Algorithm;
  schema: Schema;
  value: string;
  set(name: string, value: string): void;
}

const EXAMPLES: Record<string, string> = { nodes: "0x1, 0x2 or type(Person)", ints: "1, 2", floats: "1, 0.5" };

function Field({ argument, algorithm, schema, value, set }: FieldGiven) {
  const { name, kind, summary, required } = argument;
  const isDirection = name === "direction";
  const standard = isDirection ? algorithm.directions[0] : argument.default;
  const range = isDirection ? algorithm.directions : argument.range;
  const change = (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value);
  const common = { id: `argument-${name}`, value, required, onInput: change, "aria-describedby": `about-${name}` };
  return (
    <div class="row">
      <label for={common.id}>{name}{required && <b title="required"> *</b>}</label>
      <small id={`about-${name}`}><Words text={summary} /> {bounds(argument)}</small>
      {kind === "choice" && (
        <select {...common} value={value || String(standard)}>{(range as string[]).map((it) => <option key={it}>{it}</option>)}</select>
      )}
      {kind === "bool" && (
        <select {...common} value={value || String(standard)}><option>false</option><option>true</option></select>
      )}
      {kind === "groups" && (
        <select {...common}>
          <option value="">choose a predicate</option>
          {schema.predicates.filter((it) => it.type !== "uid" && it.type !== "password").map((it) => <option key={it.name}>{it.name}</option>)}
        </select>
      )}
      {(kind === "int" || kind === "float") && (
        <input
          {...common}
          type="number"
          min={String((range as [number, number])[0])}
          max={String((range as [number, number])[1])}
          step={kind === "int" ? 1 : "any"}
          placeholder={standard === null || standard === undefined ? "" : String(standard)}
        />
      )}
      {["nodes", "ints", "floats"].includes(kind) && (
        <input
          {...common}
          type="text"
          autocomplete="off"
          spellcheck={false}
          list={kind === "nodes" ? `roots-${name}` : undefined}
          placeholder={Array.isArray(standard) ? standard.join(", ") : EXAMPLES[kind]}
        />
      )}
      {kind === "nodes" && (
        <datalist id={`roots-${name}`}>
          {schema.types.map((it) => <option key={it.name} value={`type(${named(it.name)})`} />)}
        </datalist>
      )}
    </div>
  );
}

/** The bounds of a number in words, as far as somebody may meet them. */
function bounds({ kind, range }: Argument): string {
  if (!["int", "float", "ints", "floats"].includes(kind) || !range) {
    return kind === "nodes" ? "Uids, or a root of DQL." : "";
  }
  const [least, most] = range as [number, number];
  return most > 1_000_000 ? `${least} or more.` : `${least} to ${most.toLocaleString("en")}.`;
}
