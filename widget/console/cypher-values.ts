// Answers in openCypher: rows with nodes, relationships and paths in them, as cells of a table and as a graph.

import type { Network } from "./network";
import { isRow, type Block, type Row } from "./rows";

const isNode = (it: Row) => typeof it.uid === "string" && Array.isArray(it.labels) && isRow(it.properties);
const isRelationship = (it: Row) => typeof it.type === "string" && typeof it.start === "string" && typeof it.end === "string" && isRow(it.properties);
const isPath = (it: Row) => Array.isArray(it.nodes) && Array.isArray(it.relationships) && Object.keys(it).length === 2;

/** The columns and rows of an answer, as the only block of it. */
export function blocksOf(data: any): Block[] {
  if (!Array.isArray(data?.columns) || !Array.isArray(data.rows)) {
    return [];
  }
  const columns: string[] = data.columns;
  const rows = data.rows.map((row: any[]): Row => Object.fromEntries(columns.map((name, at) => [name, row[at]])));
  return [{ name: "rows", columns, rows, cell }];
}

/** A value as one line of text. */
function cell(value: any): string {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : written(value);
}

/** A value as patterns and literals of Cypher have it. */
function written(value: any): string {
  if (Array.isArray(value)) {
    return `[${value.map(written).join(", ")}]`;
  }
  if (!isRow(value)) {
    return typeof value === "string" ? JSON.stringify(value) : String(value);
  }
  if (isNode(value)) {
    return `(${[value.labels.map((it: string) => `:${it}`).join(""), properties(value)].filter(Boolean).join(" ")})`;
  }
  if (isRelationship(value)) {
    return `[${[`:${value.type}`, properties(value)].filter(Boolean).join(" ")}]`;
  }
  return isPath(value) ? path(value) : map(value);
}

const map = (row: Row) => `{${Object.entries(row).map(([name, it]) => `${name}: ${written(it)}`).join(", ")}}`;

const properties = (it: Row) => (Object.keys(it.properties).length ? map(it.properties) : "");

function path({ nodes, relationships }: Row): string {
  const steps = relationships.map((it: Row, at: number) => {
    const isForward = it.start === nodes[at]?.uid;
    return `${isForward ? "-" : "<-"}${written(it)}${isForward ? "->" : "-"}${written(nodes[at + 1])}`;
  });
  return `${written(nodes[0])}${steps.join("")}`;
}

/** Adds the nodes and relationships of an answer to a network, wherever they stand in it. */
export function draw(network: Network, value: any): void {
  if (Array.isArray(value)) {
    value.forEach((it) => draw(network, it));
  } else if (isRow(value)) {
    if (isNode(value)) {
      network.node(value.uid, { ...value.properties, "dgraph.type": value.labels });
    } else if (isRelationship(value)) {
      const isThere = [value.start, value.end].map((it) => network.node(it, {}));
      if (isThere.every(Boolean)) {
        network.edge(value.start, value.type, value.end);
      }
    } else {
      Object.values(value).forEach((it) => draw(network, it));
    }
  }
}
