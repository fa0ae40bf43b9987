// The front end of `hexgraph.GraphView`: what anywidget calls for each place where the view is shown.

import css from "./graph.css";
import type { Model } from "./model";
import { View } from "./view";

interface Shown {
  model: Model;
  el: HTMLElement;
}

function render({ model, el }: Shown): () => void {
  // The style is within the view, so that it reaches what a page hides in a shadow tree.
  const style = document.createElement("style");
  style.textContent = css;
  el.append(style);
  const view = new View(model, el);
  return () => view.free();
}

export default { render };
