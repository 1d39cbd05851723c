/** What a person does in the slot that this page holds: by the world's keys, or by a form of its choices. */

import { Agent, HeadTold, restOf } from "./api";
import { HeldKeys } from "./keys";
import { Live } from "./live";

export class Hands {
  /** What was chosen in the form, by head. */
  action: Record<string, number | number[]> = {};
  repeat = true;
  private pending = false; // the action counts at every tick
  private readonly keys = new HeldKeys();

  /** @param show draws the panels anew; @param details what is known of the selected agent. */
  constructor(
    private readonly show: () => void,
    private readonly details: () => Agent | null,
  ) {}

  /** Nothing is held, nothing is chosen. */
  drop(): void {
    this.action = {};
    this.repeat = true;
    this.pending = false;
    this.keys.clear();
  }

  /** Keys that went up; all of them where the window does not know. */
  release(key: string | null): void {
    if (key === null) this.keys.clear();
    else this.keys.release(key);
  }

  choose(head: string, value: number | number[]): void {
    this.action = { ...this.action, [head]: value };
    this.show();
  }

  setRepeat(on: boolean): void {
    this.repeat = on;
    if (!on) {
      this.action = {};
      this.pending = false;
    }
    this.show();
  }

  /** What was chosen counts from now on, or for one tick. */
  act(live: Live, slot: number): void {
    this.sendForm(live, slot);
    this.pending = this.repeat && !live.turnBased;
    if (!this.pending) this.action = {};
    this.show();
  }

  /** A tick came: what is held down, or chosen, is said once. */
  tick(live: Live): void {
    const { held } = live;
    if (held === null) return;
    this.sendKeys(live, held);
    if (this.pending) this.sendForm(live, held);
  }

  /** A key of the world: one of its controls, or a digit of the form. False: it is none. */
  press(event: KeyboardEvent, live: Live, slot: number): boolean {
    if (live.controls) {
      const known = event.key in live.controls.keys || event.key.toLowerCase() in live.controls.keys;
      if (known && !event.repeat) {
        this.keys.press(event.key);
        // A short press between two ticks would be lost, and a world that waits makes no tick.
        this.sendKeys(live, slot);
      }
      return known;
    }
    const head = this.headsOf(live, slot).find((one) => one.kind === "discrete");
    const choice = /^\d$/.test(event.key) ? Number(event.key) : -1;
    if (head?.kind !== "discrete" || choice < 0 || choice >= head.n || head.legal?.[choice] === false) return false;
    this.choose(head.name, choice);
    this.act(live, slot);
    return true;
  }

  /** What a slot may do now, as far as it is known. */
  headsOf(live: Live, slot: number): HeadTold[] {
    const details = this.details();
    return details?.slot === slot && details.heads.length ? details.heads : live.heads;
  }

  private sendKeys(live: Live, slot: number): void {
    if (!live.controls) return;
    const action = this.keys.action(live.controls.keys, live.heads.map((head) => head.name));
    if (Object.keys(action).length) live.say({ type: "act", slot, tick: live.status.tick, action });
  }

  /** Heads that nobody has chosen for do the first legal thing. */
  private sendForm(live: Live, slot: number): void {
    const heads = this.headsOf(live, slot);
    const action = Object.fromEntries(heads.map((head) => [head.name, this.action[head.name] ?? firstOf(head)]));
    live.say({ type: "act", slot, tick: live.status.tick, action });
  }
}

/** The first legal choice, or what lies nearest to nothing. */
function firstOf(head: HeadTold): number | number[] {
  if (head.kind === "box") return restOf(head);
  return Math.max(head.legal?.indexOf(true) ?? 0, 0);
}
