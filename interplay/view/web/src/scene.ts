/** Frames to scenes (docs/specs/viewer.md 4.2); tests hold it against interplay/core/frames byte for byte. */

import { Column, LayerSchema, MAX_ROWS, Refused, Schema } from "./schema";

const FRAME_HEAD = 16;
const LAYER_HEAD = 12;
const MAX_TEXT = 4 * 2 ** 20; // bytes of a layer's texts in a frame
const KEY = 1;
const CHANGE = 2;
const [SAME, FULL, DIFFERENCE, PATCH] = [0, 1, 2, 3];
const WORDS: Record<string, number> = { nan: NaN, inf: Infinity, "-inf": -Infinity };
const SIZES = { u1: 1, u2: 2, f4: 4 };

export type Numbers = Float32Array | Uint8Array;
export type Cell = string | number | boolean | null;

/** One layer of a scene; a layer that did not change is the same object in the next scene. */
export interface Layer {
  schema: LayerSchema;
  rows: number;
  columns: Map<string, Numbers>;
  text: readonly (string | readonly Cell[])[];
}

export interface Scene {
  layers: Layer[];
}

export interface Head {
  key: boolean;
  first: boolean; // of an episode
  last: boolean;
  tick: number;
}

interface Raw {
  rows: number;
  wide: number; // bit i: the i-th column with a scale travels as f4
  data: Uint8Array; // the columns one after another, each padded to 4 bytes
}

type Text = readonly (string | readonly Cell[])[];
type Part = Raw | Text;

/** Reads the frames of one source. */
export class Decoder {
  private readonly parts: { layer: LayerSchema; text: boolean }[] = [];
  private held: Part[] = [];
  private tick = 0;
  private layers: (Layer | undefined)[] = [];

  constructor(readonly schema: Schema) {
    for (const layer of schema.layers) {
      if (layer.id !== null) this.parts[layer.id] = { layer, text: false };
      if (layer.text !== null) this.parts[layer.text] = { layer, text: true };
    }
  }

  /** Takes one frame in; after an error a key frame is needed. Its bytes have to begin at a multiple of 4. */
  decode(frame: Uint8Array): Head {
    const { head, count, base } = readHead(frame);
    const held = this.held;
    this.held = [];
    if (!head.key && (!held.length || base !== this.tick))
      throw new Refused(`frame ${head.tick} changes tick ${base}, which is not at hand`);
    if (count !== this.parts.length) throw new Refused(`frame ${head.tick} has ${count} layers, its schema ${this.parts.length}`);
    const view = viewOf(frame);
    const parts: Part[] = [];
    let at = FRAME_HEAD;
    for (let number = 0; number < count; number++) {
      if (at + LAYER_HEAD > frame.length) throw new Refused(`frame ${head.tick} ends within a layer`);
      const coding = view.getUint8(at + 1);
      const wide = view.getUint16(at + 2, true);
      const rows = view.getUint32(at + 4, true);
      const size = view.getUint32(at + 8, true);
      const sound = view.getUint8(at) === number && size % 4 === 0 && at + LAYER_HEAD + size <= frame.length;
      if (!sound || (head.key && coding !== FULL)) throw new Refused(`frame ${head.tick}: layer ${number} is damaged`);
      at += LAYER_HEAD;
      const old = head.key ? undefined : held[number];
      parts.push(this.part(number, coding, wide, rows, frame.subarray(at, at + size), old));
      at += size;
    }
    if (at !== frame.length) throw new Refused(`frame ${head.tick} is longer than its layers`);
    this.held = parts;
    this.tick = head.tick;
    return head;
  }

  /** What the frames so far lead to. */
  scene(): Scene {
    const old = this.layers;
    this.layers = this.schema.layers.map((schema, place) => {
      const raw = schema.id === null ? null : (this.held[schema.id] as Raw);
      const text = schema.text === null ? [] : (this.held[schema.text] as Text);
      const was = old[place] as (Layer & { raw?: Raw | null }) | undefined;
      if (was && was.raw === raw && (was.text === text || schema.text === null)) return was;
      const columns = raw ? (was && was.raw === raw ? was.columns : unpack(schema, raw)) : new Map<string, Numbers>();
      const layer: Layer & { raw: Raw | null } = { schema, rows: raw ? raw.rows : text.length, columns, text, raw };
      if (schema.kind === "labels" && text.length !== layer.rows) throw new Refused(`layer "${schema.name}": a text is missing`);
      return layer;
    });
    return { layers: this.layers as Layer[] };
  }

