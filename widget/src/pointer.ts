// Mouse, fingers and keys: moving, zooming, selecting, expanding.

import type { Camera } from "./camera";
import type { Furniture } from "./furniture";
import type { Marks } from "./painter";

/** What a pointer moves and marks. */
export interface Scene {
  readonly root: HTMLElement;
  readonly camera: Camera;
  readonly furniture: Furniture;
  readonly marks: Marks;
  nodeAt(left: number, top: number): number;
  nodesIn(left: number, top: number, right: number, bottom: number): number[];
  hover(node: number, left: number, top: number): void;
  choose(nodes: Iterable<number>): void;
  expand(node: number): void;
  zoom(factor: number, left?: number, top?: number): void;
  seeAll(): void;
  redraw(isMoving?: boolean): void;
}

/** A pointer that moved less is a click. */
const CLICK = 4;

export class Pointer {
  /** Where the mouse was last. */
  place: [number, number] = [0, 0];
  private readonly down = new Map<number, [number, number]>();
  private start: [number, number] = [0, 0];
  private mode: "none" | "move" | "box" = "none";

  constructor(private readonly view: Scene) {
    const { root } = view;
    root.addEventListener("pointerdown", (event) => this.pressed(event));
    root.addEventListener("pointermove", (event) => this.moved(event));
    root.addEventListener("pointerup", (event) => this.released(event));
    root.addEventListener("pointercancel", (event) => this.left(event));
    root.addEventListener("pointerleave", () => this.view.hover(-1, 0, 0));
    root.addEventListener("dblclick", (event) => this.doubled(event));
    root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    root.addEventListener("keydown", (event) => this.key(event));
  }

  private at(event: MouseEvent): [number, number] {
    const box = this.view.root.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** Whether an event is of the picture, and not of what stands around it. */
  private isOurs(event: Event): boolean {
    return event.target instanceof HTMLCanvasElement || event.target === this.view.root;
  }

  private pressed(event: PointerEvent): void {
    if (!this.isOurs(event) || event.button !== 0) {
      return;
    }
    this.view.root.focus({ preventScroll: true });
    this.view.root.setPointerCapture(event.pointerId);
    this.start = this.place = this.at(event);
    this.down.set(event.pointerId, this.start);
    this.mode = event.shiftKey || this.view.furniture.boxes ? "box" : "move";
  }

  private moved(event: PointerEvent): void {
    const now = this.at(event);
    const before = this.down.get(event.pointerId);
    if (!before) {
      if (this.isOurs(event)) {
        this.place = now;
        this.view.hover(this.view.nodeAt(...now), ...now);
      }
      return;
    }
    const other = [...this.down].find(([id]) => id !== event.pointerId)?.[1];
    this.down.set(event.pointerId, now);
    if (other) {
      const factor = distance(now, other) / Math.max(1, distance(before, other));
      this.view.zoom(factor, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (this.mode === "box") {
      this.view.furniture.drawBox(box(this.start, now));
    } else if (this.mode === "move") {
      this.view.camera.pan(now[0] - before[0], now[1] - before[1]);
      this.view.redraw(true);
    }
  }

  private released(event: PointerEvent): void {
    if (!this.down.has(event.pointerId)) {
      return;
    }
    const now = this.at(event);
    const [mode, isClick] = [this.mode, distance(this.start, now) < CLICK];
    this.left(event);
    const { chosen } = this.view.marks;
    if (isClick) {
      const node = this.view.nodeAt(...now);
      if (node < 0) {
        this.view.choose([]);
      } else if (event.shiftKey || event.ctrlKey || event.metaKey) {
        const others = [...chosen].filter((it) => it !== node);
        this.view.choose(chosen.has(node) ? others : [...others, node]);
      } else {
        this.view.choose([node]);
      }
    } else if (mode === "box") {
      const found = this.view.nodesIn(...box(this.start, now));
      this.view.choose(event.ctrlKey || event.metaKey ? [...chosen, ...found] : found);
    }
  }

  private left(event: PointerEvent): void {
    this.down.delete(event.pointerId);
    this.mode = "none";
    this.view.furniture.drawBox();
  }

  private doubled(event: MouseEvent): void {
    const node = this.isOurs(event) ? this.view.nodeAt(...this.at(event)) : -1;
    if (node >= 0) {
      this.view.expand(node);
    }
  }

  /** A page scrolls on when the mouse passes over a view: only one that was clicked zooms, or with Ctrl. */
  private wheel(event: WheelEvent): void {
    if (this.isOurs(event) && (event.ctrlKey || this.view.root.contains(document.activeElement) || isFocused(this.view.root))) {
      event.preventDefault();
      this.view.zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) / 400), ...this.at(event));
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.view.root) {
      return;
    }
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60],
    };
    if (event.key in moves) {
      this.view.camera.pan(...moves[event.key]);
      this.view.redraw(true);
    } else if (event.key === "+" || event.key === "-") {
      this.view.zoom(event.key === "+" ? 1.5 : 1 / 1.5);
    } else if (event.key === "0") {
      this.view.seeAll();
    } else if (event.key === "Escape") {
      this.view.choose([]);
    } else if (event.key === "Enter" && this.view.marks.chosen.size === 1) {
      this.view.expand([...this.view.marks.chosen][0]);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Whether an element has the focus, in a shadow tree too. */
function isFocused(element: HTMLElement): boolean {
  const tree = element.getRootNode();
  return tree instanceof ShadowRoot && element.contains(tree.activeElement);
}

function distance(one: [number, number], two: [number, number]): number {
  return Math.hypot(one[0] - two[0], one[1] - two[1]);
}

function box(one: [number, number], two: [number, number]): [number, number, number, number] {
  return [Math.min(one[0], two[0]), Math.min(one[1], two[1]), Math.max(one[0], two[0]), Math.max(one[1], two[1])];
}
