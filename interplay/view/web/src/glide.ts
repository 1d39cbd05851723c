/** Interpolates places between two ticks. */

import { Layer, Numbers, number } from "./scene";

/** Share of the distance to a frame that came at time `came`, at least 0. */
export function shareAt(now: number, came: number, span: number): number {
  return Math.max((now - came) / span, 0);
}

const drawn = new WeakMap<Layer, readonly number[]>(); // layers do not change

/** Rows of a layer that are drawn. */
function rowsOf(layer: Layer): readonly number[] {
  let found = drawn.get(layer) as number[] | undefined;
  if (found) return found;
  const absent = layer.columns.get("absent");
  found = [];
  for (let row = 0; row < layer.rows; row++) if (!absent?.[row]) found.push(row);
  drawn.set(layer, found);
  return found;
}

/** Two frames of a layer and the share of the distance between them. */
export class Glide {
  private readonly share: number;
  private readonly to: Layer | null;
  private readonly columns = new Map<string, Numbers>();
  private readonly stay: readonly Numbers[]; // flags of rows that do not glide

  constructor(
    readonly layer: Layer,
    next: Layer | null,
    share: number,
  ) {
    const moves = next !== null && share > 0 && next !== layer && next.rows === layer.rows;
    this.to = moves ? next : null;
    this.share = moves ? share : 0;
    const flags = moves ? [next.columns.get("absent"), next.columns.get("jump"), layer.columns.get("absent")] : [];
    this.stay = flags.filter((flag) => flag !== undefined);
  }

  /** Whether anything is interpolated. */
  get moves(): boolean {
    return this.to !== null;
  }

  /** A place of a row, or of its i-th corner. */
  at(key: string, row: number, i = row): number {
    return this.places(key)[i]!;
  }

  /** All places at once, for loops over rows. */
  places(key: string): Numbers {
    return this.columns.get(key) ?? this.column(key);
  }

  /** An angle; it turns in the shorter direction. */
  angle(key: string, row: number): number {
    const from = number(this.layer, key, row);
    if (!this.to || this.still(row)) return from;
    const turn = number(this.to, key, row) - from;
    return from + (turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI))) * this.share;
  }

  /** Rows that are drawn. */
  rows(): readonly number[] {
    return rowsOf(this.layer);
  }

  /** Rows that go, come or jump do not glide. */
  private still(row: number): boolean {
    for (const flags of this.stay) if (flags[row]) return true;
    return false;
  }

  private column(key: string): Numbers {
    const from = this.layer.columns.get(key)!;
    let found = from;
    if (this.to) {
      const to = this.to.columns.get(key)!;
      const values = from.length / this.layer.rows;
      for (const row of this.rows()) {
        if (this.still(row)) continue;
        if (found === from) found = new Float32Array(from);
        for (let i = row * values; i < (row + 1) * values; i++) found[i] = from[i]! + (to[i]! - from[i]!) * this.share;
      }
    }
    this.columns.set(key, found);
    return found;
  }
}
