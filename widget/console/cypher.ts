// openCypher in the editor: its colours, and what is proposed while somebody types.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { StreamLanguage, syntaxTree, type StringStream } from "@codemirror/language";
import { readAlgorithms } from "./algorithm-text";
import { about } from "./schema";

const CLAUSES = "MATCH|OPTIONAL MATCH|WHERE|WITH|UNWIND|RETURN|DISTINCT|ORDER BY|SKIP|LIMIT|UNION|UNION ALL|CALL|YIELD|AS|CASE|WHEN|THEN|ELSE|END|ASC|DESC|NULLS FIRST|NULLS LAST|FILTER|LET|FOR|EXPLAIN|PROFILE".split("|");
const OPERATORS = "AND|OR|XOR|NOT|IN|IS NULL|IS NOT NULL|STARTS WITH|ENDS WITH|CONTAINS|EXISTS|true|false|null".split("|");

const KEYWORDS = new Set(
  `${[...CLAUSES, ...OPERATORS].join(" ")} ascending descending offset shortest groups is starts ends with create merge set delete detach remove foreach on`
    .toLowerCase().split(" "),
);
const CONSTANTS = new Set(["true", "false", "null"]);

/** Functions that are proposed; all others of openCypher may be called, too. */
const FUNCTIONS = (
  "count sum avg min max collect stDev stDevP percentileCont percentileDisc id elementId labels type properties keys startNode endNode nodes relationships length size head last tail range reverse " +
  "coalesce exists all any none single reduce shortestPath allShortestPaths toInteger toFloat toString toBoolean toUpper toLower trim lTrim rTrim replace split substring left right " +
  "abs sign ceil floor round sqrt exp log log10 rand date datetime localdatetime time localtime duration point point.distance"
).split(" ");

/** Procedures other than algorithms. */
const LISTS = ["db.labels", "db.relationshipTypes", "db.propertyKeys"];

/** What may follow CALL. The algorithms are those of the server; they are read once, and again after a failure. */
let procedures: Promise<Completion[]> | undefined;

function readProcedures(): Promise<Completion[]> {
  const option = (label: string, detail: string): Completion => ({ label, type: "function", detail, apply: `${label}(` });
  const lists = LISTS.map((label) => option(label, "names"));
  procedures ??= readAlgorithms()
    .then((table) => [...table.map((it) => option(`algo.${it.name}`, "algorithm")), ...lists])
    .catch(() => {
      procedures = undefined;
      return lists;
    });
  return procedures;
}

interface State {
  /** What closes the string, quoted name or comment that the line begins in; "" where it begins in none. */
  close: string;
  /** The brackets that are open. */
  open: string[];
  /** The last operator, as long as no word follows it. */
  before: string;
}

