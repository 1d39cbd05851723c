/** The flat renderer: what interplay/view/paint.py draws, on a canvas of the page. */

import { AGENTS, agentsAt, isThere, middle, reach } from "./agents";
import { Camera } from "./camera";
import { blockers, cone } from "./cones";
import { Glide } from "./glide";
import { Ground } from "./ground";
import { Overlay, paint } from "./overlay";
import * as palette from "./palette";
import { GLYPH_FROM, LABEL_FROM, LEAST, LEAST_DOT, RGB, SPARSE, THIN, hex, mix, rgb, shapeOf } from "./palette";
import { Layer, Numbers, Scene, flag, number, numbers } from "./scene";
import { brokenOf, drawnBars, names } from "./schema";
import { circle, cross, sprite } from "./sprites";
import { Squares } from "./squares";

const DASHES = palette.dashes as [number, number];
const SQUARE_TO = 3; // pixels of radius below which agents are squares, drawn together
const THIN_TO = 2; // pixels of width to which the ends of lines are not rounded, which takes twice as long, but as much longer
const BLUNT = Math.PI / 8; // of the width: half a disc has the area of an end that is longer by so much
const FONT = 0.69; // of a text's height: the size of the letters, as in interplay's pictures
const PALE = 0.55; // of white over the ground below an overlay, so that its greys are lighter than those of a scale
const INK = rgb(palette.INK);
const COLOURS = Array.from({ length: 256 }, (_, number) => rgb(number));
const ALIGN: Record<string, CanvasTextAlign> = { left: "left", centre: "center", right: "right" };

export interface Shown {
  scene: Scene;
  next: Scene | null;
  share: number; // of the distance to the next one
  selected: number | null; // row of the layer called "agents"
  thick: boolean; // the system is set to more contrast
  overlay?: Overlay | null; // over the ground
  marked?: number | null; // row of that layer, pointed at elsewhere
  rays?: Rays[]; // of the selected agent
}

/** Rays of an agent: angles from its heading, and lengths in the world's units; null if unknown. */
export interface Rays {
  angles: number[];
  lengths: (number | null)[];
}

interface Words {
  text: string;
  x: number;
  y: number;
  size: number;
  colour: string;
  align: CanvasTextAlign;
  halo: boolean;
}

