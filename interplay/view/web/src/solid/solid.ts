/** The solid renderer: the scene that flat.ts draws, as bodies on a ground. Loaded on demand. */

import { ColorManagement, Frustum, LinearSRGBColorSpace, Matrix4, Sphere, Vector3, WebGLRenderer } from "three";
import { AGENTS, agentsAt, isThere, middle, reach } from "../agents";
import type { Camera } from "../camera";
import { blockers, cone } from "../cones";
import { Shown, colourOf, opacityOf, signOf } from "../flat";
import { Glide } from "../glide";
import { Ground } from "../ground";
import * as palette from "../palette";
import { LEAST, RGB, mix, rgb } from "../palette";
import { Layer, flag, number } from "../scene";
import { brokenOf, drawnBars, names } from "../schema";
import { Cover } from "./cover";
import { Lens } from "./lens";
import { Paper } from "./paper";
import { Faces, box, card, plate, prism, ring, sideLight } from "./shapes";
import { Signs } from "./signs";
import { Terrain } from "./terrain";

const INK = rgb(palette.INK);
const PAPER = rgb(palette.PAPER);
const SIMPLE_TO = 4; // pixels of radius below which discs are boxes
const LABEL_FROM = 5; // pixels of radius below which bars and labels are left out
const ALIGN: Record<string, number> = { left: 0, right: 1 };
const THIN = 1.25; // pixels, a line of width 0
const [DASH, DOT] = [9, 3]; // pixels, and as much between them
const TALL = 0.75; // of a body's smaller side: its height
const FLOOR = 0.45; // of the world: what is wider lies on the ground
const DEAD = 0.15; // radii, the height of what is dimmed
const SHARED = 0.1; // of the world: rings up to here are drawn together
// Orders of drawing: tiles, an overlay, what lies on the ground, what stands there.
const [COVER, LYING, STANDING] = [66, 70, 200];

ColorManagement.enabled = false;

/**
 * The solid view on a canvas; null where the browser has no WebGL 2.
 *
 * @param lost is called with null in that case, and with the view when the browser takes its graphics away.
 */
export function makeSolid(canvas: HTMLCanvasElement, camera: Camera, lost: (made: Solid | null) => void): Solid | null {
  let made: Solid;
  try {
    made = new Solid(canvas, camera);
  } catch {
    setTimeout(() => lost(null));
    return null;
  }
  canvas.addEventListener("webglcontextlost", () => lost(made));
  return made;
}

