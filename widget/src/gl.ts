// Draws by WebGL 2: one call for all edges, one for their heads, one for all nodes. Moving the camera uploads nothing.
//
// Each edge and each node has four vertices with the same attributes, and no instance of its own: drawing in software
// treats each instance as a call, which took ten times as long.

import type { Camera } from "./camera";
import type { Graph } from "./graph";
import { CHOSEN, DARK, EDGE, RING, RISE, opacity, type Marks, type Painter } from "./painter";

const HEAD = `#version 300 es
precision highp float;
uniform vec2 middle; uniform vec2 half_; uniform float scale; uniform float growth; uniform float density;
vec2 pixels(vec2 place) { return (place - middle) * scale; }
vec4 clip(vec2 pixel) { return vec4(pixel.x / half_.x, -pixel.y / half_.y, 0.0, 1.0); }
`;

// Four corners a line; or a triangle at its end. An edge from a node to itself is a ring that the node covers in part.
const EDGE_VERTEX = `${HEAD}
in vec4 ends; in vec2 radii; in vec4 colour;
uniform float heads;
out vec4 shade; out vec3 ring;
void main() {
  vec2 from = pixels(ends.xy), to = pixels(ends.zw);
  float far = length(to - from);
  vec2 along = far > 0.0 ? (to - from) / far : vec2(1.0, 0.0), across = vec2(-along.y, along.x);
  vec2 start = from + along * min(far, radii.x * growth), end = to - along * min(far, radii.y * growth);
  int corner = gl_VertexID % 4;
  vec2 place;
  if (heads > 0.5) {
    bool room = dot(end - start, along) > 8.0;
    vec2 back = end - along * 7.0;
    place = corner == 0 || !room ? end : back + across * (corner == 1 ? 3.0 : -3.0);
  } else {
    place = (corner < 2 ? start : end) + across * (corner % 2 == 0 ? 0.5 : -0.5) * max(1.0, 1.2 / density);
  }
  ring = vec3(0.0);
  if (far == 0.0) {
    vec2 side = vec2(corner < 2 ? -1.0 : 1.0, corner % 2 == 0 ? 1.0 : -1.0);
    ring = vec3(side * (${RING}.0 + 1.5), ${RING}.0);
    place = heads > 0.5 ? from : from - vec2(0.0, radii.x * growth + ${RISE}.0) + ring.xy;
  }
  shade = colour;
  gl_Position = clip(place);
}`;

const EDGE_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 shade; in vec3 ring; out vec4 seen;
uniform highp float density;
void main() {
  float away = abs(length(ring.xy) - ring.z), soft = 0.7 / density;
  float alpha = shade.a * (ring.z > 0.0 ? 1.0 - smoothstep(0.6 - soft, 0.6 + soft, away) : 1.0);
  seen = vec4(shade.rgb * alpha, alpha);
}`;

// A square of four corners a node, of which a disc with a rim is seen.
const NODE_VERTEX = `${HEAD}
in vec2 place; in float size; in vec4 colour;
out vec2 corner; out vec3 shade; out float radius; out float marked;
void main() {
  corner = vec2(float(gl_VertexID % 2) * 2.0 - 1.0, float(gl_VertexID % 4 / 2) * 2.0 - 1.0);
  marked = colour.a;
  radius = size * growth + (marked > 0.5 ? 3.0 : 1.2);
  corner *= radius + 1.0;
  shade = colour.rgb;
  gl_Position = clip(pixels(place) + corner);
}`;

const NODE_FRAGMENT = `#version 300 es
precision mediump float;
in vec2 corner; in vec3 shade; in float radius; in float marked; out vec4 seen;
uniform vec3 chosen; uniform float density;
void main() {
  float far = length(corner), soft = 0.7 / density;
  float inside = 1.0 - smoothstep(radius - soft, radius + soft, far);
  float rim = smoothstep(radius - (marked > 0.5 ? 3.0 : 1.2) - soft, radius - (marked > 0.5 ? 3.0 : 1.2) + soft, far);
  vec3 mixed = mix(shade, marked > 0.5 ? chosen : vec3(1.0), rim);
  seen = vec4(mixed * inside, inside);
}`;

type Gpu = WebGL2RenderingContext;

/** Attributes, and the triangles that are made of them. */
interface Shape {
  array: WebGLVertexArrayObject;
  index: WebGLBuffer;
}

function program(gl: Gpu, vertex: string, fragment: string): WebGLProgram {
  const made = gl.createProgram()!;
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`the graphics card can't draw: ${gl.getProgramInfoLog(made)}`);
  }
  return made;
}

