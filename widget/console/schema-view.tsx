// The schema as a table with counts, and as a picture: types, and the edges between them.

import { useEffect, useMemo, useState } from "preact/hooks";
import { query } from "./api";
import { GraphPane } from "./graph";
import { Network } from "./network";
import { counts, named, type Predicate, type Schema } from "./schema";
import { Tabs } from "./tabs";

interface Given {
  schema: Schema;
  /** Puts a query into the editor. */
  show(text: string): void;
}

/** The nodes of a type that are looked at to learn where its edges lead, and the targets of each. */
const SAMPLE = [50, 5];

/** A node for each type, and an edge where a predicate leads from one to another, as far as a sample shows. */
async function picture(schema: Schema, known: Map<string, number>): Promise<Network> {
  const network = new Network();
  const edges = schema.predicates.filter((it) => it.type === "uid").map((it) => it.name);
  const most = Math.max(1, ...schema.types.map((it) => known.get(`type ${it.name}`) ?? 0));
  for (const type of schema.types) {
    const count = known.get(`type ${type.name}`) ?? 0;
    network.node(type.name, { nodes: count, fields: type.fields.join(", ") });
    const node = network.nodes.get(type.name)!;
    node.kind = type.name;
    node.label = `${type.name} ${count.toLocaleString("en")}`;
    node.size = 8 + 22 * Math.sqrt(count / most);
  }
  for (const type of schema.types) {
    const fields = type.fields.filter((it) => edges.includes(it));
    if (!fields.length) {
      continue;
    }
    const inner = fields.map((it, at) => `f${at}: ${named(it)} (first: ${SAMPLE[1]}) { dgraph.type }`).join(" ");
    const data = await query(`{ q(func: type(${named(type.name)}), first: ${SAMPLE[0]}) { ${inner} } }`);
    for (const row of data.q ?? []) {
      fields.forEach((field, at) => {
        const targets = [row[`f${at}`] ?? []].flat() as { "dgraph.type"?: string[] }[];
        for (const target of targets.flatMap((it) => it["dgraph.type"] ?? [])) {
          if (network.nodes.has(target)) {
            network.edge(type.name, field, target);
          }
        }
      });
    }
  }
  for (const { from, name, to } of network.edges.values()) {
    network.nodes.get(from)!.values.push([name, `→ ${to}`]);
  }
  return network;
}

const marks = (it: Predicate) =>
  [it.reverse && "@reverse", it.count && "@count", it.lang && "@lang", it.upsert && "@upsert", it.unique && "@unique"].filter(Boolean).join(" ");

export function SchemaView({ schema, show }: Given) {
  const [shape, setShape] = useState("List");
  const [known, setKnown] = useState<Map<string, number> | null>(null);
  const [fault, setFault] = useState("");
  useEffect(() => {
    counts(schema).then(setKnown, (error: Error) => setFault(error.message));
  }, [schema]);
  const make = useMemo(() => () => picture(schema, known ?? new Map()), [schema, known]);
  const count = (name: string) => known?.get(name)?.toLocaleString("en") ?? "…";
  return (
    <div class="schema" role="tabpanel" id="view-panel-Schema" aria-labelledby="view-Schema">
      <div class="bar">
        <Tabs names={["List", "Picture"]} chosen={shape} choose={setShape} label="forms of the schema" prefix="shape" />
        {fault && <span class="fault" role="alert">{fault}</span>}
      </div>
      <div class="schema-body scroll" role="tabpanel" id={`shape-panel-${shape}`} aria-labelledby={`shape-${shape}`} tabIndex={0}>
        {shape === "Picture" && known && (schema.types.length ? <GraphPane make={make} reads={false} /> : <p class="empty">There are no types: the picture shows types and the edges between them.</p>)}
        {shape === "List" && (
          <>
            <table>
              <caption>Types</caption>
              <thead><tr><th>type</th><th>nodes</th><th>fields</th></tr></thead>
              <tbody>
                {schema.types.map((it) => (
                  <tr key={it.name}>
                    <td>
                      <button type="button" class="link" onClick={() => show(`{\n  nodes(func: type(${named(it.name)}), first: 50) {\n    uid\n${it.fields.map((field) => `    ${fieldOf(schema, field)}\n`).join("")}  }\n}\n`)}>{it.name}</button>
                    </td>
                    <td class="number">{count(`type ${it.name}`)}</td>
                    <td>{it.fields.join(", ")}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <table>
              <caption>Predicates</caption>
              <thead><tr><th>predicate</th><th>type</th><th>nodes</th><th>index</th><th>directives</th></tr></thead>
              <tbody>
                {schema.predicates.map((it) => (
                  <tr key={it.name}>
                    <td>
                      <button type="button" class="link" onClick={() => show(`{\n  nodes(func: has(${named(it.name)}), first: 50) {\n    uid\n    ${fieldOf(schema, it.name)}\n  }\n}\n`)}>{it.name}</button>
                    </td>
                    <td>{it.list ? `[${it.type}]` : it.type}</td>
                    <td class="number">{count(it.name)}</td>
                    <td>{it.index.join(", ")}</td>
                    <td>{marks(it)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </div>
    </div>
  );
}

/** A field as it stands in a query: edges have a selection. */
function fieldOf(schema: Schema, name: string): string {
  const back = schema.predicates.find((it) => it.name === name.replace(/^~/, ""));
  return back?.type === "uid" ? `${named(name)} { uid }` : named(name);
}
