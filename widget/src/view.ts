// A view: the graph of the model, drawn, moved and asked about.

import { Camera } from "./camera";
import { Furniture } from "./furniture";
import { Graph } from "./graph";
import { Labels } from "./labels";
import type { Answer, Model } from "./model";
import type { Marks, Painter } from "./painter";
import { painter } from "./painters";
import { Pointer, type Scene } from "./pointer";

/** Where a frame takes longer than so many milliseconds, a moving picture has so many edges, and all of them when it rests for so long. */
const SLOW = 50;
const EDGES_MOVING = 3_000;
const REST = 200;

/** The most nodes that the search lists. */
const FOUND = 20;

export class View implements Scene {
  readonly camera = new Camera();
  readonly graph = new Graph();
  readonly marks: Marks = { chosen: new Set(), hovered: -1, version: 0 };
  readonly root = document.createElement("div");
  readonly furniture: Furniture;
  private painter: Painter;
  private readonly labels = new Labels();
  private readonly pointer: Pointer;
  private readonly sized: ResizeObserver;
  private readonly events: [string, (content: Answer) => void][];
  private readonly abouts = new Map<number, [string, string][]>();
  private parts = 0;
  private frame = 0;
  private isMoving = false;
  private isSlow = false;
  private rest = 0;

  constructor(readonly model: Model, el: HTMLElement) {
    this.root.className = "hexgraph-view";
    this.root.tabIndex = 0;
    this.root.style.height = `${model.get("height")}px`;
    this.painter = painter(() => this.withoutGl());
    this.root.append(this.painter.canvas, this.labels.canvas);
    this.furniture = new Furniture(this.root, this.actions(), model.get("legend"));
    this.pointer = new Pointer(this);
    el.append(this.root);
    this.graph.add(model.get("graph"));
    this.addParts();
    this.marks.chosen = new Set(model.get("chosen"));
    this.furniture.tell(model.get("told"));
    this.events = [
      ["change:added", () => this.addParts()],
      ["change:chosen", () => this.mark(() => (this.marks.chosen = new Set(model.get("chosen"))))],
      ["change:told", () => this.furniture.tell(model.get("told"))],
      ["msg:custom", (content) => this.answered(content)],
    ];
    this.events.forEach(([event, callback]) => model.on(event, callback));
    this.sized = new ResizeObserver(() => this.resize());
    this.sized.observe(this.root);
    this.resize();
  }