const CLOSED: Record<string, [RegExp, string]> = {
  "'": [/^(?:\\.|[^'\\])*\\?/, "string"],
  '"': [/^(?:\\.|[^"\\])*\\?/, "string"],
  "`": [/^(?:``|[^`])*/, "propertyName"],
  "*/": [/^(?:\*(?!\/)|[^*])*/, "comment"],
};

/** Reads up to what closes a string, a quoted name or a comment, or to the end of the line. */
function rest(stream: StringStream, state: State): string {
  const [inner, style] = CLOSED[state.close];
  stream.match(inner);
  if (stream.match(state.close)) {
    state.close = "";
  }
  return style;
}

function word(stream: StringStream, text: string, { open, before }: State): string {
  const lower = text.toLowerCase();
  if (before === ".") {
    return "propertyName";
  }
  if (before === ":") {
    return "labelName";
  }
  if (open.at(-1) === "{" && stream.match(/\s*:/, false)) {
    return "propertyName";
  }
  if (CONSTANTS.has(lower)) {
    return "atom";
  }
  const isCall = !!stream.match(/\s*\(/, false);
  const isFunction = isCall && (!KEYWORDS.has(lower) || lower === "exists");
  return isFunction ? "variableName.function" : KEYWORDS.has(lower) || (/^(count|collect)$/.test(lower) && stream.match(/\s*\{/, false)) ? "keyword" : "variableName";
}

/** Follows brackets and operators: they tell labels, keys of maps and properties from variables. */
function sign(stream: StringStream, state: State): string {
  const letter = stream.next()!;
  if ("([{".includes(letter)) {
    state.open.push(letter);
  } else if (")]}".includes(letter)) {
    state.open.pop();
  }
  const isRange = letter === "." && !!stream.eat(".");
  const isValue = letter === ":" && state.open.at(-1) === "{" && !!stream.match(/\s/, false);
  const isAlternative = "|&!".includes(letter) && state.before === "label";
  state.before = isValue || isRange ? "" : isAlternative ? ":" : letter;
  return "()[]{}".includes(letter) ? "bracket" : "operator";
}

function token(stream: StringStream, state: State): string | null {
  if (state.close) {
    return rest(stream, state);
  }
  if (stream.eatSpace()) {
    return null;
  }
  if (stream.match(/\/\/.*/)) {
    return "comment";
  }
  const quote = stream.match(/\/\*|['"`]/) as RegExpMatchArray | null;
  if (quote) {
    state.close = quote[0] === "/*" ? "*/" : quote[0];
    const isLabel = quote[0] === "`" && state.before === ":";
    state.before = quote[0] === "/*" ? state.before : isLabel ? "label" : "";
    return rest(stream, state);
  }
  if (stream.match(/\$(?:[\p{L}\d_]+|`[^`]*`?)/u)) {
    return "variableName.special";
  }
  if (stream.match(/0x[\da-f]+|0o[0-7]+|(?:\d+\.(?!\.)\d+|\.\d+|\d+)(?:e[-+]?\d+)?/i)) {
    state.before = "";
    return "number";
  }
  const found = (stream.match(/[\p{L}_][\p{L}\d_.]*(?=\s*\()/u) ?? stream.match(/[\p{L}_][\p{L}\d_]*/u)) as RegExpMatchArray | null;
  if (found) {
    const style = word(stream, found[0], state);
    state.before = style === "labelName" ? "label" : "";
    return style;
  }
  return sign(stream, state);
}

export const cypher = StreamLanguage.define<State>({
  name: "cypher",
  startState: () => ({ close: "", open: [], before: "" }),
  copyState: (state) => ({ ...state, open: [...state.open] }),
  token,
  languageData: {
    commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
    closeBrackets: { brackets: ["(", "[", "{", "'", '"', "`"] },
  },
});

/** A name as Cypher has it: in backquotes where it is no plain word. */
export const quoted = (name: string): string => (/^[\p{L}_][\p{L}\d_]*$/u.test(name) ? name : `\`${name.replaceAll("`", "``")}\``);

/** A predicate as a property or a relationship type: without the type that it begins with, as in `Film.title`. */
function short(name: string): string {
  const type = about.now.types.find((it) => name.startsWith(`${it.name}.`));
  return quoted(type ? name.slice(type.name.length + 1) : name);
}

const options = (type: string, labels: Iterable<string>, detail = ""): Completion[] =>
  [...new Set(labels)].map((label) => ({ label, type, detail }));

const names = (isEdge: boolean): Completion[] => {
  const some = about.now.predicates.filter((it) => (it.type === "uid") === isEdge && it.name !== "dgraph.type");
  const details = new Map(some.map((it) => [short(it.name), isEdge ? "relationship" : it.type]));
  return [...details].map(([label, detail]) => ({ label, type: "property", detail }));
};

/** The innermost bracket that is open at the end of a text, the one around it, and what stands behind it. */
function innermost(before: string): [string, string, string] {
  const open: number[] = [];
  for (const { 0: letter, index } of before.matchAll(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|\/\/.*|[()[\]{}]/g)) {
    if ("([{".includes(letter)) {
      open.push(index);
    } else if (")]}".includes(letter)) {
      open.pop();
    }
  }
  const at = open.at(-1);
  return [before[at ?? -1] ?? "", before[open.at(-2) ?? -1] ?? "", before.slice((at ?? -1) + 1)];
}

function variables(text: string): string[] {
  const found = text.matchAll(/(?:[([]\s*|\bAS\s+)([\p{L}_][\p{L}\d_]*)/giu);
  return [...found].map((it) => it[1]).filter((it) => !KEYWORDS.has(it.toLowerCase()));
}

/** What stands before the cursor says which names fit: a label, a relationship type, a property, or words of the language. */
export async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const typed = context.matchBefore(/[\p{L}_][\p{L}\d_]*/u);
  const from = typed?.from ?? context.pos;
  const before = context.state.sliceDoc(0, from);
  const isAfterSign = /(?<!\d)[.:|&]$/.test(before);
  const inside = syntaxTree(context.state).resolveInner(context.pos, -1).name;
  if ((!typed && !context.explicit && !isAfterSign) || /^(string|comment)$/.test(inside) || /\$$/.test(before)) {
    return null;
  }
  const called = /\bCALL\s+([\w.]*)$/i.exec(before);
  if (called) {
    return { from: from - called[1].length, options: await readProcedures(), validFor: /^[\w.]*$/ };
  }
  const validFor = /^[\p{L}\d_]*$/u;
  if (/[\p{L}\d_`)\]}]\s*\.$/u.test(before)) {
    return { from, options: names(false), validFor };
  }
  const [bracket, outer, segment] = innermost(before);
  if (bracket !== "{" && /:\s*!?$|:[\p{L}\d_`|&!\s]*[|&]\s*!?$/u.test(segment)) {
    return { from, options: bracket === "[" ? names(true) : options("type", about.now.types.map((it) => quoted(it.name)), "label"), validFor };
  }
  if (bracket === "{" && /[([]/.test(outer) && /(^|,)\s*$/.test(segment)) {
    return { from, options: names(false).map((it) => ({ ...it, apply: `${it.label}: ` })), validFor };
  }
  const calls = FUNCTIONS.map((label): Completion => ({ label, type: "function", apply: `${label}(` }));
  return { from, options: [...options("variable", variables(context.state.doc.toString()), "variable"), ...options("keyword", [...CLAUSES, ...OPERATORS]), ...calls], validFor };
}
