/** Tiles and finished pictures: one picture of a pixel per tile, where only changed pixels are written again. */

import { Camera } from "./camera";
import { RGB, UNSEEN, tileColours } from "./palette";
import { Layer, Scene } from "./scene";

export interface Kept {
  layer: Layer;
  version: number; // one more with every change
  canvas: HTMLCanvasElement;
  image: ImageData;
  colours: Uint32Array;
}

export class Ground {
  private readonly kept = new Map<string, Kept>();

  /** Draws a layer of tiles. */
  tiles(pen: CanvasRenderingContext2D, layer: Layer, camera: Camera): void {
    const { canvas } = this.upToDate(layer, "tile");
    const [x, y] = layer.schema.options.origin as [number, number];
    const cell = layer.schema.options.cell as number;
    const [width, height] = [canvas.width * cell * camera.scale, canvas.height * cell * camera.scale];
    pen.save();
    pen.imageSmoothingEnabled = cell * camera.scale < 1;
    pen.translate(camera.screenX(x), camera.screenY(y));
    pen.scale(1, camera.flip);
    pen.drawImage(canvas, 0, 0, width, height);
    pen.restore();
  }

  /** Draws a finished picture as large as it fits. */
  picture(pen: CanvasRenderingContext2D, layer: Layer, width: number, height: number): void {
    const { canvas } = this.upToDate(layer, "rgb");
    const scale = Math.min(width / canvas.width, height / canvas.height);
    const [wide, high] = [canvas.width * scale, canvas.height * scale];
    pen.imageSmoothingEnabled = scale < 1;
    pen.drawImage(canvas, (width - wide) / 2, (height - high) / 2, wide, high);
  }

  /** The picture of a layer as it is now. */
  upToDate(layer: Layer, key: "tile" | "rgb"): Kept {
    const cells = layer.columns.get(key) as Uint8Array;
    const wide = layer.schema.width;
    const high = Math.max(Math.floor(layer.rows / wide), 1);
    let kept = this.kept.get(layer.schema.name);
    const fits = kept && kept.layer.schema === layer.schema && kept.canvas.width === wide && kept.canvas.height === high;
    if (kept && fits && kept.layer === layer) return kept;
    const old = fits ? (kept!.layer.columns.get(key) as Uint8Array) : null;
    if (!kept || !fits) {
      kept = fresh(layer, wide, high, key);
      this.kept.set(layer.schema.name, kept);
    }
    kept.layer = layer;
    const rows = key === "tile" ? paintTiles(kept, cells, old) : paintPixels(kept, cells, old);
    if (rows) {
      kept.version++;
      kept.canvas.getContext("2d")!.putImageData(kept.image, 0, 0, 0, rows[0], wide, rows[1] - rows[0] + 1);
    }
    return kept;
  }
}

function fresh(layer: Layer, wide: number, high: number, key: string): Kept {
  const canvas = document.createElement("canvas");
  canvas.width = wide;
  canvas.height = high;
  const palette = layer.schema.options.palette as string | string[];
  const colours = new Uint32Array(key === "tile" ? tileColours(palette).map(pixel) : []);
  return { layer, version: 0, canvas, image: new ImageData(wide, high), colours };
}

/** Little-endian red, green, blue, opaque. */
export function pixel([red, green, blue]: RGB): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** The first and the last row that changed. */
function paintTiles({ image, colours }: Kept, cells: Uint8Array, old: Uint8Array | null): [number, number] | null {
  const pixels = new Uint32Array(image.data.buffer);
  let [first, last] = [-1, -1];
  const paint = (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      if (old && old[i] === cells[i]) continue;
      pixels[i] = colours[cells[i]!]!;
      if (first < 0) first = i;
      last = i;
    }
  };
  // Most of a large ground stands still: four tiles at a time are looked at, where they lie on whole words.
  const [now, then] = [words(cells), old && words(old)];
  if (now && then) for (let i = 0; i < now.length; i++) if (now[i] !== then[i]) paint(4 * i, 4 * i + 4);
  paint(now && then ? 4 * now.length : 0, cells.length);
  return first < 0 ? null : [Math.floor(first / image.width), Math.floor(last / image.width)];
}

function words(cells: Uint8Array): Uint32Array | null {
  return cells.byteOffset % 4 ? null : new Uint32Array(cells.buffer, cells.byteOffset, cells.length >> 2);
}

/** The same of a finished picture; most of it stands still from tick to tick. */
function paintPixels({ image }: Kept, rgb: Uint8Array, old: Uint8Array | null): [number, number] | null {
  const pixels = new Uint32Array(image.data.buffer);
  let [first, last] = [-1, -1];
  for (let i = 0, at = 0; i < pixels.length; i++, at += 3) {
    if (old && old[at] === rgb[at] && old[at + 1] === rgb[at + 1] && old[at + 2] === rgb[at + 2]) continue;
    pixels[i] = (255 << 24) | (rgb[at + 2]! << 16) | (rgb[at + 1]! << 8) | rgb[at]!;
    if (first < 0) first = i;
    last = i;
  }
  return first < 0 ? null : [Math.floor(first / image.width), Math.floor(last / image.width)];
}

/** How much of the ground is seen: the longer side of what is, as a share of the whole; null where nothing is hidden, or all. */
export function seenShare(scene: Scene): number | null {
  const layer = scene.layers.find(({ schema }) => schema.kind === "tiles");
  const cells = layer?.columns.get("tile");
  if (!layer || !cells?.includes(UNSEEN)) return null;
  const wide = layer.schema.width;
  let [left, right, first, last] = [Infinity, -1, -1, -1];
  cells.forEach((cell, i) => {
    if (cell === UNSEEN) return;
    const [row, column] = [Math.floor(i / wide), i % wide];
    [left, right, first, last] = [Math.min(left, column), Math.max(right, column), first < 0 ? row : first, row];
  });
  return last < 0 ? null : Math.max(right - left + 1, last - first + 1) / Math.max(wide, cells.length / wide);
}
