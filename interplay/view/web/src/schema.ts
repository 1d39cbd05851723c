/** The schema of frames (docs/specs/viewer.md 4.1), checked, as files are untrusted. */

export const MAX_ROWS = 65_535;
const MAX_LAYERS = 64;
const MAX_COLUMNS = 64;
const MAX_SCALED = 16; // a frame has a bit for each
const FLAGS = 8;

/** Invalid input; the message is shown to the user. */
export class Refused extends Error {}

type Kind = "tiles" | "circles" | "boxes" | "segments" | "polygons" | "labels" | "table" | "picture";
const KINDS: readonly string[] = ["tiles", "circles", "boxes", "segments", "polygons", "labels", "table", "picture"];

/** How a column is written: value = raw * scale + offset; without a scale the raw number is the value. */
export interface Column {
  name: string;
  type: "u1" | "u2" | "f4";
  scale: number | null;
  offset: number;
  values: number; // numbers per row
  bits: string[]; // names of the flags packed into it, bit 0 first
}

/** How a layer is written: `id` numbers the part with its columns, `text` the one with its texts. */
export interface LayerSchema {
  name: string;
  kind: Kind;
  id: number | null;
  text: number | null;
  width: number; // of tiles and pictures; 0 of others
  columns: Column[];
  options: Options;
}

type Option = string | number | boolean | null | (string | number)[];
export type Options = Record<string, Option>;

export interface Schema {
  bounds: [number, number, number, number] | null;
  up: "north" | "south";
  layers: LayerSchema[];
}

type Json = Record<string, unknown>;

/** The schema in a header or a hello. */
export function readSchema(value: unknown): Schema {
  const fields = mapping(value, "the scene");
  if (fields.scene !== 1) throw new Refused(`scene form ${String(fields.scene)}; this page reads form 1, open it with a newer interplay`);
  if (fields.up !== "north" && fields.up !== "south") throw new Refused("the scene has no valid up");
  if (!Array.isArray(fields.layers) || fields.layers.length > MAX_LAYERS + 1)
    throw new Refused(`the scene has no list of at most ${MAX_LAYERS} layers`);
  const layers = fields.layers.map(readLayer);
  const numbers = layers.flatMap((layer) => [layer.id, layer.text]).filter((number) => number !== null);
  if (numbers.some((number, place) => number !== place)) throw new Refused("the parts of the layers are not numbered in their order");
  return { bounds: readBounds(fields.bounds), up: fields.up, layers };
}

function readBounds(value: unknown): Schema["bounds"] {
  if (value === null || value === undefined) return null;
  const four = Array.isArray(value) && value.length === 4 && value.every(Number.isFinite);
  if (!four || value[0] >= value[2] || value[1] >= value[3]) throw new Refused("the bounds of the scene are no rectangle");
  return value as [number, number, number, number];
}

function readLayer(value: unknown): LayerSchema {
  const fields = mapping(value, "a layer");
  const name = text(fields.name, 64, "a layer");
  const wrong = (what: string) => new Refused(`layer "${name}": ${what}`);
  if (!KINDS.includes(fields.kind as string)) throw wrong(`kind ${String(fields.kind)} is not known`);
  const kind = fields.kind as Kind;
  const [id, part] = [partNumber(fields.id), partNumber(fields.text)];
  if ((id === null) !== (kind === "table") || (kind === "table" && part === null)) throw wrong("its parts do not fit its kind");
  const width = fields.width === undefined ? 0 : whole(fields.width, 0, 65_535, name);
  if (width > 0 !== (kind === "tiles" || kind === "picture")) throw wrong("its width does not fit its kind");
  const list = fields.columns ?? [];
  if (!Array.isArray(list) || list.length > MAX_COLUMNS) throw wrong(`more than ${MAX_COLUMNS} columns`);
  const columns = list.map((column) => readColumn(column, name));
  if (new Set(columns.map((column) => column.name)).size < columns.length) throw wrong("a column is there twice");
  if (columns.filter((column) => column.scale !== null).length > MAX_SCALED) throw wrong(`more than ${MAX_SCALED} scaled columns`);
  const layer = { name, kind, id, text: part, width, columns, options: readOptions(fields.options, name) };
  checkLayer(layer, wrong);
  return layer;
}

function readColumn(value: unknown, layer: string): Column {
  const fields = mapping(value, `layer "${layer}"`);
  const name = text(fields.name, 100, `layer "${layer}"`);
  const wrong = new Refused(`layer "${layer}": column "${name}" has an unknown coding`);
  const scale = fields.scale ?? null;
  const offset = fields.offset ?? 0;
  if (fields.type !== "u1" && fields.type !== "u2" && fields.type !== "f4") throw wrong;
  if (scale !== null && (!Number.isFinite(scale) || (scale as number) <= 0 || fields.type === "f4")) throw wrong;
  if (!Number.isFinite(offset)) throw wrong;
  const bits = fields.bits ?? [];
  if (!Array.isArray(bits) || bits.length > FLAGS || bits.some((bit) => typeof bit !== "string")) throw wrong;
  const values = fields.values === undefined ? 1 : whole(fields.values, 1, 65_535, layer);
  if (bits.length && (fields.type !== "u1" || values !== 1)) throw wrong;
  return { name, type: fields.type, scale: scale as number | null, offset: offset as number, values, bits: bits as string[] };
}

