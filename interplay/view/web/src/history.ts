/** Earlier contents of a table in the episode, of its columns with history. */

import type { Reel } from "./reel";
import type { Cell, Layer, Scene } from "./scene";
import { names } from "./schema";
import { shown } from "./words";

const MOST_STEPS = 24; // that are shown
const FARTHEST = 200; // ticks that are looked at
const FETCHED = 4; // chunks; a reel that reads keeps few more, and what goes for others would be asked for again
const NOTHING = ["", "-"]; // empty cells

/** A step of the episode: what it was called, and the cells of each row. */
interface Step {
  readonly tick: number;
  readonly head: string;
  readonly cells: readonly string[];
}

/** The steps of one column, the newest first. */
export interface Past {
  readonly title: string;
  readonly steps: Step[];
  /** Whether there were older ones. */
  readonly more: boolean;
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
  const whole = glances[0]?.[1].first === true || glances[0]?.[0] === from;
  return wanted.map((title) => {
    const steps = stepsOf(layer, titles.indexOf(title), glances);
    return { title, steps: steps.slice(0, MOST_STEPS), more: steps.length > MOST_STEPS || !whole };
  });
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
  const missing: number[] = [];
  for (const one of ticksBefore(reel, tick, from)) {
    const glance = glanceAt(reel, one, one < tick);
    if (!glance || glance.first) found = []; // an episode may have begun at a missing tick
    if (glance) found.push([one, glance]);
    else if (!reel.ready(one)) missing.push(one);
  }
  for (const one of missing.reverse()) fetchOnce(reel, one, fetched);
  return found;
}

const requested = new WeakMap<Reel, Set<number>>(); // first ticks of chunks being loaded

/** Fetches the chunk of a tick, a few at a time; what is seen of it is kept, so that it is not fetched again. */
function fetchOnce(reel: Reel, tick: number, fetched: () => void): void {
  const coming = requested.get(reel) ?? new Set<number>();
  requested.set(reel, coming);
  const chunk = reel.chunkOf(tick);
  if (coming.has(chunk) || coming.size >= FETCHED) return;
  coming.add(chunk);
  reel
    .fetch(tick)
    .then(fetched, () => undefined) // a server that is gone is asked again by whoever looks again
    .finally(() => coming.delete(chunk));
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
