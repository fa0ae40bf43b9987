// The nodes and edges that are drawn, as arrays that grow when nodes are expanded.

import type { Part } from "./model";

/** The bytes of a buffer that came by wire, which may begin anywhere in it. All machines that browsers run on are little-endian. */
const cut = (view: DataView) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer;

type Numbers = Float32Array | Uint32Array | Uint8Array;

function joined<T extends Numbers>(one: T, two: T): T {
  const both = new (one.constructor as new (length: number) => T)(one.length + two.length);
  both.set(one);
  both.set(two, one.length);
  return both;
}

export class Graph {
  places: Float32Array = new Float32Array();
  sizes: Float32Array = new Float32Array();
  colours: Uint8Array = new Uint8Array();
  edges: Uint32Array = new Uint32Array();
  labels: string[] = [];
  /** What is written on each edge; none where edges have no labels. */
  edgeLabels: string[] = [];
  /** The numbers of the nodes from the largest to the smallest: in this order labels are written. */
  bySize: number[] = [];
  /** Grows with each change, so that what is uploaded or computed can be told to be old. */
  version = 0;
  /** The numbers of the edges of each node, one after the other, and where those of a node begin. */
  private starts = new Uint32Array(1);
  private around = new Uint32Array();

  get nodeCount(): number {
    return this.labels.length;
  }

  get edgeCount(): number {
    return this.edges.length >> 1;
  }

  add(part: Part): void {
    this.places = joined(this.places, new Float32Array(cut(part.places)));
    this.sizes = joined(this.sizes, new Float32Array(cut(part.sizes)));
    this.colours = joined(this.colours, new Uint8Array(cut(part.colours)));
    this.edges = joined(this.edges, new Uint32Array(cut(part.edges)));
    this.labels = this.labels.concat(part.labels);
    this.edgeLabels = this.edgeLabels.concat(part.edgeLabels ?? []);
    this.bySize = this.labels.map((_, node) => node);
    this.bySize.sort((one, two) => this.sizes[two] - this.sizes[one] || one - two);
    this.index();
    this.version += 1;
  }

  /** The numbers of the edges of a node. */
  edgesOf(node: number): Uint32Array {
    return this.around.subarray(this.starts[node], this.starts[node + 1]);
  }

  /** The middle of the places, and the zoom at which all of them are seen; nodes that were added may lie outside of the square. */
  middle(): [number, number, number] {
    const [low, high] = [[0, 0], [1, 1]];
    this.places.forEach((value, at) => {
      low[at % 2] = Math.min(low[at % 2], value);
      high[at % 2] = Math.max(high[at % 2], value);
    });
    const side = Math.max(high[0] - low[0], high[1] - low[1]);
    return [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, 1 / side];
  }

  /** The nodes whose label has a text in it, at most so many, those that begin with it first. */
  find(text: string, most: number): number[] {
    const sought = text.trim().toLowerCase();
    if (!sought) {
      return [];
    }
    const first: number[] = [];
    const others: number[] = [];
    for (const node of this.bySize) {
      const at = this.labels[node].toLowerCase().indexOf(sought);
      if (at === 0) {
        first.push(node);
      } else if (at > 0) {
        others.push(node);
      }
    }
    return first.concat(others).slice(0, most);
  }

  private index(): void {
    this.starts = new Uint32Array(this.nodeCount + 1);
    for (const node of this.edges) {
      this.starts[node + 1] += 1;
    }
    for (let node = 0; node < this.nodeCount; node += 1) {
      this.starts[node + 1] += this.starts[node];
    }
    const next = this.starts.slice();
    this.around = new Uint32Array(this.edges.length);
    for (let at = 0; at < this.edges.length; at += 1) {
      const node = this.edges[at];
      this.around[next[node]] = at >> 1;
      next[node] += 1;
    }
  }
}
