// Formats DQL and GraphQL by their braces: what stands between them stays as it is, comments and texts too.

/** The parts of a text: strings and comments as a whole, brackets, spaces, and all else. */
export function* tokens(text: string): Generator<[string, string, number]> {
  const pattern = /("""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"?|\/(?:\\.|[^/\\\n])+\/[a-z]*(?=\s*\)))|(#[^\n]*)|([{}])|([()[\]])|(\s+)|([^\s{}()[\]"#/]+|\/)/gy;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const kind = ["text", "comment", "brace", "bracket", "space", "word"][found.slice(1).findIndex((it) => it !== undefined)];
    yield [kind, found[0], found.index];
  }
}

/** Puts each brace's content on lines of its own, two spaces deeper than the brace. */
export function formatted(text: string): string {
  const lines: string[] = [];
  let line = "";
  let depth = 0;
  let inner = 0;
  const end = () => {
    if (line.trim()) {
      lines.push("  ".repeat(Math.max(0, depth)) + line.trim());
    }
    line = "";
  };
  for (const [kind, words] of tokens(text)) {
    if (kind === "comment") {
      line += words;
      end();
    } else if (kind === "brace" && inner === 0) {
      if (words === "{") {
        line = `${line.trimEnd()} {`;
        end();
        depth += 1;
      } else {
        end();
        depth -= 1;
        line = "}";
        end();
      }
    } else if (kind === "space") {
      const breaks = words.split("\n").length - 1;
      if (breaks && inner === 0) {
        end();
        if (breaks > 1 && lines.length && lines.at(-1) !== "" && !lines.at(-1)!.endsWith("{")) {
          lines.push("");
        }
      } else if (line && !line.endsWith("(")) {
        line += " ";
      }
    } else {
      inner += words === "(" || words === "[" ? 1 : words === ")" || words === "]" ? -1 : 0;
      line = words === ")" ? line.trimEnd() + words : line + words;
    }
  }
  end();
  return `${lines.filter((it, at) => it !== "" || !/^\s*}/.test(lines[at + 1] ?? "")).join("\n").trim()}\n`;
}

/** A block of a request in DQL: where the arguments of its root stand, and what some of them are. */
interface Block {
  start: number;
  end: number;
  text: string;
}

/** The arguments of the root of a block; undefined where the text has no such block with a function. */
function blockOf(text: string, name: string): Block | undefined {
  let depth = 0;
  let word = "";
  let from = -1;
  let inner = 0;
  for (const [kind, words, at] of tokens(text)) {
    if (kind === "brace") {
      depth += words === "{" ? 1 : -1;
    } else if (words === "(" && inner++ === 0 && depth === 1 && word === name) {
      from = at + 1;
    } else if (words === ")" && --inner === 0 && from >= 0) {
      return { start: from, end: at, text: text.slice(from, at) };
    }
    if (kind === "word") {
      word = words;
    }
  }
  return undefined;
}

/** How many nodes a block has on a page; 0 where it has no `first`. */
export function pageLength(text: string, name: string): number {
  const block = blockOf(text, name);
  return Number(/\bfirst\s*:\s*(\d+)/.exec(block?.text ?? "")?.[1] ?? 0);
}

/** The text that asks for the next page of a block: behind a node by `after`, or by `offset` where the block has an order. */
export function nextPage(text: string, name: string, last: string): string | undefined {
  const block = blockOf(text, name);
  const count = pageLength(text, name);
  if (!block || !count) {
    return undefined;
  }
  const put = (key: string, value: string) => {
    const pattern = new RegExp(`\\b${key}\\s*:\\s*\\w+`);
    return pattern.test(block.text)
      ? block.text.replace(pattern, `${key}: ${value}`)
      : `${block.text}, ${key}: ${value}`;
  };
  const skipped = Number(/\boffset\s*:\s*(\d+)/.exec(block.text)?.[1] ?? 0);
  const isOrdered = /\border(asc|desc)\s*:/.test(block.text);
  if (!isOrdered && !/^0x[0-9a-f]+$/.test(last)) {
    return undefined;
  }
  const changed = isOrdered ? put("offset", String(skipped + count)) : put("after", last);
  // The first page of `after` may have skipped nodes, the next ones must not.
  const whole = isOrdered ? changed : changed.replace(/,?\s*\boffset\s*:\s*\d+/, "");
  return text.slice(0, block.start) + whole + text.slice(block.end);
}
