/** Tiles and finished pictures: one picture of a pixel per tile, where only changed pixels are written again. */

import { Camera } from "./camera";
import { RGB, tileColours } from "./palette";
import { Layer } from "./scene";

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
    const rows = key === "tile" ? paintTiles(kept, cells, old) : paintPixels(kept, cells);
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
  for (let i = 0; i < cells.length; i++) {
    if (old && old[i] === cells[i]) continue;
    pixels[i] = colours[cells[i]!]!;
    if (first < 0) first = i;
    last = i;
  }
  return first < 0 ? null : [Math.floor(first / image.width), Math.floor(last / image.width)];
}

function paintPixels({ image }: Kept, rgb: Uint8Array): [number, number] {
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = pixel([rgb[3 * i]!, rgb[3 * i + 1]!, rgb[3 * i + 2]!]);
  return [0, image.height - 1];
}
