// Labels above the picture: those of the largest nodes first, none over another. Text of a canvas is never read as HTML.

import type { Camera } from "./camera";
import type { Graph } from "./graph";
import type { Marks } from "./painter";

const FONT = "11px Inter, 'Segoe UI', Helvetica, Arial, sans-serif";
const LETTERS = 28;
const EDGE_FONT = "10px Inter, 'Segoe UI', Helvetica, Arial, sans-serif";
/** Where the label of an edge may lie on it, the best place first. */
const ON_EDGE = [0.5, 0.4, 0.6, 0.3, 0.7];
/** Places of labels are told apart by cells of this many pixels. */
const CELL: [number, number] = [8, 8];
const LABELS = 160;
/** The most nodes that are looked at for a frame. */
const LOOKED_AT = 4000;

export const shortened = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;

/** The cells in which a text lies that begins at a place. */
function cellsOf(left: number, y: number, width: number): number[] {
  const cells: number[] = [];
  for (let over = Math.floor(left / CELL[0]); over <= (left + width) / CELL[0]; over += 1) {
    for (let down = Math.floor((y - 5) / CELL[1]); down <= (y + 5) / CELL[1]; down += 1) {
      cells.push(over * 4096 + down);
    }
  }
  return cells;
}

export class Labels {
  readonly canvas = document.createElement("canvas");
  /** How many edges have a label in the last frame. */
  onEdges = 0;
  private widths = new Map<string, number>();

  draw(graph: Graph, camera: Camera, marks: Marks, density: number): void {
    const pen = this.canvas.getContext("2d")!;
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, camera.width, camera.height);
    pen.font = FONT;
    const taken = new Set<number>();
    const first = marks.hovered >= 0 ? [marks.hovered] : [];
    for (const node of marks.chosen) {
      if (first.length >= LABELS) {
        break;
      }
      first.push(node);
    }
    // No label hides one of the large nodes.
    for (const node of graph.bySize.slice(0, LABELS)) {
      const [x, y] = camera.toPixels(graph.places[2 * node], graph.places[2 * node + 1]);
      const half = graph.sizes[node] * camera.growth * 0.6;
      cellsOf(x - half, y, 2 * half).forEach((cell) => taken.add(cell));
    }
    let written = 0;
    for (const node of first) {
      written += this.write(pen, graph, camera, node, taken, node === marks.hovered) ? 1 : 0;
    }
    for (const node of graph.bySize.slice(0, LOOKED_AT)) {
      if (written >= LABELS) {
        break;
      }
      if (!first.includes(node)) {
        written += this.write(pen, graph, camera, node, taken, false) ? 1 : 0;
      }
    }
    pen.font = EDGE_FONT;
    this.onEdges = 0;
    for (let edge = 0; edge < graph.edgeLabels.length && this.onEdges < LABELS; edge += 1) {
      this.onEdges += this.writeOnEdge(pen, graph, camera, edge, taken) ? 1 : 0;
    }
  }

  /** Writes the label of an edge on it, where there is space; that of a loop below its node. */
  private writeOnEdge(
    pen: CanvasRenderingContext2D,
    graph: Graph,
    camera: Camera,
    edge: number,
    taken: Set<number>,
  ): boolean {
    const words = shortened(graph.edgeLabels[edge], LETTERS);
    const [from, to] = [graph.edges[2 * edge], graph.edges[2 * edge + 1]];
    const { places, sizes } = graph;
    const [x, y] = camera.toPixels(places[2 * from], places[2 * from + 1]);
    const [toX, toY] = camera.toPixels(places[2 * to], places[2 * to + 1]);
    const width = pen.measureText(words).width;
    const below = y + sizes[from] * camera.growth + 9;
    const spots = from === to ? [[x, below]] : ON_EDGE.map((at) => [x + at * (toX - x), y + at * (toY - y)]);
    const isFree = ([middle, height]: number[]) =>
      middle > width / 2 &&
      middle + width / 2 < camera.width &&
      height > 8 &&
      height < camera.height - 8 &&
      cellsOf(middle - width / 2, height, width).every((cell) => !taken.has(cell));
    const spot = words ? spots.find(isFree) : undefined;
    if (!spot) {
      return false;
    }
    const [left, middle] = [spot[0] - width / 2, spot[1]];
    cellsOf(left, middle, width).forEach((cell) => taken.add(cell));
    this.put(pen, words, left, middle, "#57606a");
    return true;
  }

  private write(
    pen: CanvasRenderingContext2D,
    graph: Graph,
    camera: Camera,
    node: number,
    taken: Set<number>,
    anyway: boolean,
  ): boolean {
    const [x, y] = camera.toPixels(graph.places[2 * node], graph.places[2 * node + 1]);
    if (x < 0 || y < 0 || x > camera.width || y > camera.height || !graph.labels[node]) {
      return false;
    }
    const words = shortened(graph.labels[node], LETTERS);
    const width = this.width(pen, words);
    const reach = graph.sizes[node] * camera.growth + 3;
    const sides = [x + reach, x - reach - width].filter((left) => left >= 0 && left + width <= camera.width);
    const left = sides.find((side) => cellsOf(side, y, width).every((cell) => !taken.has(cell))) ?? (anyway ? x + reach : -1);
    if (left < 0) {
      return false;
    }
    cellsOf(left, y, width).forEach((cell) => taken.add(cell));
    this.put(pen, words, left, y, "#24292f");
    return true;
  }

  private put(pen: CanvasRenderingContext2D, words: string, left: number, y: number, colour: string): void {
    // A white rim below the letters, so that they can be read on lines.
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    pen.strokeStyle = "rgba(255,255,255,0.9)";
    pen.strokeText(words, left, y + 4);
    pen.fillStyle = colour;
    pen.fillText(words, left, y + 4);
  }

  private width(pen: CanvasRenderingContext2D, words: string): number {
    const known = this.widths.get(words);
    if (known !== undefined) {
      return known;
    }
    if (this.widths.size > 10_000) {
      this.widths.clear();
    }
    const measured = pen.measureText(words).width;
    this.widths.set(words, measured);
    return measured;
  }
}
