// Chooses what draws: WebGL where the browser has it, the 2D canvas elsewhere.

import { Canvas } from "./canvas";
import { Gl } from "./gl";
import type { Painter } from "./painter";

/** Returns a painter; `lost` is called when the browser takes its memory away. */
export function painter(lost: () => void, only?: "2d"): Painter {
  return (only !== "2d" && Gl.make(lost)) || new Canvas();
}