function readOptions(value: unknown, layer: string): Options {
  const found: Options = {};
  for (const [key, option] of Object.entries(mapping(value ?? {}, `layer "${layer}"`))) {
    const parts = Array.isArray(option) ? option : [option];
    const plain = parts.every((part) => part === null || typeof part === "string" || typeof part === "boolean" || Number.isFinite(part));
    if (!plain) throw new Refused(`layer "${layer}": option ${key} is no number, text or list of those`);
    found[key] = option as Option;
  }
  return found;
}

const PLACES: Partial<Record<Kind, string[]>> = {
  tiles: ["tile"],
  circles: ["x", "y"],
  boxes: ["x", "y"],
  segments: ["x0", "y0", "x1", "y1"],
  polygons: ["x", "y"],
  labels: ["x", "y"],
  picture: ["rgb"],
};

/** Checks the assumptions of the renderers. */
function checkLayer(layer: LayerSchema, wrong: (what: string) => Refused): void {
  const there = new Map(layer.columns.flatMap((column) => (column.bits.length ? column.bits : [column.name]).map((name) => [name, column])));
  const needs = (name: string, constant = false) => {
    if (!there.has(name) && !(constant && typeof layer.options[name] === "number")) throw wrong(`${name} is missing`);
  };
  for (const name of PLACES[layer.kind] ?? []) needs(name);
  for (const name of layer.kind === "boxes" ? ["half_x", "half_y", "angle"] : []) needs(name, true);
  if (layer.kind === "circles") needs("radius", true);
  if (layer.kind === "labels") needs("size", true);
  for (const name of names(layer.options.bars)) (needs(`bar.${name}`), needs(`bar.${name}.full`, true));
  for (const name of names(layer.options.marks)) needs(`mark.${name}`);
  if ("sight.chords" in layer.options) {
    for (const name of ["sight.depth", "sight.angle", "angle"]) needs(name, true);
    whole(layer.options["sight.chords"], 1, 360, layer.name);
  }
  const colour = layer.options.colour;
  if (colour !== undefined && typeof colour !== "number" && !isHex(colour)) throw wrong("its colour is none");
  if (typeof colour === "number") whole(colour, 0, 255, layer.name);
  const rgb = there.get("rgb");
  if (rgb && (rgb.values !== 3 || rgb.type !== "u1" || rgb.scale !== null)) throw wrong("its colours are none");
  for (const name of ["tile", "colour"]) if (there.has(name) && there.get(name)!.type !== "u1") throw wrong(`${name} is no u1`);
  if (layer.kind === "tiles") {
    const { palette, origin, cell } = layer.options;
    if (palette !== "terrain" && !(Array.isArray(palette) && palette.length && palette.every(isHex))) throw wrong("its palette is none");
    if (!Array.isArray(origin) || origin.length !== 2 || !origin.every(Number.isFinite)) throw wrong("it has no origin");
    if (typeof cell !== "number" || cell <= 0) throw wrong("its cell has no size");
  }
  if (layer.kind === "table" && !Array.isArray(layer.options.titles)) throw wrong("it has no titles");
}

/** A list of texts among the options; empty for anything else. */
export function names(option: Option | undefined): string[] {
  return Array.isArray(option) ? option.map(String) : [];
}

/** How a line or a ring is broken; empty: not at all. */
export type Broken = "" | "dashes" | "dots";

export function brokenOf({ dashed }: Options): Broken {
  return dashed === true ? "dashes" : dashed === "dots" ? "dots" : "";
}

/** Names of the bars that are drawn. */
export function drawnBars({ bars, show_bars }: Options): string[] {
  return show_bars === false ? [] : names(bars);
}

export function isHex(value: unknown): value is string {
  return typeof value === "string" && /^#[0-9a-fA-F]{6}$/.test(value);
}

function mapping(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refused(`${what} is not described`);
  return value as Json;
}

function text(value: unknown, longest: number, what: string): string {
  if (typeof value !== "string" || !value || value.length > longest) throw new Refused(`${what} has a name of 1 to ${longest} characters`);
  return value;
}

function partNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : whole(value, 0, 2 * MAX_LAYERS + 2, "a part");
}

function whole(value: unknown, least: number, most: number, what: string): number {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
    throw new Refused(`"${what}": ${String(value)} is no whole number from ${least} to ${most}`);
  return value as number;
}
