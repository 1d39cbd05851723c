/** Overlays: a value for each cell, sent as a byte, and their colours. */

import { ABOVE, BELOW, CIVIDIS, RGB, mix, rgb } from "./palette";
import { Refused } from "./schema";
import { T } from "./strings";

const HEAD = 20; // bytes
export const OVERLAY = 3; // first byte of its frames
const STRONGEST = 0.9; // opacity, so that the ground still shows

export interface OverlayListed {
  name: string;
  meaning: string;
  together: boolean; // can show all populations at once
  by_agent: boolean; // can be of the selected agent
  options: Record<string, string[]>;
}

export interface Wanted {
  name: string;
  population: number | null;
  options: Record<string, string>;
}

/** The overlays of a source, and the current one. */
export interface Lays {
  readonly overlays: OverlayListed[];
  readonly populations: string[];
  wanted: Wanted | null;
  readonly overlay: Overlay | null;
  /** Why the requested overlay is missing. */
  readonly refusal: string | null;
  /** Whether the list was loaded. */
  readonly listed: boolean;
  /** Asks for an overlay, or for none. */
  lay(wanted: Wanted | null): void;
}

/** What the bytes of a frame mean. */
export interface OverlayInfo {
  id: number;
  name: string;
  title: string;
  unit: string;
  meaning: string;
  form: "map" | "window";
  diverging: boolean;
  log: boolean;
  origin: [number, number];
  cell: number;
  seen: [number, number] | null;
  since: number | null;
}

export interface Overlay extends OverlayInfo {
  tick: number;
  width: number;
  height: number;
  lowest: number;
  highest: number;
  cells: Uint8Array; // 0: no value, 1..255: from the lowest to the highest
}

/** Reads a frame after its description. */
export function readOverlay(frame: Uint8Array, info: OverlayInfo | null): Overlay {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < HEAD || !info || frame[1] !== info.id) throw new Refused(T.badOverlay);
  const [width, height] = [view.getUint16(2, true), view.getUint16(4, true)];
  const count = width * height;
  if (!count || frame.length !== HEAD + count + (-count & 3) || !(info.cell > 0) || !info.origin.every(Number.isFinite)) throw new Refused(T.badOverlay);
  const [lowest, highest] = [view.getFloat32(12, true), view.getFloat32(16, true)];
  return { ...info, width, height, tick: view.getUint32(8, true), lowest, highest, cells: frame.slice(HEAD, HEAD + count) };
}

/** The value at a share of the scale, from 0 to 1. */
export function valueAt({ lowest, highest, log }: Overlay, share: number): number {
  if (!log) return lowest + share * (highest - lowest);
  return Math.expm1(Math.log1p(lowest) + share * (Math.log1p(highest) - Math.log1p(lowest)));
}

/** Colour and opacity of a share of the scale. */
export function colourAt(share: number, diverging: boolean): [RGB, number] {
  if (diverging) return [rgb(share < 0.5 ? BELOW : ABOVE), STRONGEST * Math.abs(2 * share - 1)];
  const [place, last] = [share * (CIVIDIS.length - 1), CIVIDIS.length - 1];
  const at = Math.min(Math.floor(place), last - 1);
  return [mix(rgb(CIVIDIS[at]!), rgb(CIVIDIS[at + 1]!), place - at), STRONGEST];
}

/** The colours of a scale for a style sheet, at so many places. */
export function gradient(diverging: boolean, steps = 9): string {
  const stops = Array.from({ length: steps }, (_, i) => {
    const [colour, opacity] = colourAt(i / (steps - 1), diverging);
    return `rgba(${colour.join(",")},${opacity})`;
  });
  return `linear-gradient(to right,${stops.join(",")})`;
}

let [painted, canvas]: [Overlay | null, HTMLCanvasElement | null] = [null, null];

/** A picture with a pixel for each cell, made once. */
export function paint(overlay: Overlay): HTMLCanvasElement {
  if (painted === overlay && canvas) return canvas;
  [painted, canvas] = [overlay, document.createElement("canvas")];
  fill(canvas, overlay);
  return canvas;
}

/** Paints the cells into a canvas, a pixel for each. */
export function fill(canvas: HTMLCanvasElement, { width, height, cells, diverging }: Overlay): void {
  [canvas.width, canvas.height] = [width, height];
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const table = new Uint32Array(256); // red, green, blue and opacity, little-endian
  for (let i = 1; i < 256; i++) {
    const [[red, green, blue], opacity] = colourAt((i - 1) / 254, diverging);
    table[i] = ((Math.round(255 * opacity) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }
  for (let i = 0; i < cells.length; i++) pixels[i] = table[cells[i]!]!;
  canvas.getContext("2d")!.putImageData(image, 0, 0);
}