export class Flat {
  private readonly ground = new Ground();
  private readonly small = new Squares();
  private texts: Words[] = [];
  private glides: Glide[] = [];
  private pen: CanvasRenderingContext2D;
  private ratio = 1;
  private camera!: Camera;
  private thick = false;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.pen = canvas.getContext("2d", { alpha: true })!;
  }

  /** Draws one picture; the canvas gets the size that the camera has. */
  draw(shown: Shown, camera: Camera): void {
    const { canvas, pen } = this;
    this.camera = camera;
    this.thick = shown.thick;
    this.ratio = Math.min(window.devicePixelRatio || 1, 3);
    const [width, height] = [Math.round(camera.width * this.ratio), Math.round(camera.height * this.ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, camera.width, camera.height);
    this.texts = [];
    const finished = shown.scene.layers.find((layer) => layer.schema.kind === "picture");
    if (finished) return this.ground.picture(pen, finished, camera.width, camera.height);
    this.page();
    const agents = agentsAt(shown.scene);
    const over = overlayAt(shown.scene, agents);
    this.glides = shown.scene.layers.map((layer, place) => new Glide(layer, shown.next?.layers[place] ?? null, shown.share));
    this.glides.forEach((glide, place) => {
      if (shown.overlay?.form === "map" && place === over) this.overlay(shown.overlay);
      if (place === agents && shown.selected !== null) for (const rays of shown.rays ?? []) this.rays(glide, shown.selected, rays);
      this.layer(glide);
      if (place === agents && shown.selected !== null) this.selection(glide, shown.selected);
      if (place === agents && (shown.marked ?? null) !== null) this.selection(glide, shown.marked!, true);
    });
    for (const words of this.texts) this.write(words);
  }

  /** Lines from an agent's middle. */
  private rays(glide: Glide, row: number, { angles, lengths }: Rays): void {
    const { pen, camera } = this;
    if (!isThere(glide.layer, row)) return;
    const [x, y] = middle(glide, row);
    const [px, py] = [camera.screenX(x), camera.screenY(y)];
    const heading = glide.layer.columns.has("angle") ? glide.angle("angle", row) : 0;
    pen.beginPath();
    angles.forEach((angle, i) => {
      const length = (lengths[i] ?? 0) * camera.scale;
      pen.moveTo(px, py);
      pen.lineTo(px + Math.cos(heading + angle) * length, py + Math.sin(heading + angle) * length * camera.flip);
    });
    for (const [width, colour] of [[3, palette.PAPER], [this.thick ? 2 : 1, palette.INK]] as const) {
      [pen.lineWidth, pen.strokeStyle] = [width, colour];
      pen.stroke();
    }
  }

  private page(): void {
    const [left, top, width, height] = this.camera.frame();
    this.pen.fillStyle = palette.PAGE;
    const margin = 6;
    this.pen.beginPath();
    this.pen.roundRect(left - margin, top - margin, width + 2 * margin, height + 2 * margin, 6);
    this.pen.fill();
  }

  /** One picture over what was drawn so far, which becomes pale and grey. */
  private overlay(overlay: Overlay): void {
    const { pen, camera } = this;
    const [x, y] = overlay.origin;
    const size = overlay.cell * camera.scale;
    pen.save();
    pen.globalCompositeOperation = "saturation";
    pen.fillStyle = palette.PAPER;
    pen.fillRect(...camera.frame());
    pen.globalCompositeOperation = "source-over";
    pen.globalAlpha = PALE;
    pen.fillRect(...camera.frame());
    pen.globalAlpha = 1;
    pen.imageSmoothingEnabled = size < 1;
    pen.translate(camera.screenX(x), camera.screenY(y));
    pen.scale(1, camera.flip);
    pen.drawImage(paint(overlay), 0, 0, overlay.width * size, overlay.height * size);
    pen.restore();
  }

  private layer(glide: Glide): void {
    const { kind } = glide.layer.schema;
    if (kind === "tiles") this.ground.tiles(this.pen, glide.layer, this.camera);
    else if (kind === "circles") this.circles(glide);
    else if (kind === "boxes") this.boxes(glide);
    else if (kind === "segments") this.segments(glide);
    else if (kind === "polygons") this.polygons(glide);
    else if (kind === "labels") this.labels(glide);
  }

  // -- circles --------------------------------------------------------------------------------------------------

  /** Cones of sight first, then the discs, then bars and labels, so that no disc hides a neighbour's bar. */
  private circles(glide: Glide): void {
    const { layer } = glide;
    const rows = this.inView(glide);
    if ("sight.chords" in layer.schema.options) this.cones(glide);
    const filled = layer.schema.options.fill !== false;
    if (!rows.length) return;
    if (!filled && isBare(layer)) return this.rings(glide, rows);
    const radius = numbers(layer, "radius");
    const dimmed = layer.columns.get("dimmed");
    const small = filled && opacityOf(layer) === 1 ? rows.filter((row) => this.pixels(radius(row)) < SQUARE_TO && !dimmed?.[row]) : [];
    this.squares(glide, small);
    if (small.length === rows.length) return;
    const drawn = new Set(small);
    for (const row of rows) if (!drawn.has(row)) this.circle(glide, row);
    for (const row of rows) {
      if (flag(layer, "dimmed", row) || this.pixels(number(layer, "radius", row)) < LABEL_FROM) continue;
      this.bars(glide, row);
      this.label(glide, row);
    }
  }

  /** Agents of few pixels: squares on whole pixels, batched by colour, on darker ones where there is room for a rim. */
  private squares(glide: Glide, rows: readonly number[]): void {
    if (!rows.length) return;
    const { layer } = glide;
    const batches = new Map<number, number[]>();
    for (const row of rows) {
      const colour = colourOf(layer, row);
      const key = (colour[0] << 16) | (colour[1] << 8) | colour[2];
      const batch = batches.get(key);
      if (batch) batch.push(row);
      else batches.set(key, [row]);
    }
    const rim = layer.schema.options.outline !== false;
    const radius = numbers(layer, "radius");
    this.small.begin(this.pen, rows.length);
    for (const [key, batch] of batches) {
      const colour: RGB = [key >> 16, (key >> 8) & 255, key & 255];
      const rimmed = rim ? batch.filter((row) => this.pixels(radius(row)) >= GLYPH_FROM / 2) : [];
      this.fillSquares(glide, rimmed, mix(colour, INK, 0.55), 1);
      this.fillSquares(glide, batch, colour, 0);
    }
    this.small.end();
  }

  private fillSquares(glide: Glide, rows: readonly number[], colour: RGB, more: number): void {
    const { ratio, camera, small } = this;
    const [xs, ys, radius] = [glide.places("x"), glide.places("y"), numbers(glide.layer, "radius")];
    small.use(colour);
    const least = glide.layer.schema.name === AGENTS ? LEAST : 1;
    for (const row of rows) {
      const side = Math.max(Math.round(2 * (Math.max(this.pixels(radius(row)), least) + more) * ratio), 2);
      small.square(Math.round(camera.screenX(xs[row]!) * ratio - side / 2), Math.round(camera.screenY(ys[row]!) * ratio - side / 2), side);
    }
  }

  /** Rings of one look: small ones are rectangles each by itself, since a path of thousands takes longer; the others one path. */
  private rings(glide: Glide, rows: readonly number[]): void {
    const { layer } = glide;
    const { pen, camera } = this;
    const [xs, ys, radius] = [glide.places("x"), glide.places("y"), numbers(layer, "radius")];
    this.pencil(hex(colourOf(layer, 0)), this.lineWidth(layer));
    pen.beginPath();
    for (const row of rows) {
      const [x, y, size] = [camera.screenX(xs[row]!), camera.screenY(ys[row]!), this.pixels(radius(row))];
      if (size < SQUARE_TO) pen.strokeRect(x - size, y - size, 2 * size, 2 * size);
      else {
        pen.moveTo(x + size, y);
        pen.arc(x, y, size, 0, 2 * Math.PI);
      }
    }
    pen.stroke();
  }

  private circle(glide: Glide, row: number): void {
    const { layer } = glide;
    const { options } = layer.schema;
    const [x, y] = [this.x(glide, row), this.y(glide, row)];
    const size = this.pixels(number(layer, "radius", row));
    const [colour, opacity] = [colourOf(layer, row), opacityOf(layer, row)];
    if (options.fill === false) return this.ring(x, y, size, hex(colour), this.lineWidth(layer), opacity, options.dashed === true);
    if (flag(layer, "dimmed", row)) {
      this.ring(x, y, size, palette.FAINT, 1.5, 0.8, false);
      this.pen.globalAlpha = 0.8;
      cross(this.pen, x, y, 0.45 * size, palette.FAINT, 0.25 * size, Math.PI / 4);
      this.pen.globalAlpha = 1;
      return;
    }
    const rim = options.outline !== false && size >= GLYPH_FROM / 2 && opacity === 1;
    const sign = size >= GLYPH_FROM ? signOf(layer, row) : "";
    this.pen.globalAlpha = opacity;
    if (size > 200) this.large(x, y, size, colour, rim);
    else this.stamp(x, y, { colour, size, rim: rim ? (this.thick ? 2 : 1) : 0, sign });
    this.pen.globalAlpha = 1;
    if (size < GLYPH_FROM) return;
    this.heading(glide, row, x, y, size);
    names(options.marks).forEach((name, i) => {
      if (flag(layer, `mark.${name}`, row)) this.ring(x, y, size * (1.3 + 0.25 * i), palette.INK, THIN, 0.9, i % 2 === 0);
    });
  }

  private stamp(x: number, y: number, look: { colour: RGB; size: number; rim: number; sign: string }): void {
    const picture = sprite(look, this.ratio);
    const side = picture.width / this.ratio;
    this.pen.drawImage(picture, x - side / 2, y - side / 2, side, side);
  }

  /** Floors and zones: larger than a sprite should be. */
  private large(x: number, y: number, size: number, colour: RGB, rim: boolean): void {
    circle(this.pen, x, y, size);
    this.pen.fillStyle = hex(colour);
    this.pen.fill();
    if (rim) this.ring(x, y, size, hex(mix(colour, INK, 0.55)), 3, 1, false);
  }

  private heading(glide: Glide, row: number, x: number, y: number, size: number): void {
    const { layer } = glide;
    if (!layer.columns.has("angle") && typeof layer.schema.options.angle !== "number") return;
    const angle = glide.angle("angle", row);
    const [dx, dy] = [Math.cos(angle) * size, Math.sin(angle) * size * this.camera.flip];
    this.stroke([x + 0.5 * dx, y + 0.5 * dy, x + 0.95 * dx, y + 0.95 * dy], palette.PAPER, Math.max(1.5, 0.2 * size));
  }

  private cones(glide: Glide): void {
    const { layer } = glide;
    const { pen, camera } = this;
    const chords = layer.schema.options["sight.chords"] as number;
    pen.save();
    pen.beginPath();
    pen.rect(...camera.frame());
    pen.clip();
    const blocked = blockers(glide, this.glides);
    for (const row of glide.rows()) {
      if (flag(layer, "dimmed", row)) continue;
      const [x, y, angle] = [glide.at("x", row), glide.at("y", row), glide.angle("angle", row)];
      const eye = { x, y, angle, depth: number(layer, "sight.depth", row), field: number(layer, "sight.angle", row) };
      const points = cone(eye, chords, blocked).map((value, i) => (i % 2 ? camera.screenY(value) : camera.screenX(value)));
      const colour = hex(colourOf(layer, row));
      this.area(points, colour, 0.1);
      this.outline(points, colour, 1, 0.25);
    }
    pen.restore();
  }

  private bars(glide: Glide, row: number): void {
    const { layer } = glide;
    const bars = drawnBars(layer.schema.options);
    if (!bars.length) return;
    const size = this.pixels(number(layer, "radius", row));
    const several = bars.length > 1; // these stand on each other, and are thinner
    const [width, height] = [Math.max(22, 2.6 * size), Math.max(several ? 3 : 3.5, (several ? 0.3 : 0.42) * size)];
    const left = this.x(glide, row) - width / 2;
    const top = this.y(glide, row) - 1.45 * size - height;
    bars.forEach((name, i) => {
      const full = number(layer, `bar.${name}.full`, row);
      const share = full > 0 ? number(layer, `bar.${name}`, row) / full : 0;
      this.bar(left, top - (bars.length - 1 - i) * (height + 1), width, height, share, palette.barColour(i, bars.length, share));
    });
  }

  private bar(left: number, top: number, width: number, height: number, share: number, own: string): void {
    const { pen } = this;
    const part = (colour: string, of: number) => {
      pen.fillStyle = colour;
      pen.fillRect(left, top, width * Math.min(Math.max(of, 0), 1), height);
    };
    pen.fillStyle = palette.INK;
    pen.fillRect(left - 1, top - 1, width + 2, height + 2);
    part(palette.BAR_EMPTY, 1);
    part(own, share);
    part(palette.BAR_MORE, share - 1); // what exceeds the full value, over it
  }

  private label(glide: Glide, row: number): void {
    const text = glide.layer.text[row];
    if (typeof text !== "string") return;
    const size = this.pixels(number(glide.layer, "radius", row));
    const [x, y] = [this.x(glide, row) + 1.25 * size + 2, this.y(glide, row)];
    this.texts.push({ text, x, y, size: 1.9 * size + 3, colour: palette.INK, align: "left", halo: true });
  }

  // -- the other kinds ------------------------------------------------------------------------------------------

  private boxes(glide: Glide): void {
    const { layer } = glide;
    for (const row of glide.rows()) {
      const [x, y, angle] = [this.x(glide, row), this.y(glide, row), glide.angle("angle", row)];
      const [half_x, half_y] = [this.pixels(number(layer, "half_x", row)), this.pixels(number(layer, "half_y", row))];
      const corners = boxCorners(x, y, half_x, half_y, angle, this.camera.flip);
      this.shape(layer, row, corners);
      if (layer.schema.options.glyph === "crate") this.crate(layer, row, x, y, corners);
    }
  }

  private crate(layer: Layer, row: number, x: number, y: number, corners: number[]): void {
    const [colour, opacity] = [colourOf(layer, row), opacityOf(layer, row)];
    const inner = corners.map((value, i) => (i % 2 ? y : x) + (value - (i % 2 ? y : x)) * 0.78);
    const board = hex(mix(colour, INK, 0.22));
    this.pen.globalAlpha = opacity;
    this.stroke([...inner.slice(0, 2), ...inner.slice(4, 6)], board, 1);
    this.stroke([...inner.slice(2, 4), ...inner.slice(6, 8)], board, 1);
    this.pen.globalAlpha = 1;
    this.outline(inner, board, 1, opacity);
    this.outline(corners, hex(mix(colour, INK, 0.45)), THIN, opacity);
  }

  private polygons(glide: Glide): void {
    const { layer } = glide;
    const count = (layer.columns.get("x")?.length ?? 0) / Math.max(layer.rows, 1);
    for (const row of glide.rows()) {
      const points: number[] = [];
      for (let i = row * count; i < (row + 1) * count; i++) points.push(this.camera.screenX(glide.at("x", row, i)), this.camera.screenY(glide.at("y", row, i)));
      this.shape(layer, row, points);
    }
  }

  private shape(layer: Layer, row: number, points: number[]): void {
    const [colour, opacity] = [colourOf(layer, row), opacityOf(layer, row)];
    const { fill, width } = layer.schema.options;
    const filled = fill !== false;
    if (filled) this.area(points, hex(colour), opacity);
    const edge = filled ? mix(colour, INK, 0.45) : colour;
    if (!filled || Number(width) > 0) this.outline(points, hex(edge), this.lineWidth(layer), opacity);
  }

  private segments(glide: Glide): void {
    const { layer } = glide;
    const { pen, camera } = this;
    const broken = brokenOf(layer.schema.options);
    const [width, opacity] = [Math.max(this.lineWidth(layer), broken === "dots" ? LEAST_DOT : 0), opacityOf(layer)];
    const dashes = broken === "dots" ? [0, Math.max(SPARSE, 2 * width)] : broken ? [Math.max(DASHES[0], 2 * width), Math.max(DASHES[1], width)] : [];
    const together = opacity === 1 && isAlike(layer); // where lines cross, one path would be paler than several
    const blunt = together && !dashes.length && width <= THIN_TO ? BLUNT * width : 0;
    const [fromX, fromY, toX, toY] = ["x0", "y0", "x1", "y1"].map((name) => glide.places(name)) as [Numbers, Numbers, Numbers, Numbers];
    let longest = 0;
    pen.beginPath();
    for (const row of glide.rows()) {
      const [x0, y0, x1, y1] = [camera.screenX(fromX[row]!), camera.screenY(fromY[row]!), camera.screenX(toX[row]!), camera.screenY(toY[row]!)];
      if (Math.max(x0, x1) < -width || Math.max(y0, y1) < -width || Math.min(x0, x1) > camera.width + width || Math.min(y0, y1) > camera.height + width) continue;
      if (together) {
        const length = Math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2);
        const [dx, dy] = length > 0 ? [(blunt * (x1 - x0)) / length, (blunt * (y1 - y0)) / length] : [blunt, 0];
        longest = Math.max(longest, length);
        pen.moveTo(x0 - dx, y0 - dy);
        pen.lineTo(x1 + dx, y1 + dy);
        continue;
      }
      pen.globalAlpha = opacityOf(layer, row);
      this.stroke([x0, y0, x1, y1], hex(colourOf(layer, row)), width, dashes);
      pen.globalAlpha = 1;
    }
    // Lines that end within their first dash look the same without dashes, which take long.
    const short = longest < (dashes[0] || dashes[1] || 0);
    if (together) this.strokePath(hex(colourOf(layer, 0)), width, short ? [] : dashes, blunt > 0 ? "butt" : capOf(dashes));
  }

  private labels(glide: Glide): void {
    const { layer } = glide;
    const { align, halo } = layer.schema.options;
    for (const row of glide.rows()) {
      const text = layer.text[row];
      if (typeof text !== "string") continue;
      const size = this.pixels(number(layer, "size", row));
      this.texts.push({ text, x: this.x(glide, row), y: this.y(glide, row), size, colour: hex(colourOf(layer, row)), align: ALIGN[String(align)] ?? "center", halo: halo !== false });
    }
  }

  /** A ring around the selected agent, or a dashed one around an agent pointed at in a table, visible on any ground. */
  private selection(glide: Glide, row: number, dashed = false): void {
    const { layer } = glide;
    if (!isThere(layer, row)) return;
    const place = middle(glide, row);
    const [x, y] = [this.camera.screenX(place[0]), this.camera.screenY(place[1])];
    const size = Math.max(this.pixels(reach(layer, row)), 3) + 4;
    this.ring(x, y, size, palette.PAPER, 5, 1, false);
    this.ring(x, y, size, palette.INK, 2.5, 1, dashed);
  }

  // -- strokes, in pixels ---------------------------------------------------------------------------------------

  private ring(x: number, y: number, size: number, colour: string, width: number, opacity: number, dashed: boolean): void {
    const { pen } = this;
    const turns = Math.max(24, Math.min(240, Math.floor(size)));
    const dash = (4 * Math.PI * size) / turns;
    pen.globalAlpha = opacity;
    pen.lineCap = "butt";
    pen.setLineDash(dashed ? [dash, dash] : []);
    circle(pen, x, y, size);
    pen.strokeStyle = colour;
    pen.lineWidth = this.thick ? width + 1 : width;
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  private trace(points: number[]): void {
    this.pen.beginPath();
    for (let i = 0; i < points.length; i += 2) this.pen.lineTo(points[i]!, points[i + 1]!);
  }

  private area(points: number[], colour: string, opacity: number): void {
    this.trace(points);
    this.pen.globalAlpha = opacity;
    this.pen.fillStyle = colour;
    this.pen.fill();
    this.pen.globalAlpha = 1;
  }

  private outline(points: number[], colour: string, width: number, opacity: number): void {
    this.trace(points);
    this.pen.closePath();
    this.pen.globalAlpha = opacity;
    this.pen.lineJoin = "round";
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = this.thick ? width + 1 : width;
    this.pen.stroke();
    this.pen.globalAlpha = 1;
  }

  private stroke(points: number[], colour: string, width: number, dashes: number[] = []): void {
    this.trace(points);
    this.strokePath(colour, width, dashes);
  }

  private strokePath(colour: string, width: number, dashes: number[], cap = capOf(dashes)): void {
    const { pen } = this;
    pen.setLineDash(dashes);
    pen.lineCap = cap;
    this.pencil(colour, width);
    pen.stroke();
    pen.setLineDash([]);
  }

  private pencil(colour: string, width: number): void {
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = this.thick ? width + 1 : width;
  }

  private write({ text, x, y, size, colour, align, halo }: Words): void {
    const { pen } = this;
    pen.font = `700 ${FONT * Math.min(Math.max(size, 8), 400)}px Helvetica, Arial, "Liberation Sans", sans-serif`;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    if (halo) {
      pen.strokeStyle = palette.PAPER;
      pen.lineWidth = 2.5;
      pen.lineJoin = "round";
      pen.strokeText(text, x, y);
    }
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  }

  // -- places ---------------------------------------------------------------------------------------------------

  private inView(glide: Glide): readonly number[] {
    const { camera } = this;
    const rows = glide.rows();
    if (!rows.length) return rows;
    const [xs, ys, radius] = [glide.places("x"), glide.places("y"), numbers(glide.layer, "radius")];
    return rows.filter((row) => {
      const room = this.pixels(radius(row)) + 40; // bars and labels stand beside
      const x = camera.screenX(xs[row]!);
      if (x < -room || x > camera.width + room) return false;
      const y = camera.screenY(ys[row]!);
      return y > -room && y < camera.height + room;
    });
  }

  private x(glide: Glide, row: number): number {
    return this.camera.screenX(glide.at("x", row));
  }

  private y(glide: Glide, row: number): number {
    return this.camera.screenY(glide.at("y", row));
  }

  private pixels(length: number): number {
    return length * this.camera.scale;
  }

  private lineWidth(layer: Layer): number {
    return Math.max(Number(layer.schema.options.width ?? 0) * this.camera.scale, THIN);
  }
}

