// A graph of nodes and edges for the painter of the live view (`widget/src`): read from an answer, laid out by forces, expanded
// by queries. It is what `Live` is in Python: the model behind a view.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { Answer, Model, Part, Question, Traits } from "../src/model";
import { query } from "./api";
import { isRow, shown, type Row } from "./rows";
import { about, labelPredicates, named } from "./schema";

export interface NetNode {
  key: string;
  kind: string;
  label: string;
  values: [string, string][];
  /** How often the node is named: its radius follows from it. */
  degree: number;
  /** A radius that is given. */
  size?: number;
}

export interface NetEdge {
  from: string;
  name: string;
  to: string;
}

/** Told apart by most who do not see all colours, as in the pictures of notebooks (Paul Tol's bright scheme, and two more). */
const COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#44bb99"];
const OTHER = "#bbbbbb";

const NODES_MAX = 5_000;
const EDGES_MAX = 20_000;
const EXPAND = 40;
const UIDS_AT_ONCE = 1_000;

/** Panes are wider than high: nodes are pulled to a line in the middle more than along it. */
const WIDE = 1.6;

/** The least and the greatest of some numbers. */
const extent = (values: number[]): [number, number] =>
  values.reduce(([low, high], it) => [Math.min(low, it), Math.max(high, it)], [Infinity, -Infinity]);

interface Body {
  key: string;
  x?: number;
  y?: number;
  fx?: number;
  fy?: number;
}

/** The nodes and edges of an answer: whatever has a uid, and what lies below what. */
export class Network {
  readonly nodes = new Map<string, NetNode>();
  readonly edges = new Map<string, NetEdge>();
  /** How many nodes were left out. */
  left = 0;

  /** Reads data; those below a node are its neighbours. */
  read(data: unknown, parent = "", name = ""): void {
    if (Array.isArray(data)) {
      data.forEach((it) => this.read(it, parent, name));
    } else if (isRow(data)) {
      const key = typeof data.uid === "string" ? data.uid : "";
      const isThere = key !== "" && this.node(key, data);
      if (isThere && parent) {
        this.edge(parent, name, key);
      }
      for (const [inner, value] of Object.entries(data)) {
        if (typeof value === "object" && !inner.includes("|")) {
          this.read(value, isThere ? key : parent, isThere ? inner : name || inner);
        }
      }
    }
  }

  node(key: string, row: Row): boolean {
    let node = this.nodes.get(key);
    if (!node && this.nodes.size >= NODES_MAX) {
      this.left += 1;
      return false;
    }
    node ??= { key, kind: "", label: "", values: [], degree: 0 };
    this.nodes.set(key, node);
    const known = new Set(node.values.map(([name]) => name));
    for (const [name, value] of Object.entries(row)) {
      const isValue = !isRow(value) && !(Array.isArray(value) && value.some(isRow));
      if (isValue && name !== "uid" && name !== "dgraph.type" && !known.has(name)) {
        node.values.push([name, shown(value).slice(0, 200)]);
      }
    }
    node.kind ||= shown(Array.isArray(row["dgraph.type"]) ? row["dgraph.type"][0] : row["dgraph.type"]);
    node.label ||= labelOf(node);
    return true;
  }

  edge(one: string, name: string, two: string): void {
    const isBack = name.startsWith("~");
    const edge = isBack ? { from: two, name: name.slice(1), to: one } : { from: one, name, to: two };
    const key = `${edge.from} ${edge.name} ${edge.to}`;
    if (!this.edges.has(key) && this.edges.size < EDGES_MAX) {
      this.edges.set(key, edge);
      this.nodes.get(one)!.degree += 1;
      this.nodes.get(two)!.degree += 1;
    }
  }

  /** Asks for types and names of nodes that came without. */
  async complete(): Promise<void> {
    const lacking = [...this.nodes.values()].filter((it) => !it.kind || !it.label).map((it) => it.key);
    const labels = labelPredicates(about.now).map(named).join(" ");
    for (let at = 0; at < lacking.length; at += UIDS_AT_ONCE) {
      const uids = lacking.slice(at, at + UIDS_AT_ONCE).join(", ");
      const data = await query(`{ q(func: uid(${uids})) { uid dgraph.type ${labels} } }`);
      (data.q ?? []).forEach((row: Row) => this.node(row.uid, row));
    }
  }
}

