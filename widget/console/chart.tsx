// A chart of the numeric columns of a block: bars for few rows, a line for many, dots for a number against another.

import { useMemo, useState } from "preact/hooks";
import { columnsOf, shown, type Block, type Row } from "./rows";

const WIDTH = 760;
const HEIGHT = 356;
const [LEFT, BOTTOM, TOP] = [64, 74, 14];
const BARS = 40;
const POINTS = 5_000;

const numberOf = (value: any): number | undefined =>
  typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : undefined;

const isTime = (value: any) => typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value);

/** Round steps, of which about six lie between two numbers. */
function ticks(low: number, high: number): number[] {
  const rough = (high - low || 1) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough)!;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, at) => (first + at) * step);
}

const written = (value: number) => (Math.abs(value) >= 1e6 || (value && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(6))));

export function Chart({ block }: { block: Block }) {
  const columns = useMemo(() => columnsOf(block, false), [block]);
  const isNumeric = (name: string) => block.rows.some((row) => numberOf(row[name]) !== undefined);
  const numeric = useMemo(() => columns.filter(isNumeric), [columns]);
  const others = useMemo(() => columns.filter((name) => block.rows.some((row) => isTime(row[name]) || typeof row[name] === "string")), [columns]);
  const [y, setY] = useState("");
  const [x, setX] = useState("");
  if (!numeric.length) {
    return <p class="empty">No column has numbers.</p>;
  }
  const vertical = numeric.includes(y) ? y : numeric[0];
  const level = x && columns.includes(x) ? x : others[0] ?? "row";
  const rows = block.rows.filter((row) => numberOf(row[vertical]) !== undefined).slice(0, POINTS);
  const choice = (label: string, names: string[], value: string, set: (name: string) => void) => (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
  return (
    <div class="pane">
      <div class="form">
        {choice("height", numeric, vertical, setY)}
        {choice("across", ["row", ...columns.filter((it) => it !== vertical)], level, setX)}
      </div>
      <Drawing rows={rows} vertical={vertical} level={level} />
      {block.rows.length > rows.length && <p class="muted">{(block.rows.length - rows.length).toLocaleString("en")} rows are not drawn: they have no number, or there are more than {POINTS.toLocaleString("en")}.</p>}
    </div>
  );
}

function Drawing({ rows, vertical, level }: { rows: Row[]; vertical: string; level: string }) {
  const heights = rows.map((row) => numberOf(row[vertical])!);
  const times = level !== "row" && rows.every((row) => isTime(row[level]));
  const numbers = level !== "row" && rows.every((row) => numberOf(row[level]) !== undefined);
  const across = rows.map((row, at) => (times ? Date.parse(row[level]) : numbers ? numberOf(row[level])! : at));
  const isText = level !== "row" && !times && !numbers;
  const isBars = !times && !numbers && rows.length <= BARS;
  const [low, high] = [Math.min(0, ...heights), Math.max(0, ...heights) || 1];
  const [first, last] = [Math.min(...across), Math.max(...across)];
  const xOf = (value: number) =>
    isBars ? LEFT + ((value + 0.5) / rows.length) * (WIDTH - LEFT - 10) : LEFT + ((value - first) / (last - first || 1)) * (WIDTH - LEFT - 20) + 5;
  const yOf = (value: number) => TOP + ((high - value) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM);
  const name = (at: number) => (level === "row" ? `row ${at + 1}` : shown(rows[at][level]));
  const bar = Math.min(40, ((WIDTH - LEFT - 10) / rows.length) * 0.7);
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${vertical} by ${level}, ${rows.length} rows`}>
      {ticks(low, high).map((value) => (
        <g key={value}>
          <line x1={LEFT} x2={WIDTH - 10} y1={yOf(value)} y2={yOf(value)} class="grid" />
          <text x={LEFT - 6} y={yOf(value) + 4} text-anchor="end">{written(value)}</text>
        </g>
      ))}
      {heights.map((height, at) => {
        const title = <title>{`${name(at)}: ${height}`}</title>;
        const [left, top] = [xOf(across[at]), yOf(height)];
        return isBars
          ? <rect key={at} x={left - bar / 2} width={bar} y={Math.min(top, yOf(0))} height={Math.max(1, Math.abs(yOf(0) - top))}>{title}</rect>
          : <circle key={at} cx={left} cy={top} r={rows.length > 500 ? 1.5 : 3}>{title}</circle>;
      })}
      {isBars && rows.map((_, at) => (
        <text key={at} transform={`translate(${xOf(at) + 3} ${HEIGHT - BOTTOM + 12}) rotate(${rows.length > 20 ? -60 : rows.length > 8 ? -30 : 0})`} text-anchor={rows.length > 8 ? "end" : "middle"}>
          {name(at).slice(0, rows.length > 20 ? 10 : rows.length > 8 ? 12 : 14)}
        </text>
      ))}
      {!isBars && ticks(first, last).map((value) => (
        <text key={value} x={xOf(value)} y={HEIGHT - BOTTOM + 18} text-anchor="middle">
          {times ? new Date(value).toISOString().slice(0, 10) : isText ? name(value).slice(0, 14) : written(value)}
        </text>
      ))}
    </svg>
  );
}
