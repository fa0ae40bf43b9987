// What the notebook gives: the model of an anywidget, with the traits of the class `Live` in Python.

/** Numbers as they come: little-endian, in the order of the nodes or the edges. */
export interface Part {
  /** Two floats of 32 bits a node, from 0 to 1. */
  places: DataView;
  /** A float of 32 bits a node: the radius in pixels. */
  sizes: DataView;
  /** Three bytes a node: red, green, blue. */
  colours: DataView;
  /** Two integers of 32 bits an edge: the numbers of its nodes. */
  edges: DataView;
  labels: string[];
  /** What is written on each edge, where edges have labels; "" for nothing. */
  edgeLabels?: string[];
}

export interface Traits {
  graph: Part;
  added: Part[];
  legend: [string, string][];
  chosen: number[];
  told: string;
  height: number;
  can_expand: boolean;
}

/** What Python is asked: about the values of a node, or for its neighbours. */
export type Question = { kind: "about" | "expand"; node: number };

/** What Python answers. */
export type Answer =
  | { kind: "about"; node: number; rows: [string, string][] }
  | { kind: "told"; text: string };

export interface Model {
  get<K extends keyof Traits>(name: K): Traits[K];
  set<K extends keyof Traits>(name: K, value: Traits[K]): void;
  save_changes(): void;
  send(content: Question): void;
  on(event: string, callback: (content: Answer) => void): void;
  off(event: string, callback: (content: Answer) => void): void;
}
