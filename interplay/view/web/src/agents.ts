/** The layer of agents. */

import { Glide } from "./glide";
import { Layer, Scene, flag, number } from "./scene";

export const AGENTS = "agents";
const KINDS = ["circles", "boxes", "polygons"];

/** The place of the layer of agents among those of a scene; -1 where there is none. */
export function agentsAt(scene: Scene): number {
  return scene.layers.findIndex(({ schema }) => schema.name === AGENTS && KINDS.includes(schema.kind));
}

/** The middle of a row. */
export function middle(glide: Glide, row: number): [number, number] {
  const { layer } = glide;
  if (layer.schema.kind !== "polygons") return [glide.at("x", row), glide.at("y", row)];
  const corners = layer.columns.get("x")!.length / layer.rows;
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = row * corners; i < (row + 1) * corners; i++) {
    const [x, y] = [glide.at("x", row, i), glide.at("y", row, i)];
    [left, right, low, high] = [Math.min(left, x), Math.max(right, x), Math.min(low, y), Math.max(high, y)];
  }
  return [(left + right) / 2, (low + high) / 2];
}

/** How far a row reaches from its middle, in the world's units. */
export function reach(layer: Layer, row: number): number {
  if (layer.schema.kind === "circles") return number(layer, "radius", row);
  if (layer.schema.kind === "boxes") return Math.max(number(layer, "half_x", row), number(layer, "half_y", row));
  const [x, y] = middle(new Glide(layer, null, 0), row);
  const corners = layer.columns.get("x")!.length / layer.rows;
  let most = 0;
  for (let i = row * corners; i < (row + 1) * corners; i++) most = Math.max(most, Math.hypot(layer.columns.get("x")![i]! - x, layer.columns.get("y")![i]! - y));
  return most;
}

/** Where a place is on the picture: `Camera.project`, or that of the solid view. */
export interface Eye {
  project(x: number, y: number, size: number): [number, number, number];
}

/** The rows that are on a picture of so many pixels. */
export function inView(layer: Layer, eye: Eye, width: number, height: number): number[] {
  const glide = new Glide(layer, null, 0);
  return [...glide.rows()].filter((row) => {
    const [x, y] = eye.project(...middle(glide, row), reach(layer, row));
    return x >= 0 && y >= 0 && x <= width && y <= height;
  });
}

/** Whether a row is drawn at all. */
export function isThere(layer: Layer, row: number): boolean {
  return row < layer.rows && !flag(layer, "absent", row);
}
