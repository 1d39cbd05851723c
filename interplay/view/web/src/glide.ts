/** Where things are between two ticks. */

import { Layer, Numbers, number } from "./scene";

/** How much of the way to a frame that came at a time is gone; a picture whose time is earlier shows none of it. */
export function shareAt(now: number, came: number, span: number): number {
  return Math.max((now - came) / span, 0);
}

/** Two frames of a layer and how much of the way from one to the other is gone. */
export class Glide {
  private readonly share: number;
  private readonly to: Layer | null;
  private readonly columns = new Map<string, Numbers>();
  private drawn: number[] | null = null;
  private kept: Uint8Array | null = null;

  constructor(
    readonly layer: Layer,
    next: Layer | null,
    share: number,
  ) {
    const moves = next !== null && share > 0 && next !== layer && next.rows === layer.rows;
    this.to = moves ? next : null;
    this.share = moves ? share : 0;
  }

  /** Whether anything may be elsewhere than the layer says. */
  get moves(): boolean {
    return this.to !== null;
  }

  /** A place of a row, or of its i-th corner. */
  at(key: string, row: number, i = row): number {
    return this.places(key)[i]!;
  }

  /** All places at once, for those who go through many rows. */
  places(key: string): Numbers {
    return this.columns.get(key) ?? this.column(key);
  }

  /** An angle; it turns the shorter way. */
  angle(key: string, row: number): number {
    const from = number(this.layer, key, row);
    if (!this.to || this.still(row)) return from;
    const turn = number(this.to, key, row) - from;
    return from + (turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI))) * this.share;
  }

  /** Rows that are drawn. */
  rows(): number[] {
    if (this.drawn) return this.drawn;
    const absent = this.layer.columns.get("absent");
    this.drawn = [];
    for (let row = 0; row < this.layer.rows; row++) if (!absent?.[row]) this.drawn.push(row);
    return this.drawn;
  }

  /** Rows that go, come or jump do not glide. */
  private still(row: number): boolean {
    this.kept ??= this.findKept();
    return this.kept[row] !== 0;
  }

  private findKept(): Uint8Array {
    const found = new Uint8Array(this.layer.rows);
    const next = this.to!.columns;
    for (const flags of [next.get("absent"), next.get("jump"), this.layer.columns.get("absent")]) {
      if (flags) for (let row = 0; row < found.length; row++) found[row]! |= flags[row]!;
    }
    return found;
  }

  private column(key: string): Numbers {
    const from = this.layer.columns.get(key)!;
    let found: Numbers = from;
    if (this.to) {
      const to = this.to.columns.get(key)!;
      const values = from.length / this.layer.rows;
      found = Float32Array.from(from);
      for (let row = 0; row < this.layer.rows; row++) {
        if (this.still(row)) continue;
        for (let i = row * values; i < (row + 1) * values; i++) found[i] = from[i]! + (to[i]! - from[i]!) * this.share;
      }
    }
    this.columns.set(key, found);
    return found;
  }
}
