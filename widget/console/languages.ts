// The languages of the console: a list. All that differs between them is here, and what they have in common in the editor.

import type { Extension } from "@codemirror/state";
import { graphql, updateSchema } from "cm6-graphql";
import type { EditorView } from "@codemirror/view";
import { buildClientSchema, getIntrospectionQuery } from "graphql";
import { faultsOf, send, type Answer, type Fault } from "./api";
import { complete, dql } from "./dql";
import type { Step } from "./explain";

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
  run(text: string, signal: AbortSignal): Promise<Outcome>;
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

const DQL: Language = {
  id: "dql",
  name: "DQL",
  example: "{\n  nodes(func: has(dgraph.type), first: 50) {\n    uid\n    dgraph.type\n    expand(_all_) { uid }\n  }\n}\n",
  extension: [dql, dql.data.of({ autocomplete: complete })],
  async run(text, signal) {
    const answer = CHANGES.test(text)
      ? await send("mutate?commitNow=true", "application/rdf", text, signal)
      : await send("query?explain=true&warnings=true&debug=true", "application/dql", text, signal);
    return outcome("dql", text, answer);
  },
};

const GRAPHQL: Language = {
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
export const LANGUAGES: Language[] = [DQL, GRAPHQL];

export const languageOf = (id: string) => LANGUAGES.find((it) => it.id === id) ?? LANGUAGES[0];
