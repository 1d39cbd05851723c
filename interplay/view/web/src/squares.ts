/** Squares on whole pixels of a canvas: thousands as one picture, since a rectangle each takes ten times as long. */

import { pixel } from "./ground";
import { RGB, hex } from "./palette";

/** Lays squares over a canvas, later ones on top; the result is the same either way. */
export class Squares {
  from = 2000; // squares from which one picture is quicker, and worth its memory
  private pen!: CanvasRenderingContext2D;
  private image: ImageData | null = null; // kept, as is what it is copied to
  private pixels = new Uint32Array();
  private width = 0; // of the image, which tells its own too slowly
  private height = 0;
  private colour = 0;
  private together = false;
  private canvas: HTMLCanvasElement | null = null;

  /** Begins to lay about so many; until `end` the pen counts in pixels of its canvas. */
  begin(pen: CanvasRenderingContext2D, count: number): void {
    this.pen = pen;
    this.together = count >= this.from;
    pen.save();
    pen.resetTransform();
    if (this.together) this.clear(pen.canvas.width, pen.canvas.height);
  }

  /** The colour of those that follow. */
  use(colour: RGB): void {
    if (this.together) this.colour = pixel(colour);
    else this.pen.fillStyle = hex(colour);
  }

  /** One square, in whole pixels. */
  square(left: number, top: number, side: number): void {
    if (!this.together) return this.pen.fillRect(left, top, side, side);
    const { pixels, colour, width, height } = this;
    const [from, to, bottom] = [Math.max(left, 0), Math.min(left + side, width), Math.min(top + side, height)];
    for (let y = Math.max(top, 0); y < bottom; y++) for (let at = y * width + from; at < y * width + to; at++) pixels[at] = colour;
  }

  end(): void {
    if (this.together) {
      this.canvas!.getContext("2d")!.putImageData(this.image!, 0, 0);
      this.pen.drawImage(this.canvas!, 0, 0);
    }
    this.pen.restore();
  }

  private clear(width: number, height: number): void {
    if (this.width === width && this.height === height) return void this.pixels.fill(0);
    [this.width, this.height] = [width, height];
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.canvas ??= document.createElement("canvas");
    [this.canvas.width, this.canvas.height] = [width, height];
  }
}
