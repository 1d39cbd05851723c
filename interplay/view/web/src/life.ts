/** Events of an agent since its birth, from the marks of a source. */

import { Mark } from "./replay";

const ENDS = ["death", "cut"];

export interface Life {
  /** The tick of its birth; null where it is not known. */
  born: number | null;
  /** Ticks since then, or until it died. */
  age: number | null;
  events: Mark[];
}

/** The life of a slot at a tick, within its episode; a death in the tick of a birth belongs to the life before. */
export function lifeOf(marks: readonly Mark[], slot: number, tick: number): Life {
  const before = marks.findLast((mark) => mark.kind === "end" && mark.tick < tick)?.tick ?? -1; // last tick of the episode before
  const own = marks.filter((mark) => mark.tick > before && mark.tick <= tick && mark.slots.includes(slot));
  const born = own.findLast(({ kind }) => kind === "birth")?.tick ?? null;
  const events = own.filter((mark) => mark.kind !== "birth" && (born === null || mark.tick > born || (mark.tick === born && !ENDS.includes(mark.kind))));
  const end = events.find(({ kind }) => ENDS.includes(kind))?.tick ?? tick;
  return { born, age: born === null ? null : end - born, events };
}