/** Returns the values of each edge or node four times. */
function fourTimes<T extends Float32Array | Uint8Array>(values: T, count: number): T {
  const all = new (values.constructor as new (length: number) => T)(4 * values.length);
  for (let at = 0, to = 0; at < values.length; at += count) {
    for (let copy = 0; copy < 4; copy += 1) {
      for (let inner = 0; inner < count; inner += 1, to += 1) {
        all[to] = values[at + inner];
      }
    }
  }
  return all;
}

/** Returns the numbers of the vertices of triangles, `pattern` for each four vertices. */
function triangles(pattern: number[], count: number): Uint32Array {
  return Uint32Array.from({ length: pattern.length * count }, (_, at) =>
    4 * Math.floor(at / pattern.length) + pattern[at % pattern.length]);
}

/** Of more edges than these, none has a head: nobody could see it. */
const HEADS = 5_000;

const SQUARE = [0, 1, 2, 2, 1, 3];
const TRIANGLE = [0, 1, 2];

/** A buffer with an attribute of each edge or node. */
class Attribute {
  private readonly buffer: WebGLBuffer;

  constructor(
    private readonly gl: Gpu,
    private readonly name: string,
    private readonly count: number,
    private readonly kind: number,
  ) {
    this.buffer = gl.createBuffer()!;
  }

  fill(values: Float32Array | Uint8Array): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, fourTimes(values, this.count), this.gl.STATIC_DRAW);
  }

  use(program: WebGLProgram): void {
    const { gl } = this;
    const place = gl.getAttribLocation(program, this.name);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, this.count, this.kind, this.kind === gl.UNSIGNED_BYTE, 0, 0);
  }
}

export class Gl implements Painter {
  readonly name = "WebGL 2";
  private readonly edges: WebGLProgram;
  private readonly nodes: WebGLProgram;
  private readonly attributes: Record<"ends" | "radii" | "shade" | "place" | "size" | "colour", Attribute>;
  private readonly edgeArray: Shape;
  private readonly headArray: Shape;
  private readonly nodeArray: Shape;
  private uploaded = "";
  private marked = "";
  private order = new Uint32Array();
  private edgeOrder = new Uint32Array(0);

  /** Returns nothing where the browser has no WebGL 2. */
  static make(lost: () => void): Gl | undefined {
    const canvas = document.createElement("canvas");
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (!gl) {
      return undefined;
    }
    canvas.addEventListener("webglcontextlost", lost);
    try {
      return new Gl(canvas, gl, lost);
    } catch (fault) {
      console.warn(fault);
      return undefined;
    }
  }