  /** Draws before the next picture of the browser, once for all that has changed; `isMoving` when the camera moves. */
  redraw(isMoving = false): void {
    this.isMoving = isMoving;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Changes what is marked. */
  mark(change: () => void): void {
    change();
    this.marks.version += 1;
    this.redraw();
  }

  /** Selects nodes, and tells Python their numbers. */
  choose(nodes: Iterable<number>): void {
    this.mark(() => (this.marks.chosen = new Set(nodes)));
    this.model.set("chosen", [...this.marks.chosen].sort((one, two) => one - two));
    this.model.save_changes();
  }

  /** The node at a point of the picture, the smallest one of several; -1 for none. */
  nodeAt(left: number, top: number): number {
    const { camera, graph } = this;
    const [x, y] = camera.toPlace(left, top);
    let best = -1;
    for (let node = 0; node < graph.nodeCount; node += 1) {
      const reach = (graph.sizes[node] * camera.growth + 2) / camera.scale;
      const [far, deep] = [graph.places[2 * node] - x, graph.places[2 * node + 1] - y];
      const isThere = far * far + deep * deep <= reach * reach;
      if (isThere && (best < 0 || graph.sizes[node] <= graph.sizes[best])) {
        best = node;
      }
    }
    return best;
  }

  /** The nodes in a box of the picture. */
  nodesIn(left: number, top: number, right: number, bottom: number): number[] {
    const [x, y] = this.camera.toPlace(left, top);
    const [toX, toY] = this.camera.toPlace(right, bottom);
    const { places, labels } = this.graph;
    const isIn = (node: number) =>
      x <= places[2 * node] && places[2 * node] <= toX && y <= places[2 * node + 1] && places[2 * node + 1] <= toY;
    return labels.map((_, node) => node).filter(isIn);
  }

  /** Asks for the neighbours of a node. */
  expand(node: number): void {
    if (this.model.get("can_expand")) {
      this.model.send({ kind: "expand", node });
    } else {
      this.furniture.tell("GraphView(result, db=db) lets nodes be expanded");
    }
  }

  /** Marks the node below the mouse and shows its values; -1 for none. */
  hover(node: number, left: number, top: number): void {
    if (this.marks.hovered !== node) {
      this.mark(() => (this.marks.hovered = node));
      if (node >= 0 && !this.abouts.has(node)) {
        this.model.send({ kind: "about", node });
      }
    }
    if (node < 0) {
      this.furniture.hideTip();
    } else {
      this.furniture.showTip(this.graph.labels[node], this.abouts.get(node) ?? [], left, top);
    }
  }

  seeAll(): void {
    this.camera.lookAt(...this.graph.middle());
    this.redraw();
  }

  zoom(factor: number, left = this.camera.width / 2, top = this.camera.height / 2): void {
    this.camera.zoomAt(factor, left, top);
    this.redraw(true);
  }

  free(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
    this.sized.disconnect();
    this.events.forEach(([event, callback]) => this.model.off(event, callback));
    this.painter.free();
    this.root.remove();
  }

  private actions() {
    return {
      find: (text: string) => this.graph.find(text, FOUND),
      label: (node: number) => this.graph.labels[node],
      lookAt: (node: number) => this.lookAt(node),
      zoom: (factor: number) => this.zoom(factor),
      all: () => this.seeAll(),
    };
  }

  private lookAt(node: number): void {
    const { places } = this.graph;
    this.camera.lookAt(places[2 * node], places[2 * node + 1], Math.max(4, this.camera.zoom));
    this.choose([node]);
  }

  private answered(content: Answer): void {
    if (content.kind === "told") {
      this.furniture.tell(content.text);
      return;
    }
    if (this.abouts.size > 5_000) {
      this.abouts.clear();
    }
    this.abouts.set(content.node, content.rows);
    if (this.marks.hovered === content.node) {
      this.hover(content.node, ...this.pointer.place);
    }
  }

  private addParts(): void {
    const parts = this.model.get("added");
    for (; this.parts < parts.length; this.parts += 1) {
      this.graph.add(parts[this.parts]);
    }
    this.redraw();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.root;
    this.camera.width = Math.max(1, clientWidth);
    this.camera.height = Math.max(1, clientHeight);
    this.redraw();
  }

  /** The browser gives few views of a page a graphics card: the others draw without one. */
  private withoutGl(): void {
    const before = this.painter;
    this.painter = painter(() => {}, "2d");
    before.canvas.replaceWith(this.painter.canvas);
    this.redraw();
  }

  /** How many edges this frame has: all, unless the picture moves and one with all of them took long. */
  private edgesMax(): number {
    clearTimeout(this.rest);
    if (this.isMoving && this.isSlow && this.graph.edgeCount > EDGES_MOVING) {
      this.rest = window.setTimeout(() => this.redraw(), REST);
      return EDGES_MOVING;
    }
    const began = performance.now();
    requestAnimationFrame(() => (this.isSlow = performance.now() - began > SLOW));
    return Infinity;
  }

  private draw(): void {
    const density = window.devicePixelRatio || 1;
    for (const canvas of [this.painter.canvas, this.labels.canvas]) {
      const [width, height] = [this.camera.width * density, this.camera.height * density].map(Math.round);
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
    }
    this.painter.draw(this.graph, this.camera, this.marks, density, this.edgesMax());
    this.labels.draw(this.graph, this.camera, this.marks, density);
    this.root.dataset.renderer = this.painter.name;
    this.root.dataset.nodes = String(this.graph.nodeCount);
    this.root.dataset.edgeLabels = String(this.labels.onEdges);
  }
}