/** The layer below which an overlay lies: the first one above the tiles, or that of the agents where there are none. */
function overlayAt(scene: Scene, agents: number): number {
  const tiles = scene.layers.findLastIndex(({ schema }) => schema.kind === "tiles");
  return tiles >= 0 ? tiles + 1 : agents;
}

/** x, y of the four corners one after another, in pixels. */
function boxCorners(x: number, y: number, half_x: number, half_y: number, angle: number, flip: number): number[] {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].flatMap(([i, j]) => {
    const [dx, dy] = [i! * half_x, j! * half_y];
    return [x + dx * c - dy * s, y + (dx * s + dy * c) * flip];
  });
}

/** Ends of lines: dots are dashes of no length whose ends are round. */
function capOf(dashes: number[]): CanvasLineCap {
  return dashes[0] ? "butt" : "round";
}

/** Whether all rows of a layer look alike but for their places. */
function isAlike({ columns }: Layer): boolean {
  return !columns.has("colour") && !columns.has("rgb") && !columns.has("dimmed");
}

/** Whether a layer of rings has nothing but rings, each like the next. */
function isBare(layer: Layer): boolean {
  const { bars, marks, dashed } = layer.schema.options;
  return isAlike(layer) && opacityOf(layer) === 1 && dashed !== true && !names(bars).length && !names(marks).length && !layer.text.length && !layer.columns.has("angle");
}

/** The colour of a row. */
export function colourOf(layer: Layer, row: number): RGB {
  const number = layer.columns.get("colour")?.[row];
  if (number !== undefined) return COLOURS[number]!;
  const own = layer.columns.get("rgb");
  if (own) return [own[3 * row]!, own[3 * row + 1]!, own[3 * row + 2]!];
  const { colour } = layer.schema.options;
  return rgb(typeof colour === "string" || typeof colour === "number" ? colour : 0);
}

/** The opacity of a layer, or of a row of it. */
export function opacityOf(layer: Layer, row?: number): number {
  const { opacity } = layer.schema.options;
  return (typeof opacity === "number" ? Math.min(Math.max(opacity, 0), 1) : 1) * (row !== undefined && flag(layer, "dimmed", row) ? 0.3 : 1);
}

/** The sign inside a row; empty for none. */
export function signOf(layer: Layer, row: number): string {
  const { glyph, colour } = layer.schema.options;
  if (glyph !== "team") return typeof glyph === "string" ? glyph : "";
  const own = layer.columns.get("colour")?.[row] ?? colour ?? 0;
  return typeof own === "number" ? shapeOf(own) : "disc";
}
