// What the console knows about the graph: predicates, types, words. It is asked for when the page opens, and after each change.

import { query, send } from "./api";

export interface Predicate {
  name: string;
  type: string;
  list: boolean;
  index: string[];
  reverse: boolean;
  count: boolean;
  lang: boolean;
  upsert: boolean;
  unique: boolean;
}

export interface NodeType {
  name: string;
  fields: string[];
}

export interface Schema {
  predicates: Predicate[];
  types: NodeType[];
  functions: string[];
  directives: string[];
}

/** The newest schema that is known. */
export const about: { now: Schema } = {
  now: { predicates: [], types: [], functions: [], directives: [] },
};

/** Names that the server made for itself. */
const isOurs = (name: string) => name.startsWith("dgraph.") && name !== "dgraph.type";

/** Reads the schema. */
export async function read(): Promise<Schema> {
  const [data, words] = await Promise.all([query("schema {}"), send("ui/keywords", "", "")]);
  const keywords: { name: string; type: string }[] = words.body?.keywords ?? [];
  const ofType = (type: string) => keywords.filter((it) => it.type === type).map((it) => it.name);
  const predicates: Predicate[] = (data.schema ?? [])
    .filter((it: any) => !isOurs(it.predicate))
    .map((it: any) => ({
      name: it.predicate, type: it.type, list: !!it.list, index: it.tokenizer ?? [], reverse: !!it.reverse,
      count: !!it.count, lang: !!it.lang, upsert: !!it.upsert, unique: !!it.unique,
    }));
  const types: NodeType[] = (data.types ?? [])
    .filter((it: any) => !isOurs(it.name) && !it.name.startsWith("dgraph."))
    .map((it: any) => ({ name: it.name, fields: (it.fields ?? []).map((field: { name: string }) => field.name) }));
  about.now = {
    predicates,
    types,
    functions: ofType("condition"),
    directives: ofType("directive"),
  };
  return about.now;
}

/** A predicate as DQL names it: in angle brackets where it is no plain word. */
export const named = (name: string): string =>
  /^~/.test(name) ? `~${named(name.slice(1))}` : /^[\p{L}_][\p{L}\d_.]*$/u.test(name) ? name : `<${name}>`;

/** How many questions are asked in one request. */
const AT_ONCE = 40;

/** Counts the nodes that each predicate and each type has. */
export async function counts(schema: Schema): Promise<Map<string, number>> {
  const roots = [
    ...schema.predicates.map((it) => [it.name, `has(${named(it.name)})`]),
    ...schema.types.map((it) => [`type ${it.name}`, `type(${named(it.name)})`]),
  ];
  const found = new Map<string, number>();
  for (let at = 0; at < roots.length; at += AT_ONCE) {
    const some = roots.slice(at, at + AT_ONCE);
    const blocks = some.map(([, root], number) => `c${number}(func: ${root}) { count(uid) }`);
    const data = await query(`{ ${blocks.join("\n")} }`);
    some.forEach(([name], number) => found.set(name, Number(data[`c${number}`]?.[0]?.count ?? 0)));
  }
  return found;
}

/** The predicates by which nodes are called, the best one first. */
export function labelPredicates(schema: Schema): string[] {
  const ranks = [/^name$/i, /^title$/i, /^label$/i, /name$/i, /title$/i];
  const rank = (name: string) => ranks.findIndex((it) => it.test(name));
  const texts = schema.predicates.filter((it) => ["string", "default"].includes(it.type) && rank(it.name) >= 0);
  return texts.map((it) => it.name).sort((one, two) => rank(one) - rank(two)).slice(0, 4);
}