  private part(number: number, coding: number, wide: number, rows: number, payload: Uint8Array, old: Part | undefined): Part {
    const { layer, text } = this.parts[number]!;
    if (text) {
      const was = old as Text | undefined;
      if (coding === SAME && was && !payload.length && rows === was.length) return was;
      if (coding !== FULL || wide) throw new Refused(`the texts of layer "${layer.name}" are damaged`);
      const found = readText(payload, layer);
      if (found.length !== rows) throw new Refused(`the texts of layer "${layer.name}" are damaged`);
      return found;
    }
    const most = layer.kind === "tiles" || layer.kind === "picture" ? 2 ** 32 : MAX_ROWS;
    if (rows > most) throw new Refused(`layer "${layer.name}": ${rows} rows; ${MAX_ROWS} are read at most`);
    return readPart(layer, coding, wide, rows, payload, old as Raw | undefined);
  }
}

/** The frames that stand one after another in a chunk. */
export function splitFrames(data: Uint8Array): Uint8Array[] {
  const found = [];
  for (let at = 0; at < data.length; ) {
    readHead(data.subarray(at));
    const size = FRAME_HEAD + viewOf(data).getUint32(at + 12, true);
    if (at + size > data.length || size % 4) throw new Refused("a frame ends too early");
    found.push(data.subarray(at, at + size));
    at += size;
  }
  return found;
}

/** The head of a frame, the number of its layers, and the tick that it is relative to. */
export function readHead(frame: Uint8Array): { head: Head; count: number; base: number } {
  if (frame.length < FRAME_HEAD) throw new Refused("a frame ends within its head");
  const view = viewOf(frame);
  const [kind, flags] = [view.getUint8(0), view.getUint8(1)];
  const [tick, base] = [view.getUint32(4, true), view.getUint32(8, true)];
  if ((kind !== KEY && kind !== CHANGE) || flags > 3 || (kind === KEY && base !== tick)) throw new Refused("a frame has an unknown head");
  return { head: { key: kind === KEY, first: !!(flags & 1), last: !!(flags & 2), tick }, count: view.getUint16(2, true), base };
}

interface Place {
  column: Column;
  size: 1 | 2 | 4; // bytes of a number
  float: boolean; // an f4 of values, not bits packed or raw numbers
}

/** How each column travels while these are widened. */
function places(layer: LayerSchema, wide: number): Place[] {
  let scaled = 0;
  return layer.columns.map((column) => {
    const widened = column.scale !== null && (wide >> scaled++) & 1;
    const type = widened ? "f4" : column.type;
    return { column, size: SIZES[type] as 1 | 2 | 4, float: type === "f4" };
  });
}

function words(size: number): number {
  return Math.ceil(size / 4) * 4;
}

function fullSize(list: Place[], rows: number): number {
  return list.reduce((sum, { column, size }) => sum + words(rows * column.values * size), 0);
}

function readPart(layer: LayerSchema, coding: number, wide: number, rows: number, payload: Uint8Array, old: Raw | undefined): Raw {
  const list = places(layer, wide);
  const scaled = layer.columns.filter((column) => column.scale !== null).length;
  if (wide >> scaled) throw new Refused(`layer "${layer.name}" widens columns that it has not`);
  const damaged = () => new Refused(`layer "${layer.name}": ${payload.length} bytes for ${rows} rows do not fit`);
  if (coding === FULL) {
    if (payload.length !== fullSize(list, rows)) throw damaged();
    return { rows, wide, data: payload.slice() };
  }
  if (!old || old.rows !== rows || old.wide !== wide) throw new Refused(`layer "${layer.name}" does not fit its change`);
  if (coding === SAME && !payload.length) return old;
  const data = old.data.slice();
  if (coding === DIFFERENCE) {
    if (payload.length !== data.length) throw damaged();
    addDifference(list, rows, data, payload);
  } else if (coding === PATCH && payload.length >= 4) {
    const count = viewOf(payload).getUint32(0, true);
    if (payload.length !== 4 + 4 * count + fullSize(list, count)) throw damaged();
    putPatch(list, rows, data, payload, count, damaged);
  } else throw damaged();
  return { rows, wide, data };
}

function addDifference(list: Place[], rows: number, data: Uint8Array, payload: Uint8Array): void {
  let at = 0;
  for (const { column, size } of list) {
    const bytes = words(rows * column.values * size);
    const into = numbersIn(data, at, bytes, size);
    const steps = numbersIn(payload, at, bytes, size);
    if (size === 4) for (let i = 0; i < into.length; i++) into[i] = into[i]! ^ steps[i]!;
    else for (let i = 0; i < into.length; i++) into[i] = into[i]! + steps[i]!;
    at += bytes;
  }
}

