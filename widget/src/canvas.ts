// Draws by a 2D canvas, where there is no WebGL, or where the browser took it away: a page has it for few views only.

import type { Camera } from "./camera";
import type { Graph } from "./graph";
import { CHOSEN, DARK, EDGE, RING, RISE, opacity, type Marks, type Painter } from "./painter";

const css = (colour: ArrayLike<number>, alpha = 1) => `rgba(${colour[0]},${colour[1]},${colour[2]},${alpha})`;

/** Of more edges than these, none has a head. */
const HEADS = 3_000;

/** So many lines are drawn at once: the time for a path grows faster than its lines. */
const PIECE = 200;

export class Canvas implements Painter {
  readonly name = "2D canvas";
  readonly canvas = document.createElement("canvas");

  draw(graph: Graph, camera: Camera, marks: Marks, density: number, edgesMax: number): void {
    const pen = this.canvas.getContext("2d")!;
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, camera.width, camera.height);
    const step = Math.max(1, Math.ceil(graph.edgeCount / edgesMax));
    const every = Array.from({ length: Math.ceil(graph.edgeCount / step) }, (_, at) => at * step);
    this.lines(pen, graph, camera, every, css(EDGE, opacity(graph.edgeCount)));
    if (marks.hovered >= 0) {
      this.lines(pen, graph, camera, graph.edgesOf(marks.hovered), css(DARK));
    }
    for (const node of graph.bySize) {
      const [x, y] = camera.toPixels(graph.places[2 * node], graph.places[2 * node + 1]);
      const radius = graph.sizes[node] * camera.growth;
      const isSeen = x > -radius && y > -radius && x < camera.width + radius && y < camera.height + radius;
      if (isSeen) {
        pen.beginPath();
        pen.arc(x, y, radius, 0, 2 * Math.PI);
        pen.fillStyle = css(graph.colours.subarray(3 * node, 3 * node + 3));
        pen.fill();
        pen.lineWidth = marks.chosen.has(node) ? 3 : 1.2;
        pen.strokeStyle = marks.chosen.has(node) ? css(CHOSEN) : "#ffffff";
        pen.stroke();
      }
    }
  }

  free(): void {}

  private lines(
    pen: CanvasRenderingContext2D,
    graph: Graph,
    camera: Camera,
    edges: ArrayLike<number>,
    colour: string,
  ): void {
    pen.lineWidth = 1;
    pen.strokeStyle = colour;
    pen.beginPath();
    for (let at = 0; at < edges.length; at += 1) {
      if (at % PIECE === PIECE - 1) {
        pen.stroke();
        pen.beginPath();
      }
      const [from, to] = [graph.edges[2 * edges[at]], graph.edges[2 * edges[at] + 1]];
      const [x, y] = camera.toPixels(graph.places[2 * from], graph.places[2 * from + 1]);
      const [toX, toY] = camera.toPixels(graph.places[2 * to], graph.places[2 * to + 1]);
      const far = Math.hypot(toX - x, toY - y);
      const end = graph.sizes[to] * camera.growth;
      if (from === to) {
        const middle = y - end - RISE;
        pen.moveTo(x + RING, middle);
        pen.arc(x, middle, RING, 0, 2 * Math.PI);
      } else if (far > end) {
        const [alongX, alongY] = [(toX - x) / far, (toY - y) / far];
        const [endX, endY] = [toX - alongX * end, toY - alongY * end];
        pen.moveTo(x, y);
        pen.lineTo(endX, endY);
        if (far - end > 8 && edges.length < HEADS) {
          pen.moveTo(endX - 6 * alongX - 3 * alongY, endY - 6 * alongY + 3 * alongX);
          pen.lineTo(endX, endY);
          pen.lineTo(endX - 6 * alongX + 3 * alongY, endY - 6 * alongY - 3 * alongX);
        }
      }
    }
    pen.stroke();
  }
}
