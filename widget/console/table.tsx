// A block of an answer as a table: sorted by a column, page by page. The pages that the answer has are turned here; behind its
// last one, the server is asked for more where the query has `first`.

import { useMemo, useState } from "preact/hooks";
import { copied, copyNote } from "./copy";
import { columnsOf, compare, csvOf, shown, type Block } from "./rows";

const PAGE = 50;

interface Given {
  block: Block;
  showsUid: boolean;
  /** Asks for the next page of the block; undefined where there is none. */
  more?: () => void;
  tell(text: string): void;
}

export function Table({ block, showsUid, more, tell }: Given) {
  const [page, setPage] = useState(0);
  const cell = block.cell ?? shown;
  const [order, setOrder] = useState<[string, 1 | -1] | null>(null);
  const columns = useMemo(() => columnsOf(block, showsUid), [block, showsUid]);
  const rows = useMemo(() => {
    const [name, sign] = order ?? ["", 1];
    return order ? [...block.rows].sort((one, two) => sign * compare(one[name], two[name], cell)) : block.rows;
  }, [block, order]);
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  const at = Math.min(page, pages - 1);
  const first = at * PAGE;
  const sort = (name: string) =>
    setOrder(order?.[0] !== name ? [name, 1] : order[1] === 1 ? [name, -1] : null);
  const copy = async () => {
    tell(copyNote(await copied(csvOf(rows, columns)), `${rows.length.toLocaleString("en")} rows are copied as CSV`));
  };
  if (!rows.length) {
    return <p class="empty">No rows. {more ? "" : "The query is right, and nothing matches it."}</p>;
  }
  return (
    <div class="pane">
      <div class="scroll" tabIndex={0} role="region" aria-label="rows">
        <table>
          <thead>
            <tr>
              {columns.map((name) => {
                const sign = order?.[0] === name ? order[1] : 0;
                return (
                  <th key={name} aria-sort={sign === 1 ? "ascending" : sign ? "descending" : "none"}>
                    <button type="button" onClick={() => sort(name)} title={`sort by ${name}`}>
                      {name}{sign === 1 ? " ▲" : sign ? " ▼" : ""}
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.slice(first, first + PAGE).map((row, number) => (
              <tr key={block.columns ? number : row.uid ?? number}>
                {columns.map((name) => {
                  const text = cell(row[name]);
                  const isNumber = typeof row[name] === "number" || typeof row[name] === "bigint";
                  return <td key={name} class={isNumber ? "number" : ""} title={text.length > 40 ? text.slice(0, 1000) : ""}>{text.slice(0, 1000)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="footer">
        <span role="status">
          rows {(first + 1).toLocaleString("en")}–{Math.min(rows.length, first + PAGE).toLocaleString("en")} of {rows.length.toLocaleString("en")}
        </span>
        <button type="button" disabled={at === 0} onClick={() => setPage(at - 1)}>Previous</button>
        <button
          type="button"
          disabled={at + 1 >= pages && !more}
          title={at + 1 < pages ? "the next rows of this answer" : more ? "ask the server for the next page" : "first: N in the query has the server asked page by page"}
          onClick={() => (at + 1 < pages ? setPage(at + 1) : more?.())}
        >
          Next page
        </button>
        <button type="button" onClick={copy}>Copy CSV</button>
      </div>
    </div>
  );
}