  private constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly gl: Gpu,
    private readonly lost: () => void,
  ) {
    this.edges = program(gl, EDGE_VERTEX, EDGE_FRAGMENT);
    this.nodes = program(gl, NODE_VERTEX, NODE_FRAGMENT);
    const { FLOAT, UNSIGNED_BYTE } = gl;
    this.attributes = {
      ends: new Attribute(gl, "ends", 4, FLOAT),
      radii: new Attribute(gl, "radii", 2, FLOAT),
      shade: new Attribute(gl, "colour", 4, UNSIGNED_BYTE),
      place: new Attribute(gl, "place", 2, FLOAT),
      size: new Attribute(gl, "size", 1, FLOAT),
      colour: new Attribute(gl, "colour", 4, UNSIGNED_BYTE),
    };
    this.edgeArray = this.shape(this.edges, ["ends", "radii", "shade"]);
    this.headArray = this.shape(this.edges, ["ends", "radii", "shade"]);
    this.nodeArray = this.shape(this.nodes, ["place", "size", "colour"]);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  draw(graph: Graph, camera: Camera, marks: Marks, density: number, edgesMax: number): void {
    const { gl, canvas } = this;
    this.upload(graph, marks);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const edges = Math.min(edgesMax, graph.edgeCount);
    const heads = gl.getUniformLocation(this.edges, "heads");
    if (edges) {
      this.start(this.edges, this.edgeArray, camera, density);
      gl.uniform1f(heads, 0);
      this.triangles(SQUARE.length * edges);
    }
    if (edges && graph.edgeCount <= HEADS) {
      this.start(this.edges, this.headArray, camera, density);
      gl.uniform1f(heads, 1);
      this.triangles(TRIANGLE.length * edges);
    }
    if (graph.nodeCount) {
      this.start(this.nodes, this.nodeArray, camera, density);
      gl.uniform3f(gl.getUniformLocation(this.nodes, "chosen"), CHOSEN[0] / 255, CHOSEN[1] / 255, CHOSEN[2] / 255);
      this.triangles(SQUARE.length * graph.nodeCount);
    }
    gl.bindVertexArray(null);
  }

  free(): void {
    this.canvas.removeEventListener("webglcontextlost", this.lost);
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  private triangles(count: number): void {
    this.gl.drawElements(this.gl.TRIANGLES, count, this.gl.UNSIGNED_INT, 0);
  }

  private shape(program: WebGLProgram, names: (keyof Gl["attributes"])[]): Shape {
    const { gl } = this;
    const made = { array: gl.createVertexArray()!, index: gl.createBuffer()! };
    gl.bindVertexArray(made.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, made.index);
    for (const name of names) {
      this.attributes[name].use(program);
    }
    gl.bindVertexArray(null);
    return made;
  }

  private fillIndex(shape: Shape, numbers: Uint32Array): void {
    const { gl } = this;
    gl.bindVertexArray(shape.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, shape.index);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
  }

  private start(program: WebGLProgram, shape: Shape, camera: Camera, density: number): void {
    const { gl } = this;
    const at = (name: string) => gl.getUniformLocation(program, name);
    gl.useProgram(program);
    gl.bindVertexArray(shape.array);
    gl.uniform2f(at("middle"), camera.x, camera.y);
    gl.uniform2f(at("half_"), camera.width / 2, camera.height / 2);
    gl.uniform1f(at("scale"), camera.scale);
    gl.uniform1f(at("growth"), camera.growth);
    gl.uniform1f(at("density"), density);
  }

  private upload(graph: Graph, marks: Marks): void {
    const { attributes } = this;
    if (this.uploaded !== `${graph.version}`) {
      this.edgeOrder = shuffled(graph.edgeCount);
      const ends = new Float32Array(4 * graph.edgeCount);
      const radii = new Float32Array(2 * graph.edgeCount);
      for (let at = 0; at < radii.length; at += 1) {
        const node = graph.edges[2 * this.edgeOrder[at >> 1] + (at & 1)];
        ends[2 * at] = graph.places[2 * node];
        ends[2 * at + 1] = graph.places[2 * node + 1];
        radii[at] = graph.sizes[node];
      }
      this.fillIndex(this.edgeArray, triangles(SQUARE, graph.edgeCount));
      this.fillIndex(this.headArray, triangles(TRIANGLE, Math.min(HEADS, graph.edgeCount)));
      this.fillIndex(this.nodeArray, triangles(SQUARE, graph.nodeCount));
      attributes.ends.fill(ends);
      attributes.radii.fill(radii);
      // Small nodes lie above large ones.
      this.order = Uint32Array.from(graph.bySize);
      const places = new Float32Array(2 * graph.nodeCount);
      this.order.forEach((node, at) => {
        places[2 * at] = graph.places[2 * node];
        places[2 * at + 1] = graph.places[2 * node + 1];
      });
      attributes.place.fill(places);
      attributes.size.fill(Float32Array.from(this.order, (node) => graph.sizes[node]));
    }
    const marked = `${graph.version} ${marks.version}`;
    if (this.marked !== marked) {
      attributes.colour.fill(this.nodeColours(graph, marks));
      attributes.shade.fill(this.edgeColours(graph, marks));
    }
    this.uploaded = `${graph.version}`;
    this.marked = marked;
  }

  private nodeColours(graph: Graph, marks: Marks): Uint8Array {
    const colours = new Uint8Array(4 * graph.nodeCount);
    this.order.forEach((node, at) => {
      colours.set(graph.colours.subarray(3 * node, 3 * node + 3), 4 * at);
      colours[4 * at + 3] = marks.chosen.has(node) ? 255 : 0;
    });
    return colours;
  }

  private edgeColours(graph: Graph, marks: Marks): Uint8Array {
    const colours = new Uint8Array(4 * graph.edgeCount);
    const alpha = Math.round(255 * opacity(graph.edgeCount));
    const dark = new Set(marks.hovered >= 0 ? graph.edgesOf(marks.hovered) : []);
    this.edgeOrder.forEach((edge, at) => {
      const isDark = dark.has(edge);
      colours.set(isDark ? DARK : EDGE, 4 * at);
      colours[4 * at + 3] = isDark ? 255 : alpha;
    });
    return colours;
  }
}

/** Returns the numbers from 0 on in an order in which any first part of them is a fair sample. */
function shuffled(count: number): Uint32Array<ArrayBuffer> {
  const numbers = Uint32Array.from({ length: count }, (_, at) => at);
  let dice = 1;
  for (let at = count - 1; at > 0; at -= 1) {
    dice = (Math.imul(dice, 1664525) + 1013904223) >>> 0;
    const other = dice % (at + 1);
    [numbers[at], numbers[other]] = [numbers[other], numbers[at]];
  }
  return numbers;
}
