/** Where things are between two ticks. */

import { Layer, Numbers, number } from "./scene";

/** Two frames of a layer and how much of the way from one to the other is gone. */
export class Glide {
  private readonly still: (row: number) => boolean;
  private readonly share: number;
  private readonly to: Layer | null;

  constructor(
    readonly layer: Layer,
    next: Layer | null,
    share: number,
  ) {
    const moves = next !== null && share > 0 && next !== layer && next.rows === layer.rows;
    this.to = moves ? next : null;
    this.share = moves ? share : 0;
    const [gone, here, jump] = [next?.columns.get("absent"), layer.columns.get("absent"), next?.columns.get("jump")];
    this.still = (row) => !!(gone?.[row] || here?.[row] || jump?.[row]);
  }

  /** A place of a row, or of its i-th corner. */
  at(key: string, row: number, i = row): number {
    const from = this.layer.columns.get(key)![i]!;
    if (!this.to || this.still(row)) return from;
    return from + (this.to.columns.get(key)![i]! - from) * this.share;
  }

  /** An angle; it turns the shorter way. */
  angle(key: string, row: number): number {
    const from = number(this.layer, key, row);
    if (!this.to || this.still(row)) return from;
    const turn = number(this.to, key, row) - from;
    return from + (turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI))) * this.share;
  }

  /** Rows that are drawn. */
  *rows(): Iterable<number> {
    const absent: Numbers | undefined = this.layer.columns.get("absent");
    for (let row = 0; row < this.layer.rows; row++) if (!absent?.[row]) yield row;
  }
}
