// What the browser stores: queries that were run or saved, and how the page looks. Nothing of it is a secret.

export interface Saved {
  name: string;
  language: string;
  text: string;
  /** The parameters of a query, as JSON. */
  parameters?: string;
}

const HISTORY_MAX = 100;
const TEXT_MAX = 20_000;

function read<T>(name: string, otherwise: T): T {
  try {
    return JSON.parse(localStorage.getItem(`hexgraph.${name}`) ?? "") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Whether it was stored: a browser may have no space, or forbid it. */
function write(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(`hexgraph.${name}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export const history = (): Saved[] => read<Saved[]>("history", []);
export const saved = (): Saved[] => read<Saved[]>("saved", []);
export const theme = (): string => read("theme", "");
export const setTheme = (name: string) => write("theme", name);
export const draft = (): Saved | null => read<Saved | null>("draft", null);

/** Whether a text may have a secret in it, which is not stored then. */
export const isSecret = (text: string) => /password|checkpwd|secret|token/i.test(text);

/** Whether a query may be stored. */
const mayStore = ({ text, parameters = "" }: Saved) => !isSecret(text + parameters) && text.length + parameters.length <= TEXT_MAX;

/** Notes a query that was run, the newest first, each one once. */
export function note(query: Saved): void {
  if (!mayStore(query)) {
    return;
  }
  const words = ({ language, text, parameters = "" }: Saved) => JSON.stringify([language, text, parameters]);
  const others = history().filter((it) => words(it) !== words(query));
  write("history", [query, ...others].slice(0, HISTORY_MAX));
  write("draft", query);
}

/** Stores what stands in the editor, for the next time that the page is opened: of a text that may not be stored only its language. */
export function setDraft(query: Saved): void {
  write("draft", mayStore(query) ? query : { name: "", language: query.language, text: "" });
}

export function clearHistory(): void {
  write("history", []);
  write("draft", null);
}

/** Saves a query below a name, in place of one that has it. */
export function save(query: Saved): boolean {
  const others = saved().filter((it) => it.name !== query.name);
  const all = [...others, query].sort((one, two) => one.name.localeCompare(two.name));
  return write("saved", all);
}

export const forget = (name: string) => write("saved", saved().filter((it) => it.name !== name));
