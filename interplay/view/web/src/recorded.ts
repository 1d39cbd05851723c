/** Overlays of a recording, which the server counts up to the tick in view. */

import { Api, ApiError, Served } from "./api";
import { Lays, Overlay, OverlayListed, Wanted, readOverlay } from "./overlay";

const APART = 500; // ms between two questions

export class Recorded implements Lays {
  overlays: OverlayListed[] = [];
  populations: string[] = [];
  wanted: Wanted | null = null;
  overlay: Overlay | null = null;
  refusal: string | null = null;
  listed = false;
  laid = () => {};
  private listing: Promise<void> | null = null;
  private asking = false;
  private answered = "";
  private tick = 0;
  private selected: number | null = null;

  constructor(
    private readonly api: Api,
    private readonly served: Served,
  ) {}

  /** Learns which overlays there are, once. */
  list(): Promise<void> {
    return (this.listing ??= this.learn());
  }

  private async learn(): Promise<void> {
    try {
      const { overlays, populations } = await this.api.overlays(this.served);
      [this.overlays, this.populations] = [overlays, populations];
    } catch (problem) {
      this.refuse(problem);
    }
    this.listed = true;
    this.laid();
  }

  lay(wanted: Wanted | null): void {
    if (wanted?.name !== this.wanted?.name) this.overlay = null;
    [this.wanted, this.refusal] = [wanted, null];
    this.laid();
    void this.ask();
  }

  look(tick: number, selected: number | null): void {
    [this.tick, this.selected] = [tick, selected];
    void this.ask();
  }

  /** Ends what is counted; the source is closed. */
  close(): void {
    this.wanted = null;
  }

  private async ask(): Promise<void> {
    if (!this.wanted || this.asking) return;
    this.asking = true;
    await this.list();
    const { wanted, tick } = this;
    const byAgent = this.overlays.find(({ name }) => name === wanted?.name)?.by_agent;
    const request = JSON.stringify({ type: "overlay", ...wanted, agent: byAgent ? this.selected : null });
    const question = `${tick} ${request}`;
    if (!wanted || question === this.answered) {
      this.asking = false;
      return;
    }
    try {
      const { frame, ...info } = await this.api.overlay(this.served, tick, request);
      const overlay = readOverlay(Uint8Array.from(atob(frame), (letter) => letter.charCodeAt(0)), info);
      if (wanted === this.wanted) this.overlay = overlay;
      this.answered = overlay.tick < tick ? "" : question; // it goes on where it takes long
    } catch (problem) {
      if (!(problem instanceof ApiError && problem.status === BUSY)) this.refuse(problem);
    }
    this.laid();
    setTimeout(() => ((this.asking = false), void this.ask()), APART);
  }

  private refuse(problem: unknown): void {
    [this.refusal, this.wanted, this.overlay] = [problem instanceof Error ? problem.message : String(problem), null, null];
  }
}

const BUSY = 503;