function labelOf(node: NetNode): string {
  const ranks = [/^name(@.*)?$/i, /^title(@.*)?$/i, /name|title|label/i];
  for (const rank of ranks) {
    const found = node.values.find(([name, value]) => rank.test(name) && value);
    if (found) {
      return found[1].slice(0, 80);
    }
  }
  return "";
}

/** What is written on edges: on the first one between two nodes the names of all, on the others nothing. */
function namesOn(edges: NetEdge[]): string[] {
  const between = ({ from, to }: NetEdge) => [from, to].sort().join("\n");
  const names = new Map<string, Set<string>>();
  edges.forEach((it) => names.set(between(it), (names.get(between(it)) ?? new Set()).add(it.name)));
  return edges.map((it) => {
    const all = [...(names.get(between(it)) ?? [])].join(", ");
    names.delete(between(it));
    return all;
  });
}

/** The model behind a view of a network. */
export class NetworkModel implements Model {
  private readonly listeners = new Map<string, Set<(content: Answer) => void>>();
  private readonly bodies = new Map<string, Body>();
  private readonly colours = new Map<string, string>();
  private readonly traits: Traits;
  private drawn: [number, number] = [0, 0];
  /** From the coordinates of the layout to those of the painter. */
  private scale: [number, number, number] = [0, 0, 1];

  /** `wide` is how many times as wide as high the picture is. */
  constructor(readonly network: Network, private readonly wide: number, private readonly reads: boolean) {
    const kinds = new Map<string, number>();
    for (const { kind } of network.nodes.values()) {
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    const byCount = [...kinds].filter(([kind]) => kind).sort((one, two) => two[1] - one[1]);
    byCount.slice(0, COLOURS.length).forEach(([kind], at) => this.colours.set(kind, COLOURS[at]));
    const legend = byCount.map(([kind, count]): [string, string] => [`${kind} ${count.toLocaleString("en")}`, this.colour(kind)]);
    this.traits = {
      graph: this.part(), added: [], legend: reads ? legend : [], chosen: [], told: this.told(), height: 300, can_expand: reads,
    };
  }

  get<K extends keyof Traits>(name: K): Traits[K] {
    return this.traits[name];
  }

  set<K extends keyof Traits>(name: K, value: Traits[K]): void {
    this.traits[name] = value;
  }

  save_changes(): void {}

  on(event: string, callback: (content: Answer) => void): void {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(callback));
  }

  off(event: string, callback: (content: Answer) => void): void {
    this.listeners.get(event)?.delete(callback);
  }

  send({ kind, node }: Question): void {
    const found = [...this.network.nodes.values()][node];
    if (kind === "about") {
      this.say("msg:custom", { kind: "about", node, rows: this.rows(found) });
    } else {
      this.expand(found).catch((error: Error) => this.say("msg:custom", { kind: "told", text: error.message }));
    }
  }

  private say(event: string, content?: Answer): void {
    this.listeners.get(event)?.forEach((callback) => callback(content as Answer));
  }

  private rows(node: NetNode): [string, string][] {
    const type: [string, string][] = node.kind ? [["type", node.kind]] : [];
    return this.reads ? [["uid", node.key], ...type, ...node.values.slice(0, 20)] : node.values;
  }

  private colour(kind: string): string {
    return this.colours.get(kind) ?? OTHER;
  }

  private told(): string {
    const { nodes, edges, left } = this.network;
    const more = left ? ` · ${left.toLocaleString("en")} more nodes are not shown` : "";
    return `${nodes.size.toLocaleString("en")} nodes, ${edges.size.toLocaleString("en")} edges${more}`;
  }

