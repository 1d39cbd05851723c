/** Time of a recording: tick, speed, and whether it plays. Pure arithmetic. */

export const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]; // ticks a second

export class Clock {
  playing = false;
  speed = 10;
  private place = 0; // tick with fraction

  constructor(
    public first = 0,
    public last = 0,
  ) {
    this.place = first;
  }

  /** The tick that is shown. */
  get tick(): number {
    return Math.floor(this.place);
  }

  /** Fraction of the tick, from 0 to below 1. */
  get share(): number {
    return this.place - this.tick;
  }

  get atEnd(): boolean {
    return this.tick >= this.last;
  }

  /** The source has other ticks now. */
  range(first: number, last: number): void {
    this.first = first;
    this.last = last;
    this.place = clamp(this.place, first, last);
  }

  /** Advances, up to the loaded tick `most`; stops at the end. */
  advance(milliseconds: number, most = this.last): void {
    if (!this.playing) return;
    const end = Math.min(most, this.last);
    this.place = Math.max(this.place, Math.min(this.place + (milliseconds * this.speed) / 1000, end));
    if (this.tick >= this.last) this.playing = false;
  }

  /** Plays or pauses; at the end it begins anew. */
  toggle(): void {
    if (!this.playing && this.atEnd) this.place = this.first;
    this.playing = !this.playing && this.last > this.first;
  }

  seek(tick: number): void {
    this.place = clamp(Math.round(tick), this.first, this.last);
  }

  /** Moves by whole ticks and pauses. */
  step(ticks: number): void {
    this.playing = false;
    this.seek(this.tick + ticks);
  }

  /** The next speed up or down. */
  faster(by: 1 | -1): void {
    const speeds = by > 0 ? SPEEDS : [...SPEEDS].reverse();
    this.speed = speeds.find((speed) => (by > 0 ? speed > this.speed : speed < this.speed)) ?? this.speed;
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
