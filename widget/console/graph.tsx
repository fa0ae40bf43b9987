// The graph of an answer, drawn by the painter of the live view.

import css from "../src/graph.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { View } from "../src/view";
import { Network, NetworkModel } from "./network";

interface Given {
  /** Makes the network that is shown; called once. */
  make(): Promise<Network>;
  /** Whether its nodes are of the graph, and can be expanded. */
  reads: boolean;
  /** A query whose answer has nodes. */
  example?: string;
}

/** The page of the console has the style of the view once. */
function addStyle(): void {
  if (!document.getElementById("view-style")) {
    const style = document.createElement("style");
    style.id = "view-style";
    style.textContent = css;
    document.head.append(style);
  }
}

export function GraphPane({ make, reads, example }: Given) {
  const place = useRef<HTMLDivElement>(null);
  const [told, setTold] = useState("Reading the nodes …");
  useEffect(() => {
    let view: View | undefined;
    let isGone = false;
    addStyle();
    make().then((network) => {
      if (isGone) {
        return;
      }
      if (!network.nodes.size) {
        setTold(`This answer has no nodes${example ? `: that of a query such as ${example} has some` : ""}.`);
        return;
      }
      setTold("");
      const { clientWidth, clientHeight } = place.current!;
      const wide = Math.max(0.7, Math.min(2.2, clientWidth / Math.max(1, clientHeight)));
      view = new View(new NetworkModel(network, wide, reads), place.current!);
      view.root.setAttribute("role", "application");
      view.root.setAttribute("aria-label", "graph: arrows move it, + and - zoom, Enter expands the selected node");
      // The pane sets the height.
      view.root.style.height = "100%";
    }, (error: Error) => setTold(error.message));
    return () => {
      isGone = true;
      view?.free();
    };
  }, [make]);
  return (
    <div class="graph" ref={place}>
      {told ? <p class="empty">{told}</p> : reads && <p class="hint">Double-click, or select and Enter, expands a node</p>}
    </div>
  );
}