  /** Adds the neighbours of a node, by all edges of the schema and back by those that can be read so. */
  private async expand(node: NetNode): Promise<void> {
    const edges = about.now.predicates.filter((it) => it.type === "uid");
    const labels = labelPredicates(about.now).map(named).join(" ");
    const names = edges.flatMap((it) => (it.reverse ? [it.name, `~${it.name}`] : [it.name]));
    const fields = names.map((name) => `${named(name)} (first: ${EXPAND}) { uid dgraph.type ${labels} }`);
    const before = this.network.nodes.size;
    this.network.read((await query(`{ q(func: uid(${node.key})) { uid ${fields.join(" ")} } }`)).q);
    this.traits.added = [...this.traits.added, this.part(node.key)];
    this.say("change:added");
    const count = this.network.nodes.size - before;
    const name = node.label || node.key;
    this.traits.told = `${count ? `${count} more at ${name}` : `there are no others at ${name}`} · ${this.told()}`;
    this.say("change:told");
  }

  /** The nodes and edges that were not drawn yet. */
  private part(near = ""): Part {
    this.layOut(near);
    const nodes = [...this.network.nodes.values()];
    const edges = [...this.network.edges.values()].slice(this.drawn[1]);
    const place = new Map(nodes.map((node, at) => [node.key, at]));
    const added = nodes.slice(this.drawn[0]);
    this.drawn = [nodes.length, this.drawn[1] + edges.length];
    const [left, top, side] = this.scale;
    const places = added.flatMap((node) => {
      const body = this.bodies.get(node.key)!;
      return [(body.x! - left) / side, (body.y! - top) / side];
    });
    const most = nodes.reduce((so, it) => Math.max(so, it.degree), 1);
    const crowd = Math.max(0.3, Math.min(1, 8 / Math.sqrt(nodes.length)));
    const sizes = added.map((it) => it.size ?? 3 + 9 * Math.sqrt(it.degree / most) * crowd);
    
    const colours = added.flatMap((it) => [1, 3, 5].map((at) => parseInt(this.colour(it.kind).slice(at, at + 2), 16)));
    return {
      places: new DataView(Float32Array.from(places).buffer),
      sizes: new DataView(Float32Array.from(sizes).buffer),
      colours: new DataView(Uint8Array.from(colours).buffer),
      edges: new DataView(Uint32Array.from(edges.flatMap((it) => [place.get(it.from)!, place.get(it.to)!])).buffer),
      labels: added.map((it) => it.label || it.key),
      ...(this.reads ? {} : { edgeLabels: namesOn(edges) }),
    };
  }

  /** Gives nodes that are new their places; those that were there stay where they are. */
  private layOut(near: string): void {
    const isFirst = this.bodies.size === 0;
    const start = this.bodies.get(near);
    this.bodies.forEach((body) => ([body.fx, body.fy] = [body.x, body.y]));
    let number = 0;
    for (const key of this.network.nodes.keys()) {
      if (!this.bodies.has(key)) {
        const angle = 2.4 * number++;
        const away = 20 + 4 * Math.sqrt(number);
        const body = start ? { key, x: start.x! + away * Math.cos(angle), y: start.y! + away * Math.sin(angle) } : { key };
        this.bodies.set(key, body);
      }
    }
    const bodies = [...this.bodies.values()];
    const links = [...this.network.edges.values()].map((it) => ({ source: it.from, target: it.to }));
    const link = forceLink<Body, { source: string; target: string }>(links).id((it) => it.key).distance(40);
    const simulation = forceSimulation(bodies)
      .force("link", link)
      .force("charge", forceManyBody().strength(-60).distanceMax(600))
      .force("apart", forceCollide(9))
      .force("x", forceX().strength(0.05 / WIDE))
      .force("y", forceY().strength(0.05 * WIDE))
      .stop();
    simulation.tick(Math.max(30, Math.min(300, Math.round(300_000 / (bodies.length + 1)))));
    if (isFirst) {
      const [left, right] = extent(bodies.map((it) => it.x!));
      const [top, bottom] = extent(bodies.map((it) => it.y!));
      // A few nodes are far apart, and would lie below the buttons at the border.
      const margin = 1 + 0.6 / Math.sqrt(bodies.length);
      const side = margin * Math.max((right - left) / this.wide, bottom - top, 1);
      this.scale = [(left + right - side) / 2, (top + bottom - side) / 2, side];
    }
  }
}
