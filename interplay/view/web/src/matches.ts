/** The recordings of the open run, requested two seconds after each answer. */

import { RecordingListed } from "./api";
import type { Page } from "./page";

const EVERY = 2_000; // ms

export class Matches {
  /** The oldest first; those without a tick yet are left out. */
  list: RecordingListed[] = [];
  /** Whether the list was loaded. */
  listed = false;
  /** Whether each new one is opened after the one before. */
  newest = false;
  private asked: number | null = null;

  constructor(
    private readonly page: Page,
    private readonly show: () => void,
  ) {
    const again = () => setTimeout(() => void this.look().then(again), EVERY);
    again();
  }

  /** Another run was opened, or none. */
  async of(run: number | null): Promise<void> {
    if (run !== this.asked) [this.list, this.listed] = [[], false];
    this.asked = run;
    await this.look();
  }

  choose(id: number): void {
    this.newest = false;
    void this.page.openMatch(id);
  }

  follow(on: boolean): void {
    this.newest = on;
    this.show();
    const last = this.list.at(-1);
    if (on && last && last.id !== this.page.match) void this.page.openMatch(last.id);
  }

  private async look(): Promise<void> {
    const { player } = this.page;
    const { source } = player;
    const run = this.asked;
    if (document.hidden) return;
    try {
      if (this.page.waits) await this.page.lookForSources();
      if (run !== null) {
        const { matches } = await this.page.api.matches(run);
        if (run !== this.asked) return;
        this.list = matches.filter((one) => one.ticks > 0);
        this.listed = true;
        this.page.rateAgain();
        this.show();
      }
      if ((await source?.grow?.()) && source === player.source) player.grew();
      const last = this.list.at(-1);
      const seen = !player.source || (!player.live && player.clock.atEnd);
      if (this.newest && last && last.id !== this.page.match && seen) await this.page.openMatch(last.id);
    } catch {
      // The server is away, which others tell, or the recording was removed.
    }
  }
}