function putPatch(list: Place[], rows: number, data: Uint8Array, payload: Uint8Array, count: number, damaged: () => Refused): void {
  const changed = new Uint32Array(payload.buffer, payload.byteOffset + 4, count);
  for (const row of changed) if (row >= rows) throw damaged();
  let [at, from] = [0, 4 + 4 * count];
  for (const { column, size } of list) {
    const [room, more] = [words(rows * column.values * size), words(count * column.values * size)];
    const into = numbersIn(data, at, room, size);
    const fresh = numbersIn(payload, from, more, size);
    const wide = column.values;
    if (wide === 1) for (let i = 0; i < count; i++) into[changed[i]!] = fresh[i]!;
    else for (let i = 0; i < count; i++) for (let k = 0; k < wide; k++) into[changed[i]! * wide + k] = fresh[i * wide + k]!;
    at += room;
    from += more;
  }
}

function numbersIn(data: Uint8Array, at: number, bytes: number, size: 1 | 2 | 4): Uint8Array | Uint16Array | Uint32Array {
  const start = data.byteOffset + at;
  if (size === 1) return new Uint8Array(data.buffer, start, bytes);
  return size === 2 ? new Uint16Array(data.buffer, start, bytes / 2) : new Uint32Array(data.buffer, start, bytes / 4);
}

/** The columns that raw numbers stand for, as the canvas of a world leaves them: rows that are absent hold zeros. */
function unpack(layer: LayerSchema, raw: Raw): Map<string, Numbers> {
  const found = new Map<string, Numbers>();
  const floats: [Float32Array, number][] = [];
  let at = 0;
  for (const { column, size, float } of places(layer, raw.wide)) {
    const count = raw.rows * column.values;
    const start = raw.data.byteOffset + at;
    at += words(count * size);
    if (column.bits.length) {
      const packed = new Uint8Array(raw.data.buffer, start, count);
      column.bits.forEach((name, bit) => name && found.set(name, bitOf(packed, bit)));
      continue;
    }
    if (!float && column.scale === null) {
      found.set(column.name, size === 1 ? new Uint8Array(raw.data.buffer, start, count) : new Float32Array(new Uint16Array(raw.data.buffer, start, count)));
      continue;
    }
    const values = float ? new Float32Array(raw.data.buffer, start, count).slice() : scaled(column, size, raw.data.buffer as ArrayBuffer, start, count);
    found.set(column.name, values);
    floats.push([values, column.values]);
  }
  const absent = found.get("absent");
  if (absent) for (const [values, wide] of floats) for (let i = 0; i < values.length; i++) if (absent[wide === 1 ? i : Math.floor(i / wide)]) values[i] = 0;
  return found;
}

function bitOf(packed: Uint8Array, bit: number): Uint8Array {
  const found = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) found[i] = (packed[i]! >> bit) & 1;
  return found;
}

function scaled(column: Column, size: number, buffer: ArrayBuffer, start: number, count: number): Float32Array {
  const raw = size === 1 ? new Uint8Array(buffer, start, count) : new Uint16Array(buffer, start, count);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) values[i] = raw[i]! * column.scale! + column.offset;
  return values;
}

function readText(payload: Uint8Array, layer: LayerSchema): Text {
  const damaged = new Refused(`the texts of layer "${layer.name}" are damaged`);
  if (payload.length > MAX_TEXT) throw damaged;
  let rows: unknown;
  try {
    rows = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
  } catch {
    throw damaged;
  }
  if (!Array.isArray(rows)) throw damaged;
  const titles = layer.kind === "table" ? (layer.options.titles as unknown[]).length : -1;
  return rows.map((row) => {
    if (titles < 0 && typeof row === "string") return row;
    if (titles >= 0 && Array.isArray(row) && row.length === titles) return row.map((cell) => readCell(cell, damaged));
    throw damaged;
  });
}

function readCell(cell: unknown, damaged: Refused): Cell {
  if (cell === null || typeof cell !== "object") return cell as Cell;
  const word = (cell as { number?: unknown }).number;
  if (typeof word === "string" && word in WORDS) return WORDS[word]!;
  throw damaged;
}

/** A column, or the constant, of one row. */
export function number(layer: Layer, key: string, row: number, otherwise = 0): number {
  const column = layer.columns.get(key);
  if (column) return column[row]!;
  const constant = layer.schema.options[key];
  return typeof constant === "number" ? constant : otherwise;
}

/** The same for loops over rows. */
export function numbers(layer: Layer, key: string): (row: number) => number {
  const column = layer.columns.get(key);
  const constant = number(layer, key, 0);
  return column ? (row) => column[row]! : () => constant;
}

/** A flag of one row; false where the layer has none of this name. */
export function flag(layer: Layer, key: string, row: number): boolean {
  return !!layer.columns.get(key)?.[row];
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}
