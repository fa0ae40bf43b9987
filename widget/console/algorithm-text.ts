// The table of algorithms that the server sends, and the text in DQL that a form made of it stands for.

import { send } from "./api";
import { named, type Predicate, type Schema } from "./schema";

export interface Argument {
  name: string;
  summary: string;
  kind: "int" | "float" | "bool" | "choice" | "ints" | "floats" | "nodes" | "groups";
  /** The least and the greatest number, or the words of a choice. Bounds may be BigInts. */
  range?: [number | bigint, number | bigint] | string[];
  default?: number | boolean | string | number[] | null;
  required?: boolean;
}

export interface Algorithm {
  name: string;
  summary: string;
  /** What it gives, in words: they say whether the numbers of nodes can be ordered and shown beside other values. */
  gives: string;
  weights: boolean;
  directions: string[];
  source: string;
  arguments: Argument[];
}

/** What somebody has filled in: texts by the names of arguments, "" for what has its default. */
export interface Filled {
  edges: string[];
  facet: string;
  values: Record<string, string>;
  /** What is shown of a node: the fields of a selection. */
  fields: string;
  order: string;
  rows: string;
}

/** The arguments that all algorithms have. They stand apart in the form, but for the nodes and the direction. */
export const RARE = ["threads", "seed"];

export const ORDERS = ["greatest first", "least first"];

/** Algorithms whose least numbers are what somebody looks for: the nearest, the first, the number of a group. */
const LEAST_FIRST = ["bfs", "distances", "topological_order", "components", "strong_components", "label_propagation", "louvain", "leiden"];

export const orderOf = (algorithm: Algorithm) => ORDERS[LEAST_FIRST.includes(algorithm.name) ? 1 : 0];

/** Reads the table. Throws the message of what is wrong. */
export async function readAlgorithms(): Promise<Algorithm[]> {
  const { body, status } = await send("console/algorithms", "", "");
  if (!body?.algorithms) {
    throw new Error(body?.errors?.[0]?.message ?? `the server answers with status ${status}`);
  }
  return body.algorithms;
}

/** Whether nodes have a number each, which a variable holds. */
export const hasNumbers = (algorithm: Algorithm) => ["a float for nodes", "an int for nodes"].includes(algorithm.gives);

/** Whether the result is shown by a second block, with values of the nodes. */
export const hasFields = (algorithm: Algorithm) => hasNumbers(algorithm) || algorithm.gives === "nodes";

export const edgesOf = (schema: Schema): Predicate[] => schema.predicates.filter((it) => it.type === "uid");

/** Uids, as a list of them or one alone; all else is a root. */
const UIDS = /^(0x[0-9a-f]+|\d+)([\s,]+(0x[0-9a-f]+|\d+))*$/i;

/** A root, and a filter after it: one that stands in a text is part of the text. */
const FILTERED = /^((?:"(?:\\.|[^"\\])*"|@(?!filter\b)|[^"@])*)(@filter\b[\s\S]*)?$/i;

/** A name that no other variable of the text has. `from` is a word of some languages, so its nodes have another name. */
const variableOf = (name: string) => (name === "from" ? "starts" : name);

/** An argument as it stands in the brackets; what has to stand in a block before it; nothing for a default. */
function written(argument: Argument, given: string): { value: string; before: string } {
  const text = given.trim();
  const isDefault = text === "" || (argument.kind !== "nodes" && text === String(argument.default));
  if (isDefault) {
    return { value: "", before: "" };
  }
  switch (argument.kind) {
    case "nodes": {
      if (UIDS.test(text)) {
        const uids = text.split(/[\s,]+/);
        return { value: uids.length > 1 ? `[${uids.join(", ")}]` : uids[0], before: "" };
      }
      const [, root, filter] = FILTERED.exec(text) ?? [, text];
      const variable = variableOf(argument.name);
      return { value: `uid(${variable})`, before: `${variable} as var(func: ${root!.trim()})${filter ? ` ${filter}` : ""}` };
    }
    case "ints":
    case "floats":
      return { value: `[${text.replace(/^\[|\]$/g, "").split(/[\s,]+/).filter(Boolean).join(", ")}]`, before: "" };
    case "groups":
      return { value: named(text), before: "" };
    default:
      return { value: text, before: "" };
  }
}

/** The text of a form. */
export function textOf(algorithm: Algorithm, filled: Filled): string {
  const before: string[] = [];
  const head: string[] = [];
  for (const argument of algorithm.arguments) {
    const isDirection = argument.name === "direction";
    const given = filled.values[argument.name] ?? "";
    const it = written(isDirection ? { ...argument, default: algorithm.directions[0] } : argument, given);
    if (it.before) {
      before.push(it.before);
    }
    if (it.value) {
      head.push(`${argument.name}: ${it.value}`);
    }
  }
  const facet = algorithm.weights && filled.facet.trim() ? ` @facets(${named(filled.facet.trim())})` : "";
  const edges = filled.edges.map((it) => `${named(it)}${facet}`).join(" ");
  const call = `${algorithm.name}(${head.join(", ")}) { ${edges || "…"} }`;
  const lines = [...before, hasFields(algorithm) ? `result as ${call}` : call];
  if (hasFields(algorithm)) {
    const order = filled.order === ORDERS[1] ? "orderasc" : "orderdesc";
    const sorted = hasNumbers(algorithm) ? `, ${order}: val(result)` : "";
    const fields = ["uid", ...filled.fields.split(/\s+/).filter(Boolean)];
    const number = hasNumbers(algorithm) ? [`${algorithm.name}: val(result)`] : [];
    const inner = [...fields, ...number].map((it) => `    ${it}`).join("\n");
    lines.push(`nodes(func: uid(result)${sorted}, first: ${filled.rows || "50"}) {\n${inner}\n  }`);
  }
  return `{\n${lines.map((it) => `  ${it}\n`).join("")}}\n`;
}
