/** What a table held at earlier ticks of the episode, of the columns that it says are worth seeing beside each other. */

import type { Reel } from "./reel";
import type { Cell, Layer, Scene } from "./scene";
import { names } from "./schema";
import { shown } from "./words";

export const MOST_STEPS = 24; // that are shown
const FARTHEST = 200; // ticks that are looked at
const NOTHING = ["", "-"]; // what cells say where there was nothing to tell

/** A step of the episode: what it was called, and the cells of each row. */
export interface Step {
  readonly tick: number;
  readonly head: string;
  readonly cells: readonly string[];
}

/** The steps of one column, the newest first. */
export interface Past {
  readonly title: string;
  readonly steps: Step[];
}

/** Scenes are decoded in the order of their ticks, so what was found is kept: of a reel, for each tick that is over. */
const kept = new WeakMap<Reel, Map<number, Glance>>();

interface Glance {
  readonly first: boolean;
  readonly tables: ReadonlyMap<string, Layer>;
}

/**
 * The past of a table at a tick.
 *
 * @param from the first tick that may be looked at.
 * @param fetched is called when something came that was not at hand.
 */
export function pastOf(layer: Layer, reel: Reel, tick: number, from: number, fetched: () => void): Past[] {
  const titles = names(layer.schema.options.titles);
  const wanted = names(layer.schema.options.history).filter((title) => titles.includes(title));
  if (!wanted.length) return [];
  const glances = episode(reel, tick, from, fetched);
  return wanted.map((title) => ({ title, steps: stepsOf(layer, titles.indexOf(title), glances).slice(0, MOST_STEPS) }));
}

function stepsOf(layer: Layer, column: number, glances: [number, Glance][]): Step[] {
  const heads = String(layer.schema.options.heads ?? "");
  const steps = glances.map(([tick, { tables }]) => {
    const cells = (tables.get(layer.schema.name)?.text ?? []).map((row) => shown((row as Cell[])[column]));
    const head = (tables.get(heads)?.text[0] as Cell[] | undefined)?.[0];
    return { tick, head: head === undefined ? String(tick) : shown(head), cells };
  });
  return steps.filter(({ cells }) => !cells.every((cell) => NOTHING.includes(cell))).reverse();
}

/** The tables of the episode's ticks up to one, as far as they are at hand, the oldest first. */
function episode(reel: Reel, tick: number, from: number, fetched: () => void): [number, Glance][] {
  let found: [number, Glance][] = [];
  for (const one of ticksBefore(reel, tick, from)) {
    if (!reel.ready(one)) {
      void reel.fetch(one).then(fetched);
      found = [];
      continue;
    }
    const glance = glanceAt(reel, one, one < tick);
    if (!glance || glance.first) found = [];
    if (glance) found.push([one, glance]);
  }
  return found;
}

function ticksBefore(reel: Reel, tick: number, from: number): number[] {
  const ticks = [];
  for (let one: number | null = tick; one !== null && one >= from && ticks.length < FARTHEST; one = reel.before(one)) ticks.push(one);
  return ticks.reverse();
}

function glanceAt(reel: Reel, tick: number, over: boolean): Glance | null {
  const known = kept.get(reel) ?? new Map<number, Glance>();
  kept.set(reel, known);
  const before = known.get(tick);
  if (before) return before;
  const shot = reel.at(tick);
  if (!shot || shot.tick !== tick) return null;
  const glance = { first: shot.first, tables: tablesOf(shot.scene) };
  if (!over) return glance; // the present one may come again, and tell less
  known.set(tick, glance);
  if (known.size > 2 * FARTHEST) known.delete(known.keys().next().value!);
  return glance;
}

const tablesOf = (scene: Scene): Map<string, Layer> => new Map(scene.layers.filter(({ schema }) => schema.kind === "table").map((one) => [one.schema.name, one]));
