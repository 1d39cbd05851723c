/** Numbers and cells as text, as in pictures and transcripts. */

import { hex } from "./palette";
import { Cell, Layer, number } from "./scene";
import { names } from "./schema";

const NOTHING = 1e-12; // what rounding leaves of sums that are 0

/** A cell of a table. Numbers that are whole look so, others have four digits. */
export function shown(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return "-";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return typeof cell === "number" ? short(cell) : cell;
}

/** A number in few characters. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return "-";
  if (Math.abs(value) < NOTHING) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return value.toLocaleString("en-US");
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const text = value.toPrecision(4);
  return text.includes("e") || !text.includes(".") ? String(Number(text)) : text.replace(/\.?0+$/, "");
}

export interface Bar {
  name: string;
  value: number;
  full: number;
}

/** The bars of a row. */
export function barsOf(layer: Layer, row: number): Bar[] {
  return names(layer.schema.options.bars).map((name) => ({ name, value: number(layer, `bar.${name}`, row), full: number(layer, `bar.${name}.full`, row) }));
}

/** The kind of a row (population, team) by the layer's legend; empty if there is one kind. */
export function kindOf({ schema, columns }: Layer, row: number): string {
  const texts = names(schema.options.legend);
  const colours = names(schema.options["legend.colours"]);
  if (texts.length < 2) return "";
  const [number, rgb] = [columns.get("colour"), columns.get("rgb")];
  if (!colours.length) return number ? (texts[number[row]!] ?? "") : "";
  const own = rgb ? hex([rgb[3 * row]!, rgb[3 * row + 1]!, rgb[3 * row + 2]!]) : "";
  return texts[colours.map((one) => one.toLowerCase()).indexOf(own)] ?? "";
}

/** The marks that a row wears. */
export function marksOf(layer: Layer, row: number): string[] {
  return names(layer.schema.options.marks).filter((name) => layer.columns.get(`mark.${name}`)?.[row]);
}
