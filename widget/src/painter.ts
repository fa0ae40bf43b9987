// What draws nodes and edges, and how they look whatever draws them.

import type { Camera } from "./camera";
import type { Graph } from "./graph";

/** What is drawn in another way than the rest. */
export interface Marks {
  chosen: Set<number>;
  /** The node below the mouse, whose edges are dark; -1 for none. */
  hovered: number;
  /** Grows with each change. */
  version: number;
}

export interface Painter {
  readonly name: string;
  readonly canvas: HTMLCanvasElement;
  /** Draws all nodes, and so many edges. */
  draw(graph: Graph, camera: Camera, marks: Marks, density: number, edgesMax: number): void;
  free(): void;
}

/** The radius of the ring that an edge from a node to itself is, and how far above the node's border its middle lies; pixels. */
export const RING = 8;
export const RISE = 5;

export const EDGE: [number, number, number] = [140, 149, 159];
export const DARK: [number, number, number] = [36, 41, 47];
export const CHOSEN: [number, number, number] = [207, 34, 46];

/** How much of the ground an edge covers: many are paler. */
export function opacity(edges: number): number {
  return Math.max(0.12, Math.min(0.6, 60 / Math.sqrt(edges + 1)));
}