export class Solid {
  readonly lens: Lens;
  private readonly renderer: WebGLRenderer;
  private readonly paper = new Paper();
  private readonly ground = new Ground();
  private readonly terrains = new Map<string, Terrain>();
  private readonly laid = new Map<number, Layer>(); // what the polygons of a layer show
  private readonly signs: Signs;
  private readonly cover: Cover;
  private readonly frustum = new Frustum();
  private readonly ball = new Sphere();
  private schema: unknown = null;
  private thick = false;
  private agents = -1; // their layer; strokes that are drawn after it are as high as their middles
  private lift = 0;
  private glides: Glide[] = [];
  private level = false; // nothing stands out of the ground: an overlay lies there
  private extent = 1; // the shorter side of the world

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly camera: Camera,
  ) {
    this.renderer = new WebGLRenderer({ canvas, alpha: true, antialias: true, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = LinearSRGBColorSpace; // colours are those of the palette, as they are
    this.renderer.setClearAlpha(0);
    this.renderer.localClippingEnabled = true;
    this.lens = new Lens(camera);
    this.signs = new Signs(this.paper.scene);
    this.cover = new Cover(COVER, this.paper.edges);
  }

  close(): void {
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  /** The pixel of an agent and pixels of a length there. */
  project(x: number, y: number, size: number): [number, number, number] {
    return this.lens.project(x, y, this.heightAt(x, y) + TALL * size);
  }

  draw(shown: Shown): void {
    const { camera, lens, renderer } = this;
    const first = shown.scene.layers[0]?.schema;
    if (first !== this.schema) this.clear();
    this.schema = first;
    this.thick = shown.thick;
    renderer.setPixelRatio(Math.min(devicePixelRatio || 1, 2));
    if (this.canvas.width !== Math.floor(camera.width * renderer.getPixelRatio()) || this.canvas.height !== Math.floor(camera.height * renderer.getPixelRatio())) renderer.setSize(camera.width, camera.height, false);
    lens.aim();
    this.frustum.setFromProjectionMatrix(new Matrix4().multiplyMatrices(lens.eye.projectionMatrix, lens.eye.matrixWorldInverse));
    this.paper.begin();
    this.signs.begin();
    this.board();
    const agents = (this.agents = agentsAt(shown.scene));
    const bodies = shown.scene.layers[agents];
    this.lift = bodies?.rows ? TALL * reach(bodies, 0) : 0;
    const overlay = shown.overlay?.form === "map" ? shown.overlay : null;
    this.level = overlay !== null;
    this.cover.update(overlay, this.paper.scene, camera.flip);
    const glides = (this.glides = shown.scene.layers.map((layer, place) => new Glide(layer, shown.next?.layers[place] ?? null, shown.share)));
    glides.forEach((glide, place) => glide.layer.schema.kind === "tiles" && this.tiles(glide.layer, place));
    glides.forEach((glide, place) => this.layer(glide, place));
    if (glides[agents] && shown.selected !== null) this.selection(glides[agents], shown.selected);
    if (glides[agents] && (shown.marked ?? null) !== null) this.selection(glides[agents], shown.marked!, true);
    this.paper.end();
    this.signs.end();
    renderer.render(this.paper.scene, lens.eye);
  }

  /** Another world. */
  private clear(): void {
    for (const terrain of this.terrains.values()) terrain.close();
    this.signs.clear();
    this.paper.clear();
    this.terrains.clear();
    this.laid.clear();
    const [, , wide, high] = this.camera.frame();
    this.extent = Math.min(wide, high) / this.camera.scale;
  }

  /** What the world lies on. */
  private board(): void {
    const [left, top, wide, high] = this.camera.frame();
    const { scale, flip } = this.camera;
    const [x, y] = [this.camera.worldX(left + wide / 2), this.camera.worldY(top + high / 2)];
    const [half, deep] = [wide / scale / 2, high / scale / 2];
    this.paper.bound(x - half, x + half, y * flip - deep, y * flip + deep);
    const rim = 0.012 * this.extent;
    const depth = 0.03 * this.extent;
    this.paper.batch("board", box, 0).put(x, -1.02 * depth, y * flip, half + rim, depth, deep + rim, 1, 0, rgb(palette.PAGE));
  }

  private layer(glide: Glide, place: number): void {
    const { kind } = glide.layer.schema;
    if (kind === "circles") this.circles(glide, place);
    else if (kind === "boxes") this.boxes(glide, place);
    else if (kind === "segments") this.segments(glide, place, place > this.agents ? this.lift : 0);
    else if (kind === "polygons") this.polygons(glide, place);
    else if (kind === "labels") this.labels(glide);
  }

  private tiles(layer: Layer, place: number): void {
    const { name } = layer.schema;
    let terrain = this.terrains.get(name);
    if (!terrain) this.terrains.set(name, (terrain = new Terrain(this.ground, layer, this.paper.scene, this.camera.flip, 1 + place, this.paper.bodies)));
    terrain.update(layer, this.camera.x, this.camera.y, this.level);
  }

  private heightAt(x: number, y: number): number {
    let most = 0;
    if (this.level) return most;
    for (const terrain of this.terrains.values()) most = Math.max(most, terrain.heightAt(x, y));
    return most;
  }

  // -- circles --------------------------------------------------------------------------------------------------

  private circles(glide: Glide, place: number): void {
    const { layer } = glide;
    const { options } = layer.schema;
    const [opacity, pixel] = [opacityOf(layer), 1 / this.lens.scale];
    if ("sight.chords" in options) this.cones(glide, place);
    for (const row of glide.rows()) {
      const [x, y] = [glide.at("x", row), glide.at("y", row)];
      const size = Math.max(number(layer, "radius", row), place === this.agents ? LEAST * pixel : 0);
      if (!this.inView(x, y, 3 * size)) continue;
      const z = y * this.camera.flip;
      const base = this.heightAt(x, y);
      const colour = colourOf(layer, row);
      if (options.fill === false) {
        this.ring(`${place}`, place, row, x, base, z, size, Math.max(Number(options.width ?? 0), 2 * THIN * pixel), colour, opacity, options.dashed === true);
        continue;
      }
      if (this.lies(layer, 2 * size)) {
        this.paper.batch(`${place}`, plate, LYING + place, this.paper.painted(opacity)).put(x, base, z, size, 1, size, 1, 0, colour);
        continue;
      }
      const dead = flag(layer, "dimmed", row);
      const small = size * this.lens.scale < SIMPLE_TO;
      const sign = small ? "simple" : signOf(layer, row) || "disc";
      const high = (dead ? DEAD : place === this.agents ? 2 * TALL : TALL) * size;
      this.paper.batch(`${place} ${sign}`, () => (small ? box() : prism(sign)), STANDING + 1).put(x, base, z, size * (small ? 0.85 : 1), high, size * (small ? 0.85 : 1), 1, 0, dead ? rgb(palette.FAINT) : colour);
      if (dead || small) continue;
      this.heading(glide, row, x, base + high, z, size);
      names(options.marks).forEach((mark, i) => {
        if (flag(layer, `mark.${mark}`, row)) this.ring(`mark ${i % 2}`, 99, row, x, base + 0.02 * size, z, size * (1.5 + 0.3 * i), 0.14 * size, INK, 1, i % 2 === 0);
      });
      if (size * this.lens.scale < LABEL_FROM) continue;
      this.bars(layer, row, x, base + high, z, size);
      const text = layer.text[row];
      if (typeof text === "string") this.signs.put(text, x + 1.2 * size * this.lens.right.x, base + high, z + 1.2 * size * this.lens.right.z, 1.5 * size, INK, true, 0);
    }
  }

  /** Where it looks to: a white stroke on its top. */
  private heading(glide: Glide, row: number, x: number, top: number, z: number, size: number): void {
    const { layer } = glide;
    if (!layer.columns.has("angle") && typeof layer.schema.options.angle !== "number") return;
    const angle = glide.angle("angle", row);
    const [c, s] = [Math.cos(angle), Math.sin(angle) * this.camera.flip];
    this.paper.batch("headings", box, STANDING + 2).put(x + 0.7 * size * c, top, z + 0.7 * size * s, 0.45 * size, 0.12 * size, 0.14 * size, c, s, PAPER);
  }

  private bars(layer: Layer, row: number, x: number, top: number, z: number, size: number): void {
    const { right, up, toEye } = this.lens;
    const [wide, high, gap] = [2.6 * size, 0.32 * size, 0.08 * size];
    const batch = this.paper.batch("bars", card, STANDING + 900);
    const place = new Vector3();
    const bars = drawnBars(layer.schema.options);
    bars.forEach((name, i) => {
      const full = number(layer, `bar.${name}.full`, row);
      const share = full > 0 ? number(layer, `bar.${name}`, row) / full : 0;
      const over = 0.7 * size + (bars.length - 1 - i) * (high + gap);
      // What lies over another part is nearer to the eye.
      const part = (near: number, left: number, low: number, long: number, tall: number, colour: string) => {
        place.set(x, top, z).addScaledVector(right, left).addScaledVector(up, over + low).addScaledVector(toEye, 0.04 * near * size);
        if (long > 0) batch.face(place.x, place.y, place.z, right, up, long, tall, rgb(colour));
      };
      part(1, -wide / 2 - gap, -gap, wide + 2 * gap, high + 2 * gap, palette.INK);
      part(2, -wide / 2, 0, wide, high, palette.BAR_EMPTY);
      part(3, -wide / 2, 0, wide * Math.min(Math.max(share, 0), 1), high, palette.barColour(i, bars.length, share));
      part(4, -wide / 2, 0, wide * Math.min(Math.max(share - 1, 0), 1), high, palette.BAR_MORE);
    });
  }

  private cones(glide: Glide, place: number): void {
    const { layer } = glide;
    const chords = layer.schema.options["sight.chords"] as number;
    const faces = new Faces();
    const blocked = blockers(glide, this.glides);
    for (const row of glide.rows()) {
      if (flag(layer, "dimmed", row)) continue;
      const [x, y, angle] = [glide.at("x", row), glide.at("y", row), glide.angle("angle", row)];
      const points = cone({ x, y, angle, depth: number(layer, "sight.depth", row), field: number(layer, "sight.angle", row) }, chords, blocked);
      const at = (i: number) => [points[i]!, 0, points[i + 1]! * this.camera.flip];
      for (let i = 2; i + 3 < points.length; i += 2) faces.triangle(at(0), at(i), at(i + 2), 1, colourOf(layer, row));
    }
    this.paper.mesh(`${place} sight`, faces.places, faces.colours, LYING + place, this.paper.painted(0.13));
  }

  private ring(name: string, place: number, row: number, x: number, base: number, z: number, size: number, width: number, colour: RGB, opacity: number, dashed: boolean): void {
    const inner = Math.max(1 - width / Math.max(size, 1e-9), 0.1);
    const material = this.paper.painted(opacity);
    const order = LYING + place;
    // The width is part of the geometry: small rings whose widths are near each other share one, large ones have their own.
    if (size <= SHARED * this.extent) {
      const near = Math.round(10 * inner) / 10;
      this.paper.batch(`${name} ring ${near}`, () => ring(near, dashed), order, material).put(x, base, z, size, 1, size, 1, 0, colour);
      return;
    }
    const shape = ring(inner, dashed);
    const places = shape.getAttribute("position").array.map((value, i) => value * (i % 3 === 1 ? 0 : size) + [x, base, z][i % 3]!);
    this.paper.mesh(`${name} ring ${row}`, places, places.map((_, i) => colour[i % 3]! / 255), order, material);
  }

  // -- the other kinds ------------------------------------------------------------------------------------------

  private boxes(glide: Glide, place: number): void {
    const { layer } = glide;
    const { options } = layer.schema;
    const [name, opacity] = [`${place}`, opacityOf(layer)];
    for (const row of glide.rows()) {
      const [x, y] = [glide.at("x", row), glide.at("y", row)];
      const angle = glide.angle("angle", row);
      const [c, s] = [Math.cos(angle), Math.sin(angle) * this.camera.flip];
      const [wide, deep] = [number(layer, "half_x", row), number(layer, "half_y", row)];
      if (!this.inView(x, y, 2 * Math.hypot(wide, deep))) continue;
      const [z, base, colour] = [y * this.camera.flip, this.heightAt(x, y), colourOf(layer, row)];
      const high = flag(layer, "dimmed", row) ? DEAD * Math.min(wide, deep) : 2 * TALL * Math.min(wide, deep);
      if (options.fill === false) this.frame(name, x, base, z, wide, deep, c, s, Number(options.width ?? 0), high, colour);
      else if (this.lies(layer, 2 * Math.max(wide, deep))) this.paper.batch(name, box, LYING + place, this.paper.painted(opacity)).put(x, base, z, wide, 0, deep, c, s, colour);
      else {
        this.paper.batch(name, box, STANDING + 1).put(x, base, z, wide, high, deep, c, s, colour);
        if (options.glyph === "crate") this.crate(name, x, base, z, wide, high, deep, c, s, colour);
      }
    }
  }

  /** Beams along the edges of its top and upright ones at its corners. */
  private crate(name: string, x: number, base: number, z: number, wide: number, high: number, deep: number, c: number, s: number, colour: RGB): void {
    const thick = 0.14 * Math.min(wide, deep);
    const beams = this.paper.batch(`${name} beams`, box, STANDING + 1);
    const dark = mix(colour, INK, 0.3);
    const put = (u: number, w: number, low: number, long: number, tall: number, broad: number) => beams.put(x + u * c - w * s, base + low, z + u * s + w * c, long, tall, broad, c, s, dark);
    for (const side of [-1, 1]) {
      put(0, side * (deep - thick), high - thick, wide * 1.02, 1.6 * thick, thick);
      put(side * (wide - thick), 0, high - thick, thick, 1.6 * thick, deep * 1.02);
      for (const other of [-1, 1]) put(side * (wide - 0.9 * thick), other * (deep - 0.9 * thick), 0, thick, high, thick);
    }
  }

  /** Walls, or what is laid around a box. */
  private frame(name: string, x: number, base: number, z: number, wide: number, deep: number, c: number, s: number, width: number, high: number, colour: RGB): void {
    const half = Math.max(width, THIN / this.lens.scale) / 2;
    const large = 2 * Math.max(wide, deep) > FLOOR * this.extent;
    const [low, tall] = large ? [0, Math.min(high, 0.035 * this.extent)] : [0.25 * high, 0.3 * high];
    const batch = this.paper.batch(name, box, STANDING + 1);
    const put = (u: number, w: number, long: number, broad: number) => batch.put(x + u * c - w * s, base + low, z + u * s + w * c, long, tall, broad, c, s, colour);
    for (const side of [-1, 1]) {
      put(0, side * deep, wide + half, half);
      put(side * wide, 0, half, deep - half);
    }
  }

  private segments(glide: Glide, place: number, lift: number): void {
    const { layer } = glide;
    const { options } = layer.schema;
    const { flip } = this.camera;
    const pixel = 1 / this.lens.scale;
    const half = Math.max(Number(options.width ?? 0), (this.thick ? 2 : 1) * 1.6 * pixel) / 2;
    const broken = brokenOf(options);
    const dash = broken === "dots" ? Math.max(2 * half, DOT * pixel) : Math.max(4 * half, DASH * pixel);
    const batch = this.paper.batch(`${place}`, box, STANDING + 2, opacityOf(layer) < 1 ? this.paper.painted(opacityOf(layer)) : this.paper.bodies);
    for (const row of glide.rows()) {
      const [x0, y0, x1, y1] = [glide.at("x0", row), glide.at("y0", row), glide.at("x1", row), glide.at("y1", row)];
      const length = Math.hypot(x1 - x0, y1 - y0);
      if (!this.inView((x0 + x1) / 2, (y0 + y1) / 2, length)) continue;
      const [c, s] = length > 0 ? [(x1 - x0) / length, ((y1 - y0) / length) * flip] : [1, 0];
      const parts = broken ? Math.min(Math.max(Math.round(length / dash), 3), broken === "dots" ? 120 : 40) | 1 : 1;
      const height = Math.max(this.heightAt(x0, y0), this.heightAt(x1, y1)) + lift;
      for (let i = 0; i < parts; i += 2) {
        const share = (i + 0.5) / parts;
        batch.put(x0 + (x1 - x0) * share, height, (y0 + (y1 - y0) * share) * flip, length / parts / 2, 2 * half, half, c, s, colourOf(layer, row));
      }
    }
  }

  private polygons(glide: Glide, place: number): void {
    const { layer } = glide;
    if (!glide.moves && this.laid.get(place) === layer && this.paper.again(`${place}`)) return;
    if (glide.moves) this.laid.delete(place);
    else this.laid.set(place, layer);
    const sides = (layer.columns.get("x")?.length ?? 0) / Math.max(layer.rows, 1);
    const rows = glide.rows();
    const lies = rows.some((row) => this.lies(layer, 2 * reach(layer, row)));
    const faces = new Faces();
    for (const row of rows) this.column(faces, glide, row, sides, lies ? 0 : TALL * (place === this.agents ? 1.5 : 1));
    this.paper.mesh(`${place}`, faces.places, faces.colours, lies ? LYING + place : STANDING + 1, lies ? this.paper.painted(opacityOf(layer)) : this.paper.bodies);
  }

  /** A polygon so many times as high as it reaches. */
  private column(faces: Faces, glide: Glide, row: number, sides: number, tall: number): void {
    const { layer } = glide;
    const { flip } = this.camera;
    const [x, y] = middle(glide, row);
    const base = this.heightAt(x, y);
    const top = base + tall * reach(layer, row) * (flag(layer, "dimmed", row) ? DEAD : 1);
    const colour = colourOf(layer, row);
    const first = row * sides;
    let [a, b] = [glide.at("x", row, first + sides - 1), glide.at("y", row, first + sides - 1) * flip];
    for (let i = first; i < first + sides; i++) {
      const [u, w] = [glide.at("x", row, i), glide.at("y", row, i) * flip];
      const turn = (a - x) * (w - y * flip) - (b - y * flip) * (u - x);
      const [c, d, e, f] = turn > 0 ? [u, w, a, b] : [a, b, u, w]; // seen from above against the clock
      faces.triangle([x, top, y * flip], [c, top, d], [e, top, f], 1, colour);
      if (top > base) faces.quad([c, base, d], [e, base, f], [e, top, f], [c, top, d], sideLight(d - f, e - c), colour);
      [a, b] = [u, w];
    }
  }

  private labels(glide: Glide): void {
    const { layer } = glide;
    const { align, halo } = layer.schema.options;
    for (const row of glide.rows()) {
      const text = layer.text[row];
      const [x, y, size] = [glide.at("x", row), glide.at("y", row), number(layer, "size", row)];
      if (typeof text !== "string" || !this.inView(x, y, size)) continue;
      this.signs.put(text, x, this.heightAt(x, y) + size, y * this.camera.flip, Math.max(size, 9 / this.lens.scale), colourOf(layer, row), halo !== false, ALIGN[String(align)]);
    }
  }

  /** A ring around the selected agent with a sign above that no wall hides; a dashed ring for one pointed at in a table. */
  private selection(glide: Glide, row: number, dashed = false): void {
    const { layer } = glide;
    if (!isThere(layer, row)) return;
    const [x, y] = middle(glide, row);
    const size = Math.max(reach(layer, row), 4 / this.lens.scale) * 1.35;
    const base = this.heightAt(x, y);
    this.paper.batch("selection, halo", () => ring(0.72, false), STANDING + 800, this.paper.over).put(x, base, y * this.camera.flip, 1.18 * size, 1, 1.18 * size, 1, 0, PAPER);
    this.paper.batch(dashed ? "marked" : "selection", () => ring(0.8, dashed), STANDING + 801, this.paper.over).put(x, base, y * this.camera.flip, 1.1 * size, 1, 1.1 * size, 1, 0, INK);
    if (dashed) return;
    const over = 2.6 + 0.4 * drawnBars(layer.schema.options).length; // radii
    this.signs.put("▼", x, base + over * reach(layer, row), y * this.camera.flip, Math.max(reach(layer, row), 16 / this.lens.scale), INK, true);
  }

  /** Whether it is a floor or a zone and no body. */
  private lies(layer: Layer, width: number): boolean {
    if (layer.schema.name === AGENTS) return false;
    return opacityOf(layer) < 1 || layer.schema.options.outline === false || width > FLOOR * this.extent;
  }

  private inView(x: number, y: number, size: number): boolean {
    this.ball.center.set(x, 0, y * this.camera.flip);
    this.ball.radius = size;
    return this.frustum.intersectsSphere(this.ball);
  }
}
