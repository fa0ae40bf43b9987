// The steps of a query as a tree: what was done, how, for how many rows, and how long it took.

export interface Step {
  depth: number;
  operator: string;
  detail: string;
  estimate: number | null;
  /** Null where the query was not run for it, or the operator is part of another one. */
  ns: number | null;
  rows: number | null;
  threads: number;
  strategy: string;
}

interface Branch {
  step: Step;
  inner: Branch[];
}

/** Steps come in order, each with its depth. */
function treeOf(steps: Step[]): Branch[] {
  const root: Branch[] = [];
  const open: Branch[] = [];
  for (const step of steps) {
    const branch = { step, inner: [] };
    open.length = Math.min(open.length, step.depth);
    (open.at(-1)?.inner ?? root).push(branch);
    open.push(branch);
  }
  return root;
}

export const time = (ns: number) =>
  ns < 1_000 ? `${ns} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(1)} µs` : ns < 1e9 ? `${(ns / 1e6).toFixed(1)} ms` : `${(ns / 1e9).toFixed(2)} s`;

function Row({ branch, most }: { branch: Branch; most: number }) {
  const { step, inner } = branch;
  const rows = step.rows === null || step.rows === undefined
    ? ""
    : `${step.rows.toLocaleString("en")} row${step.rows === 1 ? "" : "s"}`;
  const guess = step.estimate === null ? "" : `estimate ${step.estimate.toLocaleString("en")}`;
  const line = (
    <span class="step">
      <b>{step.operator}</b> <code>{step.detail}</code> {step.strategy && <em>{step.strategy}</em>}
      <span class="numbers">
        {rows} {guess && <span class="muted">{guess}</span>}{" "}
        {step.ns !== null && <span class="muted">{time(step.ns)}</span>}
        {step.threads > 1 && <span class="muted">{step.threads} threads</span>}
        <span class="bar" style={{ width: `${Math.round((60 * (step.ns ?? 0)) / most)}px` }} />
      </span>
    </span>
  );
  if (!inner.length) {
    return <li>{line}</li>;
  }
  return (
    <li>
      <details open>
        <summary>{line}</summary>
        <ul>{inner.map((it, at) => <Row key={at} branch={it} most={most} />)}</ul>
      </details>
    </li>
  );
}

export function Explain({ steps }: { steps: Step[] }) {
  if (!steps.length) {
    return <p class="empty">Steps are there for queries in DQL and Cypher.</p>;
  }
  const most = Math.max(1, ...steps.map((it) => it.ns ?? 0));
  return <ul class="tree">{treeOf(steps).map((it, at) => <Row key={at} branch={it} most={most} />)}</ul>;
}
