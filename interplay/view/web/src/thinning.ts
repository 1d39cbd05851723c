/** The share of a world's ticks that comes to this page, if it is too slow for all of them. */

const SPAN = 750; // ms; two spans in a row have to agree, so that a hiccup is not reported
const FEW = 0.9; // share of the ticks above which nothing is reported

export class Thinning {
  /** Frames that came for each tick of the world, below 1; null while all of them come, or nearly all. */
  share: number | null = null;
  private frames = 0;
  private ticks = 0;
  private began = 0;
  private before: number | null = null; // the share of the last span
  private last: number | null = null;

  /** A frame came while time went on. */
  note(tick: number, now: number): void {
    const passed = this.last === null ? 0 : tick - this.last;
    if (passed <= 0) this.forget();
    this.last = tick;
    if (passed <= 0) return void (this.began = now);
    this.frames++;
    this.ticks += passed;
    if (now - this.began >= SPAN) this.close(now);
  }

  /** Starts anew after time stood still, the user looked back, or the scene changed. */
  forget(): void {
    [this.share, this.before, this.last, this.frames, this.ticks] = [null, null, null, 0, 0];
  }

  private close(now: number): void {
    const share = this.frames / this.ticks;
    this.share = this.before !== null && Math.max(share, this.before) < FEW ? (share + this.before) / 2 : null;
    [this.before, this.began, this.frames, this.ticks] = [share, now, 0, 0];
  }
}
