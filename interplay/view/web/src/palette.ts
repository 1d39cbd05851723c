/** Colours and shapes of the page, read from the file of interplay/view/palette.py. */

import { bars as BARS, bar_good as BAR_GOOD, bar_low as BAR_LOW, corners, fog as FOG, ink as INK, paper as PAPER, populations as POPULATIONS, shapes as SHAPES, terrain as TERRAIN } from "../../palette.json";

export { BARS, BAR_GOOD, BAR_LOW, FOG, INK, PAPER, POPULATIONS, SHAPES, TERRAIN };
export { above as ABOVE, bar_empty as BAR_EMPTY, bar_more as BAR_MORE, below as BELOW, cividis as CIVIDIS, faint as FAINT, floor as FLOOR, heights as HEIGHTS, page as PAGE } from "../../palette.json";

// Of marks, as in interplay/view/paint.py, pen.py, cones.py and legend.py.
export { dashes, entries, glyph_from as GLYPH_FROM, kinds, label_from as LABEL_FROM, least_dot as LEAST_DOT, least_radius as LEAST, most_pairs, past, rays, round, sparse as SPARSE, thin as THIN } from "../../palette.json";

/** A regular polygon's corners and the angle of its first one, for the shapes that are no discs. */
export const CORNERS = Object.fromEntries(Object.entries(corners).map(([name, [count, turn]]) => [name, [count!, Math.PI * turn!] as const]));

export const UNSEEN = 255; // number of a tile that is hidden from the player

export type RGB = readonly [number, number, number];

/** Red, green and blue of "#rrggbb" or of a population number (after seven they begin anew). */
export function rgb(colour: string | number): RGB {
  const text = typeof colour === "string" ? colour : POPULATIONS[colour % POPULATIONS.length]!;
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) as unknown as RGB;
}

/** "#rrggbb". */
export function hex(colour: RGB): string {
  return "#" + colour.map((part) => part.toString(16).padStart(2, "0")).join("");
}

/** The shape of a population number; after each round of colours it moves on by one. */
export function shapeOf(colour: number): string {
  const count = SHAPES.length;
  return SHAPES[((colour % count) + Math.floor(colour / count)) % count]!;
}

/** The colour of a sign inside a disc: light, or dark where the disc is light. */
export function signOn([red, green, blue]: RGB): string {
  return 299 * red + 587 * green + 114 * blue > 190_000 ? INK : PAPER;
}

/** The colour of a bar: a fixed one each for several bars; of a single one by whether it is over half full. */
export function barColour(place: number, bars: number, share: number): string {
  return bars > 1 ? BARS[place % BARS.length]! : share > 0.5 ? BAR_GOOD : BAR_LOW;
}

/** The colour of each tile number; numbers beyond the palette repeat it. */
export function tileColours(palette: string | readonly string[]): RGB[] {
  const names = typeof palette === "string" ? TERRAIN : palette;
  return Array.from({ length: 256 }, (_, id) => rgb(id === UNSEEN && names.length <= UNSEEN ? FOG : names[id % names.length]!));
}

/** `share` of b in a, from 0 to 1. */
export function mix(a: RGB, b: RGB, share: number): RGB {
  return a.map((x, i) => roundHalfEven(x + (b[i]! - x) * share)) as unknown as RGB;
}

function roundHalfEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1;
}
