/** Every colour and shape of the page, once: those of interplay/view/palette.py, and a test holds them together. */

export const POPULATIONS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];
export const SHAPES = ["disc", "square", "triangle", "pentagon", "hexagon", "diamond", "octagon"];

/** Lava, water, grass, scrub, forest, stone. */
export const TERRAIN = ["#3c2120", "#2f4f82", "#c9dabd", "#c5b592", "#8ba064", "#58514e"];

/** How high each of these stands in the solid view, in tiles; what agents walk on is low. */
export const HEIGHTS = [0, 0, 0, 0.06, 0.22, 0.85];

/** Over a ground in greys: below and above the middle of a scale, which is clear, and nine steps of matplotlib's cividis. */
export const BELOW = "#b25414";
export const ABOVE = "#2166ac";
export const CIVIDIS = ["#00224e", "#1a386f", "#434e6c", "#61656f", "#7d7c78", "#9b9476", "#bcae6c", "#dec958", "#fee838"];

export const INK = "#20242b"; // outlines and text on light ground
export const PAPER = "#ffffff"; // glyphs on agents, halos around text
export const PAGE = "#e9ecef"; // around the world
export const FLOOR = "#f7f8f9"; // where a world draws no ground of its own
export const FAINT = "#868e96"; // what is dimmed
export const BAR_GOOD = "#2b8a3e";
export const BAR_LOW = "#d9480f";
export const BAR_EMPTY = "#ced4da";
export const BAR_MORE = "#a9e34b";
/** Of agents with several bars, one each in their order: red, amber, blue, violet. */
export const BARS = ["#c92a2a", "#fab005", "#4dabf7", "#862e9c"];

/** A regular polygon's corners and the angle of its first one, for the shapes that are not discs. */
export const CORNERS: Record<string, readonly [number, number]> = {
  square: [4, Math.PI / 4],
  triangle: [3, Math.PI / 2],
  pentagon: [5, Math.PI / 2],
  hexagon: [6, 0],
  diamond: [4, 0],
  octagon: [8, Math.PI / 8],
};

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

export const FOG = "#9a968c";
export const UNSEEN = 255; // number of a tile that is hidden from who plays

/** The colour of a sign inside a disc: light, or dark where the disc is light. */
export function signOn([red, green, blue]: RGB): string {
  return 299 * red + 587 * green + 114 * blue > 190_000 ? INK : PAPER;
}

/** The colour of a bar: of several each has its own, a single one says by it whether it is more than half full. */
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
