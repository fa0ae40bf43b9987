// Which part of the plane is seen: places from 0 to 1 become pixels.

const MARGIN = 30;
const ZOOM: [number, number] = [0.2, 200];

export class Camera {
  width = 1;
  height = 1;
  /** The place in the middle of the picture. */
  x = 0.5;
  y = 0.5;
  zoom = 1;

  /** The pixels of a side of the square in which the graph lies. */
  get scale(): number {
    return Math.max(1, Math.min(this.width, this.height) - 2 * MARGIN) * this.zoom;
  }

  /** How large nodes are drawn: they grow slower than the plane. */
  get growth(): number {
    return Math.min(4, Math.max(0.35, Math.sqrt(this.zoom)));
  }

  toPixels(x: number, y: number): [number, number] {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 + (y - this.y) * this.scale];
  }

  toPlace(left: number, top: number): [number, number] {
    return [this.x + (left - this.width / 2) / this.scale, this.y + (top - this.height / 2) / this.scale];
  }

  pan(right: number, down: number): void {
    this.x -= right / this.scale;
    this.y -= down / this.scale;
  }

  /** Zooms, and what lies at a point of the picture stays there. */
  zoomAt(factor: number, left: number, top: number): void {
    const [x, y] = this.toPlace(left, top);
    this.zoom = Math.min(ZOOM[1], Math.max(ZOOM[0], this.zoom * factor));
    const [nowX, nowY] = this.toPlace(left, top);
    this.x += x - nowX;
    this.y += y - nowY;
  }

  lookAt(x: number, y: number, zoom: number): void {
    this.x = x;
    this.y = y;
    this.zoom = Math.min(ZOOM[1], Math.max(ZOOM[0], zoom));
  }
}
