/** Actions in the slot that this page plays: by the world's keys, and by a form for the other choices. */

import { Agent, HeadInfo } from "./api";
import { HeldKeys, choicesOf } from "./keys";
import type { Live } from "./live";

/** Keys that choose in a form, choice by choice. */
export const CHOICE_KEYS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

export class Hands {
  /** What was chosen in the form, by head. */
  action: Record<string, number | number[]> = {};
  repeat = true;
  /** The head of the form in which keys choose. */
  place = 0;
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
    this.place = 0;
    this.pending = false;
    this.keys.clear();
  }

  /** Keys that went up; all of them where the window does not know. */
  release(key: string | null): void {
    if (key === null) this.keys.clear();
    else this.keys.release(key);
  }

  choose(head: string, value: number | number[], heads: HeadInfo[] = []): void {
    this.action = { ...this.action, [head]: value };
    const discrete = heads.filter((one) => one.kind === "discrete");
    if (discrete.length) this.place = (discrete.findIndex((one) => one.name === head) + 1) % discrete.length;
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
    this.say(live, slot, true);
    this.pending = this.repeat;
    if (!this.goesOn(live)) this.action = {};
    this.place = 0;
    this.show();
  }

  /** Lets a tick pass with the default action. */
  pass(live: Live, slot: number): void {
    live.say({ type: "act", slot, tick: live.status.tick, action: {} });
  }

  /** After a tick, sends held keys or the repeated choice once. */
  tick(live: Live): void {
    if (live.held !== null && !this.isGone(live.held)) this.say(live, live.held, this.goesOn(live));
  }

  /** Whether a slot's agent is known to be gone, so that no action would count. */
  isGone(slot: number): boolean {
    const details = this.details();
    return details?.slot === slot && !details.present;
  }

  /** Whether the choice is repeated at every tick; not in worlds that wait. */
  private goesOn(live: Live): boolean {
    this.pending &&= !live.turnBased && !live.status.waits;
    return this.pending;
  }

  /** A key of the world: one of its controls, or one that chooses in the form. False: it is none. */
  press(event: KeyboardEvent, live: Live, slot: number): boolean {
    if (live.controls && choicesOf(live.controls.keys, event.key).length) {
      if (!event.repeat) {
        this.keys.press(event.key);
        // A short press between two ticks would be lost, and a world that waits makes no tick.
        this.say(live, slot, this.goesOn(live));
      }
      return true;
    }
    const form = this.formOf(live, slot);
    if (event.key === "Enter" && (form.length > 1 || live.controls || live.status.waits)) {
      if (isForm(form)) this.act(live, slot);
      else this.pass(live, slot);
      return true;
    }
    const head = form.filter((one) => one.kind === "discrete")[this.place];
    const choice = event.key.length === 1 ? CHOICE_KEYS.indexOf(event.key) : -1;
    if (head?.kind !== "discrete" || choice < 0 || choice >= head.n || head.legal?.[choice] === false) return false;
    this.choose(head.name, choice, form);
    if (form.length === 1) this.act(live, slot);
    return true;
  }

  /** What a slot may do now, as far as it is known. */
  headsOf(live: Live, slot: number): HeadInfo[] {
    const details = this.details();
    return details?.slot === slot && details.heads.length ? details.heads : live.heads;
  }

  /** The heads that no key of the world chooses for. */
  formOf(live: Live, slot: number): HeadInfo[] {
    const keyed = new Set(Object.keys(live.controls?.keys ?? {}).flatMap((key) => choicesOf(live.controls!.keys, key).map(({ head }) => head)));
    return this.headsOf(live, slot).filter((_, place) => !keyed.has(place));
  }

  /** Sends held keys and, if `form`, the choices of the form; other heads do the server's default. */
  private say(live: Live, slot: number, form: boolean): void {
    const held = live.controls ? this.keys.action(live.controls.keys, live.heads.map((head) => head.name)) : {};
    const action = { ...(form ? this.action : {}), ...held };
    if (form || Object.keys(action).length) live.say({ type: "act", slot, tick: live.status.tick, action });
  }
}

/** Whether a form is filled in and then done; a single row of choices is done by choosing. */
export function isForm(form: HeadInfo[]): boolean {
  return form.length > 1 || form[0]?.kind === "box";
}
