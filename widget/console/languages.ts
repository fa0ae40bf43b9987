// The languages of the console: a list. All that differs between them is here, and what they have in common in the editor.

import type { Extension } from "@codemirror/state";
import { graphql, updateSchema } from "cm6-graphql";
import type { EditorView } from "@codemirror/view";
import { buildClientSchema, getIntrospectionQuery } from "graphql";
import { faultsOf, send, type Answer, type Fault } from "./api";
import { complete as completeCypher, cypher, quoted } from "./cypher";
import * as values from "./cypher-values";
import { complete, dql } from "./dql";
import type { Step } from "./explain";
import type { Network } from "./network";
import { blocksOf, type Block } from "./rows";
import { named } from "./schema";

/** What became of a request. */
export interface Outcome {
  language: string;
  /** The text that was sent. */
  text: string;
  /** The data of the answer; undefined where there are none. */
  data: any;
  /** The whole answer. */
  body: any;
  faults: Fault[];
  steps: Step[];
  milliseconds: number;
  /** What the server took itself, in milliseconds. */
  inside: number;
}

export interface Language {
  id: string;
  name: string;
  example: string;
  extension: Extension;
  /** Whether its texts are formatted by their braces. */
  formats: boolean;
  /** Whether its requests have parameters, as an object in JSON. */
  hasParameters: boolean;
  /** Whether the server tells the steps of its queries. */
  explains: boolean;
  /** What returns nodes to draw; undefined where no answer has any. */
  drawn?: string;
  /** A type or a predicate as the language has it. */
  named(name: string): string;
  blocks(data: any): Block[];
  /** Adds the nodes of an answer to a network. */
  draw(network: Network, data: any): void;
  run(text: string, signal: AbortSignal, parameters: string): Promise<Outcome>;
  /** Tells an editor what the server's schema has. */
  learn?(view: EditorView): Promise<void>;
}

function outcome(language: string, text: string, answer: Answer): Outcome {
  const { body } = answer;
  if (body === undefined) {
    throw new Error(answer.text.trim() || `the server answers with status ${answer.status}`);
  }
  const extensions = body.extensions ?? {};
  const nanoseconds = extensions.server_latency?.total_ns ?? extensions.tracing?.duration ?? 0;
  return {
    language, text, body,
    data: body.data ?? undefined,
    faults: faultsOf(body),
    steps: extensions.explain ?? [],
    milliseconds: answer.milliseconds,
    inside: Number(nanoseconds) / 1e6,
  };
}

/** Whether a request in DQL changes data: it begins with one of these, behind comments. */
const CHANGES = /^(\s|#[^\n]*\n)*(upsert\b|mutation\b|\{(\s|#[^\n]*\n)*(set|delete)\s*\{)/;

/** What languages have in common whose answers are objects in objects. */
const NESTED = {
  formats: true, hasParameters: false, explains: true, named, blocks: blocksOf,
  draw: (network: Network, data: any) => network.read(data),
};

const DQL: Language = {
  ...NESTED,
  id: "dql",
  name: "DQL",
  example: "{\n  nodes(func: has(dgraph.type), first: 50) {\n    uid\n    dgraph.type\n    expand(_all_) { uid }\n  }\n}\n",
  extension: [dql, dql.data.of({ autocomplete: complete })],
  drawn: "{ q(func: has(name), first: 50) { uid knows { uid } } }",
  async run(text, signal) {
    const answer = CHANGES.test(text)
      ? await send("mutate?commitNow=true", "application/rdf", text, signal)
      : await send("query?explain=analyze&warnings=true&debug=true", "application/dql", text, signal);
    return outcome("dql", text, answer);
  },
};

/** The text of an object in JSON, whose numbers stay as they are written. */
function objectIn(text: string): string {
  let value: unknown;
  let why = "";
  try {
    value = JSON.parse(text.trim() || "{}");
  } catch (error) {
    why = `: ${(error as Error).message}`;
  }
  if (why || typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`the parameters are no object in JSON${why} (write names without \`$\`, such as {"year": 1815})`);
  }
  return text.trim() || "{}";
}

/** The columns of a plan in Cypher: those of `EXPLAIN`, and those that `PROFILE` adds. */
const PLAN_COLUMNS = ["operator", "detail", "expected", "actual", "ms"];

/** The steps of a plan in Cypher; none for another answer. */
function planSteps(data: any): Step[] {
  const columns: string[] = data?.columns ?? [];
  if (columns.length < 3 || columns.some((it, at) => it !== PLAN_COLUMNS[at])) {
    return [];
  }
  return data.rows.map(([operator, detail, expected, actual, ms]: any[]): Step => ({
    // What is part of an operator is indented by two blanks below it.
    depth: (operator.length - operator.trimStart().length) / 2,
    operator: operator.trimStart(),
    detail: detail ?? "",
    estimate: expected,
    rows: actual,
    ns: ms === undefined || ms === null ? null : Number(ms) * 1e6,
    threads: 1,
    strategy: "",
  }));
}

/** Whether the result of a query in Cypher is a plan. */
const IS_PLAN = /^(\s|\/\/[^\n]*\n|\/\*[^]*?\*\/)*(explain|profile)\b/i;

const CYPHER: Language = {
  id: "cypher",
  name: "Cypher",
  example: "MATCH (n)-[r]->(m)\nRETURN n, r, m\nLIMIT 50\n",
  extension: [cypher, cypher.data.of({ autocomplete: completeCypher })],
  formats: false,
  hasParameters: true,
  explains: true,
  drawn: "MATCH (n)-[r]->(m) RETURN n, r, m LIMIT 50",
  named: quoted,
  blocks: values.blocksOf,
  draw: (network, data) => values.draw(network, data.rows),
  async run(text, signal, parameters) {
    const params = objectIn(parameters);
    const sent = (query: string) =>
      send("cypher", "application/json", `{"query": ${JSON.stringify(query)}, "params": ${params}}`, signal);
    const result = outcome("cypher", text, await sent(text));
    if (result.data !== undefined) {
      const plan = IS_PLAN.test(text) ? result.data : (await sent(`EXPLAIN ${text}`)).body?.data;
      result.steps = planSteps(plan);
    }
    return result;
  },
};

const GRAPHQL: Language = {
  ...NESTED,
  id: "graphql",
  name: "GraphQL",
  example: "{\n  __schema {\n    queryType { fields { name } }\n  }\n}\n",
  extension: graphql(),
  async run(text, signal) {
    return outcome("graphql", text, await send("graphql", "application/json", JSON.stringify({ query: text }), signal));
  },
  async learn(view) {
    const { body } = await send("graphql", "application/json", JSON.stringify({ query: getIntrospectionQuery() }));
    // A server without a GraphQL schema has nothing to propose.
    if (body?.data?.__schema) {
      updateSchema(view, buildClientSchema(body.data));
    }
  },
};

/** All languages, in the order in which they are offered. */
export const LANGUAGES: Language[] = [DQL, CYPHER, GRAPHQL];

export const languageOf = (id: string) => LANGUAGES.find((it) => it.id === id) ?? LANGUAGES[0];
