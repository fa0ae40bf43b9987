// Answers as rows: the blocks of an answer, the columns of a block, cells as text, and CSV.

export type Row = Record<string, any>;

export interface Block {
  name: string;
  rows: Row[];
  /** The names of the columns, where the answer has them itself. */
  columns?: string[];
  /** A value as one line of text, where the language writes values its own way. */
  cell?(value: any): string;
}

export const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);

/** The lists of objects in the data of an answer, by name; an object counts as a list of one. */
export function blocksOf(data: any): Block[] {
  if (!isRow(data)) {
    return [];
  }
  const blocks: Block[] = [];
  for (const [name, value] of Object.entries(data)) {
    const rows = (Array.isArray(value) ? value : [value]).filter(isRow);
    if (rows.length || (Array.isArray(value) && !value.length)) {
      blocks.push({ name, rows });
    }
  }
  return blocks;
}

/** The names of columns, in the order in which they come. The server adds uids to each row; they are shown where they were asked for. */
export function columnsOf({ rows, columns }: Block, showsUid: boolean): string[] {
  if (columns) {
    return columns;
  }
  const names = new Set<string>(showsUid && rows.some((row) => "uid" in row) ? ["uid"] : []);
  for (const row of rows) {
    Object.keys(row).forEach((name) => names.add(name));
  }
  if (!showsUid && names.size > 1) {
    names.delete("uid");
  }
  return [...names];
}

/** What a nested object is called: its first text, else its uid. */
function called(row: Row): string {
  const words = Object.entries(row).filter(([name, value]) => name !== "uid" && typeof value === "string");
  const best = words.find(([name]) => /name|title|label/i.test(name)) ?? words[0];
  return String(best?.[1] ?? row.uid ?? Object.values(row).map(shown).join(" "));
}

/** A value as one line of text. */
export function shown(value: any): string {
  if (value === undefined || value === null) {
    return "";
  }
  if (Array.isArray(value)) {
    return value.map((it) => (isRow(it) ? called(it) : shown(it))).join(", ");
  }
  return isRow(value) ? called(value) : String(value);
}

/** JSON text of a value, in which integers of any length stay as they came. */
export function jsonOf(value: any, indent = "", step = "  "): string {
  if (typeof value === "bigint") {
    return value.toString();
  }
  const inner = indent + step;
  const list = (parts: string[], open: string, close: string) =>
    !parts.length ? open + close : step ? `${open}\n${parts.map((it) => inner + it).join(",\n")}\n${indent}${close}` : open + parts.join(",") + close;
  if (Array.isArray(value)) {
    return list(value.map((it) => jsonOf(it, inner, step)), "[", "]");
  }
  if (isRow(value)) {
    const pair = ([name, it]: [string, any]) => `${JSON.stringify(name)}:${step && " "}${jsonOf(it, inner, step)}`;
    return list(Object.entries(value).map(pair), "{", "}");
  }
  return JSON.stringify(value) ?? "null";
}

/** Orders two cells: numbers by value, all others as texts, empty ones last. */
export function compare(one: any, two: any, cell = shown): number {
  const [first, second] = [one ?? null, two ?? null];
  if (first === null || second === null) {
    return Number(first === null) - Number(second === null);
  }
  const isNumber = (it: unknown) => typeof it === "number" || typeof it === "bigint";
  if (isNumber(first) && isNumber(second)) {
    return first < second ? -1 : Number(first > second);
  }
  return cell(first).localeCompare(cell(second), "en", { numeric: true });
}

/** A spreadsheet reads a cell that begins with one of these as a formula, which then runs; a quote before it keeps it a text. */
const FORMULA = /^[=+\-@\t\r]/;

/** Rows as CSV (RFC 4180), nested values as JSON. */
export function csvOf(rows: Row[], columns: string[]): string {
  const cell = (value: any) => {
    const text = value === undefined || value === null ? "" : typeof value === "object" ? jsonOf(value, "", "") : String(value);
    const safe = typeof value === "string" && FORMULA.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const line = (cells: string[]) => `${cells.join(",")}\r\n`;
  return [line(columns.map(cell)), ...rows.map((row) => line(columns.map((name) => cell(row[name]))))].join("");
}
