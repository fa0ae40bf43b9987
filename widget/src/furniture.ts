// What stands around the picture: the bar with the search, the legend, the tip. Texts are set as text, never as HTML.

import { shortened } from "./labels";

function make<K extends keyof HTMLElementTagNameMap>(
  kind: K,
  parent: HTMLElement,
  name = "",
  text = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(kind);
  if (name) {
    made.className = name;
  }
  made.textContent = text;
  parent.append(made);
  return made;
}

/** What the buttons and the search do. */
export interface Actions {
  find(text: string): number[];
  label(node: number): string;
  lookAt(node: number): void;
  zoom(factor: number): void;
  all(): void;
}

export class Furniture {
  /** Whether dragging the mouse draws a box that selects, and does not move the picture. */
  boxes = false;
  private readonly told: HTMLElement;
  private readonly found: HTMLElement;
  private readonly search: HTMLInputElement;
  private readonly tip: HTMLElement;
  private readonly box: HTMLElement;

  constructor(
    private readonly root: HTMLElement,
    private readonly actions: Actions,
    legend: [string, string][],
  ) {
    const bar = make("div", root, "hexgraph-bar");
    this.search = make("input", bar);
    this.search.type = "search";
    this.search.placeholder = "search";
    this.search.maxLength = 200;
    this.search.setAttribute("aria-label", "search the labels");
    this.search.addEventListener("input", () => this.showFound());
    this.search.addEventListener("keydown", (event) => this.searched(event));
    this.button(bar, "+", "zoom in", () => actions.zoom(1.5));
    this.button(bar, "−", "zoom out", () => actions.zoom(1 / 1.5));
    this.button(bar, "all", "see all", () => actions.all());
    const boxes = this.button(bar, "▭", "select by a box (or drag with Shift)", () => {
      this.boxes = !this.boxes;
      boxes.setAttribute("aria-pressed", String(this.boxes));
    });
    this.told = make("span", bar, "hexgraph-told");
    this.told.setAttribute("role", "status");
    this.found = make("div", root, "hexgraph-found");
    this.tip = make("div", root, "hexgraph-tip");
    this.box = make("div", root, "hexgraph-box");
    this.found.hidden = this.tip.hidden = this.box.hidden = true;
    const row = make("div", root, "hexgraph-legend");
    for (const [text, colour] of legend) {
      const entry = make("span", row);
      make("i", entry).style.background = colour;
      entry.append(shortened(text, 40));
    }
  }

  tell(text: string): void {
    this.told.textContent = text;
  }

  /** Shows a box between two points, or none. */
  drawBox(box?: [number, number, number, number]): void {
    this.box.hidden = !box;
    if (box) {
      const [left, top, right, bottom] = box;
      Object.assign(this.box.style, {
        left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px`,
      });
    }
  }

  /** Shows the values of a node beside the mouse. */
  showTip(title: string, rows: [string, string][], left: number, top: number): void {
    this.tip.replaceChildren();
    make("b", this.tip, "", shortened(title, 200));
    for (const [name, value] of rows) {
      const row = make("div", this.tip);
      make("span", row, "", name);
      row.append(value);
    }
    this.tip.hidden = false;
    const { clientWidth, clientHeight } = this.root;
    const right = left + 14 + this.tip.offsetWidth > clientWidth;
    this.tip.style.left = `${Math.max(0, right ? left - 14 - this.tip.offsetWidth : left + 14)}px`;
    this.tip.style.top = `${Math.max(0, Math.min(top + 10, clientHeight - this.tip.offsetHeight))}px`;
  }

  hideTip(): void {
    this.tip.hidden = true;
  }

  private button(bar: HTMLElement, text: string, title: string, act: () => void): HTMLButtonElement {
    const made = make("button", bar, "", text);
    made.type = "button";
    made.title = title;
    made.setAttribute("aria-label", title);
    made.addEventListener("click", act);
    return made;
  }

  private showFound(): void {
    this.found.replaceChildren();
    const nodes = this.actions.find(this.search.value);
    for (const node of nodes) {
      const row = make("div", this.found, "", shortened(this.actions.label(node), 80));
      row.addEventListener("click", () => this.choose(node));
    }
    if (!nodes.length) {
      make("div", this.found, "", "no label has it");
    }
    this.found.hidden = !this.search.value.trim();
  }

  private searched(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") {
      this.search.value = "";
      this.found.hidden = true;
    } else if (event.key === "Enter") {
      const [first] = this.actions.find(this.search.value);
      if (first !== undefined) {
        this.choose(first);
      }
    }
  }

  private choose(node: number): void {
    this.found.hidden = true;
    this.actions.lookAt(node);
  }
}
