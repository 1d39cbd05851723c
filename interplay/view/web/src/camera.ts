/** From the world's units to pixels of the page and back. */

import { Schema } from "./schema";

const MARGIN = 0.015; // of the shorter side, around the world
const NEAREST = 200; // times the scale at which the whole world fits
const FARTHEST = 0.5;

export class Camera {
  width = 1;
  height = 1;
  scale = 1; // pixels per unit
  x = 0; // the world's place in the middle of the canvas
  y = 0;
  flip = 1; // -1 where y grows up
  fitted = true; // the whole world is in view and stays so when the canvas changes its size
  private bounds: [number, number, number, number] = [0, 0, 1, 1];

  look(schema: Schema): void {
    this.bounds = schema.bounds ?? [0, 0, 1, 1];
    this.flip = schema.up === "north" ? -1 : 1;
    this.fit();
  }

  resize(width: number, height: number): void {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    if (this.fitted) this.fit();
  }

  fit(): void {
    const [x0, y0, x1, y1] = this.bounds;
    this.scale = this.fittingScale();
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    this.fitted = true;
  }

  private fittingScale(): number {
    const [x0, y0, x1, y1] = this.bounds;
    const margin = 2 * MARGIN * Math.min(this.width, this.height);
    return Math.max(Math.min((this.width - margin) / (x1 - x0), (this.height - margin) / (y1 - y0)), 1e-9);
  }

  /** Makes everything `factor` times as large; what is at pixel (px, py) stays there. */
  zoom(factor: number, px = this.width / 2, py = this.height / 2): void {
    const before = [this.worldX(px), this.worldY(py)] as const;
    const fitting = this.fittingScale();
    this.scale = Math.max(FARTHEST * fitting, Math.min(NEAREST * fitting, this.scale * factor));
    this.x += before[0] - this.worldX(px);
    this.y += before[1] - this.worldY(py);
    this.fitted = false;
  }

  /** Moves the picture by so many pixels. */
  drag(dx: number, dy: number): void {
    this.x -= dx / this.scale;
    this.y -= (dy * this.flip) / this.scale;
    this.fitted = false;
  }

  centre(x: number, y: number): void {
    this.x = x;
    this.y = y;
    this.fitted = false;
  }

  screenX(x: number): number {
    return (x - this.x) * this.scale + this.width / 2;
  }

  screenY(y: number): number {
    return (y - this.y) * this.scale * this.flip + this.height / 2;
  }

  /** The pixel of a place, and pixels of a length. */
  project(x: number, y: number): [number, number, number] {
    return [this.screenX(x), this.screenY(y), this.scale];
  }

  /** The place at a pixel. */
  worldAt(px: number, py: number): [number, number] {
    return [this.worldX(px), this.worldY(py)];
  }

  worldX(px: number): number {
    return (px - this.width / 2) / this.scale + this.x;
  }

  worldY(py: number): number {
    return ((py - this.height / 2) / this.scale) * this.flip + this.y;
  }

  /** The world's bounds in pixels: left, top, width, height. */
  frame(): [number, number, number, number] {
    const [x0, y0, x1, y1] = this.bounds;
    const [a, b] = [this.screenY(y0), this.screenY(y1)];
    return [this.screenX(x0), Math.min(a, b), (x1 - x0) * this.scale, (y1 - y0) * this.scale];
  }
}
