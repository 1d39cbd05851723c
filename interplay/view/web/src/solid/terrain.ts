/** Tiles in the solid view: a plane with a pixel per tile, and near the eye what stands out of it as one mesh. */

import { BufferGeometry, DataTexture, LinearFilter, Material, Mesh, MeshBasicMaterial, NearestFilter, Scene } from "three";
import { Ground, Kept } from "../ground";
import { HEIGHTS } from "../palette";
import type { Layer } from "../scene";
import { fill, sideLight, square } from "./shapes";

const NEAR = 40; // tiles around the place that is looked at
const MOVED = 8; // tiles, after which they are others

export class Terrain {
  private readonly plane: Mesh<BufferGeometry, MeshBasicMaterial>;
  private readonly raised: Mesh;
  private texture: DataTexture | null = null;
  private kept: Kept | null = null;
  private version = -1;
  private built = { version: -1, column: 0, row: 0 };
  private places: Float32Array = new Float32Array(3 * 8192); // of corners, and their colours
  private colours: Float32Array = new Float32Array(3 * 8192);
  private used = 0;
  private readonly heights: readonly number[] | null;

  constructor(
    private readonly ground: Ground,
    layer: Layer,
    scene: Scene,
    private readonly flip: number,
    order: number,
    bodies: Material,
  ) {
    this.heights = layer.schema.options.palette === "terrain" ? HEIGHTS : null;
    this.plane = new Mesh(new BufferGeometry(), new MeshBasicMaterial({ depthWrite: false }));
    this.plane.renderOrder = order;
    this.raised = new Mesh(new BufferGeometry(), bodies);
    this.raised.frustumCulled = this.plane.frustumCulled = false;
    scene.add(this.plane, this.raised);
  }

  close(): void {
    this.texture?.dispose();
    this.plane.material.dispose();
  }

  /** Draws the layer as it is now, raised around (x, y), or level. */
  update(layer: Layer, x: number, y: number, level: boolean): void {
    const kept = this.ground.upToDate(layer, "tile");
    if (kept !== this.kept) this.lay(kept);
    if (kept.version !== this.version) this.texture!.needsUpdate = true;
    this.version = kept.version;
    if (this.heights && !level) this.raise(x, y);
    this.raised.visible = !level && this.used > 0;
  }

  /** How high the ground is at a place. */
  heightAt(x: number, y: number): number {
    if (!this.kept || !this.heights) return 0;
    const { origin, cell } = this.kept.layer.schema.options as { origin: number[]; cell: number };
    return this.heightOf(Math.floor((x - origin[0]!) / cell), Math.floor((y - origin[1]!) / cell)) * cell;
  }

  private heightOf(column: number, row: number): number {
    const { canvas, layer } = this.kept!;
    if (column < 0 || row < 0 || column >= canvas.width || row >= canvas.height) return 0;
    return this.heights![layer.columns.get("tile")![row * canvas.width + column]!] ?? 0; // what fog hides is level
  }

  /** The plane, of the size that the tiles have. */
  private lay(kept: Kept): void {
    this.kept = kept;
    this.built.version = this.version = -1;
    const { origin, cell } = kept.layer.schema.options as { origin: number[]; cell: number };
    const { width, height } = kept.canvas;
    const [x0, z0] = [origin[0]!, origin[1]! * this.flip];
    const [x1, z1] = [x0 + width * cell, (origin[1]! + height * cell) * this.flip];
    const { geometry, material } = this.plane;
    square(x0, z0, x1, z1, geometry);
    this.texture?.dispose();
    this.texture = new DataTexture(kept.image.data, width, height);
    this.texture.magFilter = NearestFilter;
    this.texture.minFilter = LinearFilter;
    material.map = this.texture;
    material.side = 2;
    material.needsUpdate = true;
  }

  private raise(x: number, y: number): void {
    const { layer, canvas } = this.kept!;
    const { origin, cell } = layer.schema.options as { origin: number[]; cell: number };
    const [column, row] = [Math.floor((x - origin[0]!) / cell), Math.floor((y - origin[1]!) / cell)];
    const { built } = this;
    if (built.version === this.version && Math.max(Math.abs(built.column - column), Math.abs(built.row - row)) < MOVED) return;
    this.built = { version: this.version, column, row };
    this.used = 0;
    const tiles = layer.columns.get("tile")!;
    for (let j = Math.max(row - NEAR, 0); j < Math.min(row + NEAR, canvas.height); j++) {
      const end = Math.min(column + NEAR, canvas.width);
      for (let i = Math.max(column - NEAR, 0); i < end; i++) {
        const tile = tiles[j * canvas.width + i]!;
        const height = this.heightOf(i, j);
        if (!height) continue;
        let last = i;
        while (last + 1 < end && tiles[j * canvas.width + last + 1] === tile) last++;
        this.block(i, last, j, height);
        i = last;
      }
    }
    this.send();
  }

  /** Tiles of one kind side by side: one top, and the sides that can be seen. */
  private block(first: number, last: number, row: number, height: number): void {
    const high = this.heightOf;
    const west = high.call(this, first - 1, row);
    const east = high.call(this, last + 1, row);
    const colour = first + row * this.kept!.canvas.width;
    this.quad(first, row, last + 1, row, first, row + 1, last + 1, row + 1, height, height, colour, 1);
    if (west < height) this.quad(first, row, first, row + 1, first, row, first, row + 1, height, west, colour, sideLight(-1, 0));
    if (east < height) this.quad(last + 1, row + 1, last + 1, row, last + 1, row + 1, last + 1, row, height, east, colour, sideLight(1, 0));
    for (const [next, edge, light] of [[row - 1, row, sideLight(0, -this.flip)], [row + 1, row + 1, sideLight(0, this.flip)]] as const) {
      for (let i = first; i <= last; i++) {
        const low = high.call(this, i, next);
        if (low >= height) continue;
        let end = i;
        while (end < last && high.call(this, end + 1, next) === low) end++;
        this.quad(i, edge, end + 1, edge, i, edge, end + 1, edge, height, low, colour, light);
        i = end;
      }
    }
  }

  /** Two corners at one height, two at another. */
  private quad(x0: number, y0: number, x1: number, y1: number, x2: number, y2: number, x3: number, y3: number, height: number, low: number, tile: number, light: number): void {
    for (const [x, y, up] of [[x0, y0, height], [x2, y2, low], [x3, y3, low], [x0, y0, height], [x3, y3, low], [x1, y1, height]] as const) this.corner(x, up, y, tile, light);
  }

  private corner(column: number, height: number, row: number, tile: number, light: number): void {
    if (this.used + 3 > this.places.length) {
      this.places = twice(this.places);
      this.colours = twice(this.colours);
    }
    const { layer, image } = this.kept!;
    const { origin, cell } = layer.schema.options as { origin: number[]; cell: number };
    const { places, colours, used } = this;
    places[used] = origin[0]! + column * cell;
    places[used + 1] = height * cell;
    places[used + 2] = (origin[1]! + row * cell) * this.flip;
    for (let part = 0; part < 3; part++) colours[used + part] = (image.data[4 * tile + part]! / 255) * light;
    this.used += 3;
  }

  private send(): void {
    fill(this.raised.geometry, this.places.subarray(0, this.used), this.colours.subarray(0, this.used));
  }
}

function twice(numbers: Float32Array): Float32Array {
  const found = new Float32Array(2 * numbers.length);
  found.set(numbers);
  return found;
}
