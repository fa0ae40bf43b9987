// What the console asks of the server that it came from. Keys and tokens are in memory only, and gone when the page is.

/** Something that is wrong with a request, and where: lines and columns count from 1. */
export interface Fault {
  message: string;
  hint: string;
  line: number;
  column: number;
  isWarning: boolean;
}

export interface Answer {
  status: number;
  /** The body, as JSON; undefined where it is none. */
  body: any;
  text: string;
  milliseconds: number;
}

export interface Secrets {
  key: string;
  token: string;
  user: string;
}

/** Who asks. Nothing of it is stored. */
export const secrets: Secrets = { key: "", token: "", user: "" };

/** What the server says, without the words in which programs look for codes. */
export const plain = (message: string) => {
  const words = message.replace(/^resolving \w+ failed because /, "").replace(/^rpc error: code = \w+ desc = /, "");
  return words === "no accessJwt available" ? "This server has users: log in as one of them." : words;
};

/** Thrown where somebody has to log in first: the dialog for it is open then, and says why. */
export class Refused extends Error {}

/** Called when the server wants to know who asks. */
export const refused = { listen: (_: string) => {} };

/** Sends a request to a path of this server. A quiet one does not have somebody log in who is refused. */
export async function send(path: string, type: string, body: string, signal?: AbortSignal, isQuiet = false): Promise<Answer> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (type) {
    headers["Content-Type"] = type;
  }
  if (secrets.key) {
    headers["X-Auth-Token"] = secrets.key;
  }
  if (secrets.token) {
    headers["X-Dgraph-AccessToken"] = secrets.token;
  }
  const began = performance.now();
  let response: Response;
  try {
    const method = type ? "POST" : "GET";
    response = await fetch(path, { method, headers, signal, body: type ? body : undefined });
  } catch (error) {
    if (signal?.aborted) {
      throw new Error("the request was stopped");
    }
    throw new Error(`the server does not answer: is it still running? (${(error as Error).message})`);
  }
  const text = await response.text();
  const answer = { status: response.status, body: parsed(text), text, milliseconds: performance.now() - began };
  const first = answer.body?.errors?.[0];
  if (!isQuiet && isRefusal(answer)) {
    refused.listen(plain(first?.message ?? "The server needs to know who you are."));
  }
  return answer;
}

function isRefusal({ status, body }: Answer): boolean {
  const first = body?.errors?.[0];
  return status === 401 || first?.extensions?.code === "ErrorUnauthorized" || /no accessJwt|Token is expired|PermissionDenied/i.test(first?.message ?? "");
}

/** Asks in DQL, and returns the data. Throws the message of what is wrong. */
export async function query(text: string): Promise<any> {
  const answer = await send("query", "application/dql", text);
  const { body, status } = answer;
  if (!body?.data) {
    const words = plain(body?.errors?.[0]?.message ?? `the server answers with status ${status}`);
    throw isRefusal(answer) ? new Refused(words) : new Error(words);
  }
  return body.data;
}

/** JSON of which no integer is rounded: those that a number can't hold become BigInts. */
export function parsed(text: string): any {
  const exact = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context!.source!)
      : value;
  try {
    return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
  } catch {
    return undefined;
  }
}

/** The faults of an answer. DQL tells the place at the beginning of a message, and what to do in brackets at its end. */
export function faultsOf(body: any): Fault[] {
  const errors = (body?.errors ?? []).map((error: any) => {
    const spoken = /^line (\d+) column (\d+): /.exec(error.message);
    const place = error.locations?.[0] ?? { line: Number(spoken?.[1] ?? 0), column: Number(spoken?.[2] ?? 0) };
    const words = spoken ? error.message.slice(spoken[0].length) : error.message;
    const [message, hint] = parted(words);
    return { message, hint, line: place.line, column: place.column, isWarning: false };
  });
  const warnings = (body?.extensions?.warnings ?? []).map((it: any) => ({
    message: it.message, hint: it.hint ?? "", line: it.line ?? 0, column: it.column ?? 0, isWarning: true,
  }));
  return [...errors, ...warnings];
}

/** A message without the brackets at its end, and what stands in them. */
function parted(words: string): [string, string] {
  if (!words.endsWith(")")) {
    return [words, ""];
  }
  let depth = 0;
  for (let at = words.length - 1; at > 0; at -= 1) {
    depth += words[at] === ")" ? 1 : words[at] === "(" ? -1 : 0;
    if (depth === 0) {
      return words[at - 1] === " " ? [words.slice(0, at - 1), words.slice(at + 1, -1)] : [words, ""];
    }
  }
  return [words, ""];
}

/**
 * Exchanges the token in the fragment of a URL that `hexgraph console` has opened for the cookie of its session, and removes it from
 * the address and from the history. Returns why it failed; "" where there is none, or it was exchanged.
 */
export async function openSession(): Promise<string> {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (!token) {
    return "";
  }
  history.replaceState(null, "", location.pathname + location.search);
  const headers = { Accept: "application/json", "X-Auth-Token": token };
  try {
    const response = await fetch("console/session", { method: "POST", headers });
    return response.ok ? "" : parsed(await response.text())?.errors?.[0]?.message ?? `the server answers with status ${response.status}`;
  } catch (error) {
    return `the server does not answer: is it still running? (${(error as Error).message})`;
  }
}

/** Logs a user in. Throws the message of what is wrong. */
export async function logIn(user: string, password: string, namespace: number): Promise<void> {
  const { body, status } = await send("login", "application/json", JSON.stringify({ userid: user, password, namespace }));
  if (!body?.data?.accessJWT) {
    throw new Error(plain(body?.errors?.[0]?.message ?? `the server answers with status ${status}`));
  }
  secrets.token = body.data.accessJWT;
  secrets.user = namespace ? `${user} in namespace ${namespace}` : user;
}

export function logOut(): void {
  secrets.key = secrets.token = secrets.user = "";
}
