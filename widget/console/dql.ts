// DQL in the editor: its colours, and what is proposed while somebody types.

import { StreamLanguage, type StringStream } from "@codemirror/language";
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { about } from "./schema";

const WORDS = new Set(
  "query mutation upsert set delete fragment schema type var as func first offset after orderasc orderdesc and or not true false".split(" "),
);

function token(stream: StringStream): string | null {
  if (stream.eatSpace()) {
    return null;
  }
  if (stream.match(/#.*/)) {
    return "comment";
  }
  if (stream.match(/"(?:\\.|[^"\\])*"?/)) {
    return "string";
  }
  if (stream.match(/\/(?:\\.|[^/\\])+\/[a-z]*(?=\s*\))/)) {
    return "regexp";
  }
  if (stream.match(/@[\w.]+/)) {
    return "meta";
  }
  if (stream.match(/\$\w+/)) {
    return "variableName.special";
  }
  if (stream.match(/0x[0-9a-fA-F]+\b|-?\d+(\.\d+)?([eE][+-]?\d+)?\b/)) {
    return "number";
  }
  if (stream.match(/<[^>\s]*>/)) {
    return "propertyName";
  }
  const word = stream.match(/~?[\p{L}_][\p{L}\d_.\-/]*/u) as RegExpMatchArray | null;
  if (word) {
    if (stream.match(/\s*:/, false)) {
      return "labelName";
    }
    if (stream.match(/\s*\(/, false)) {
      return "variableName.function";
    }
    return WORDS.has(word[0].toLowerCase()) ? "keyword" : "propertyName";
  }
  if (stream.match(/[{}()[\]]/)) {
    return "bracket";
  }
  stream.next();
  return "operator";
}

export const dql = StreamLanguage.define({
  name: "dql",
  token,
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", '"'] } },
});

const option = (type: string, labels: Iterable<string>, detail = ""): Completion[] =>
  [...labels].map((label) => ({ label, type, detail }));

const snippet = (label: string): Completion => ({ label, type: "function", apply: `${label}(` });

/** What stands before the cursor says which names fit: a function at a root or a filter, a predicate elsewhere. */
export function complete(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/[@~]?[\p{L}_][\p{L}\d_.]*|[@~]/u);
  if (!word && !context.explicit) {
    return null;
  }
  const from = word?.from ?? context.pos;
  const before = context.state.sliceDoc(Math.max(0, from - 2000), from);
  const known = about.now;
  const predicates = known.predicates.map((it) => ({ label: it.name, type: "property", detail: it.type }));
  const types = option("type", known.types.map((it) => it.name), "type");
  const functions = known.functions.map(snippet);
  if (word?.text.startsWith("@")) {
    return { from, options: option("keyword", known.directives, "directive") };
  }
  if (/\btype\s*\(\s*$/.test(before) || /expand\s*\(\s*$/.test(before)) {
    return { from, options: [...types, ...option("keyword", ["_all_"])] };
  }
  if (/func\s*:\s*$/.test(before) || /@(filter|if)\s*\([^{}]*$/.test(before) && /(\(|\band|\bor|\bnot)\s*$/i.test(before) && !/[\p{L}\d_]\s*\(\s*$/u.test(before.replace(/@(filter|if)\s*\($/, ""))) {
    return { from, options: functions };
  }
  if (/[\p{L}\d_]\s*\(\s*$/u.test(before)) {
    const inner = /\b(uid|val)\s*\(\s*$/.test(before) ? variables(context) : [];
    const heads = /\(\s*$/.test(before) ? option("keyword", ["func:", "first:", "offset:", "after:"]) : [];
    return { from, options: [...inner, ...predicates, ...heads] };
  }
  if (/[(,]\s*$/.test(before) && isInRoot(before)) {
    return { from, options: option("keyword", ["first:", "offset:", "after:", "orderasc:", "orderdesc:", "func:"], "argument") };
  }
  const reverse = known.predicates.filter((it) => it.reverse).map((it) => ({ label: `~${it.name}`, type: "property", detail: "back" }));
  const words = option("keyword", ["uid", "count(", "expand(_all_)", "val(", "dgraph.type"]);
  return { from, options: [...predicates, ...reverse, ...words], validFor: /^~?[\p{L}\d_.]*$/u };
}

/** Whether a cursor stands in the arguments of a root, and not of a function in it. */
function isInRoot(before: string): boolean {
  let depth = 0;
  for (let at = before.length - 1; at >= 0; at -= 1) {
    if (before[at] === ")") {
      depth += 1;
    } else if (before[at] === "(" && depth-- === 0) {
      return !/(eq|ge|gt|le|lt|between|uid|anyofterms|allofterms)\s*$/.test(before.slice(0, at));
    } else if (before[at] === "{" || before[at] === "}") {
      return false;
    }
  }
  return false;
}

function variables(context: CompletionContext): Completion[] {
  const names = context.state.doc.toString().matchAll(/([\p{L}_]\w*)\s+as\b/gu);
  return option("variable", new Set([...names].map((it) => it[1])), "variable");
}
