/** Bodies of size 1 whose light is in the colours of their corners: sides are darker than tops, so no lamp is computed. */

import { BufferAttribute, BufferGeometry } from "three";
import { CORNERS, RGB, rgb, PAPER } from "../palette";

const WHITE = rgb(PAPER);
const ROUND = 14; // corners of a disc
const [DARK, BRIGHT] = [0.58, 0.78]; // sides that look away from the light and to it

/** How bright a side is that looks to (x, z). */
export function sideLight(x: number, z: number): number {
  const size = Math.hypot(x, z) || 1;
  return DARK + ((BRIGHT - DARK) * (1 + (0.4 * x + 0.9 * z) / size)) / 2;
}

/** Triangles, each with a colour and how much light falls on it. */
export class Faces {
  readonly places: number[] = [];
  readonly colours: number[] = [];

  triangle(a: readonly number[], b: readonly number[], c: readonly number[], light: number, [red, green, blue]: RGB = WHITE): void {
    this.places.push(a[0]!, a[1]!, a[2]!, b[0]!, b[1]!, b[2]!, c[0]!, c[1]!, c[2]!);
    const share = light / 255;
    for (let i = 0; i < 3; i++) this.colours.push(red * share, green * share, blue * share);
  }

  /** Corners in their order around it. */
  quad(a: readonly number[], b: readonly number[], c: readonly number[], d: readonly number[], light: number, colour: RGB = WHITE): void {
    this.triangle(a, b, c, light, colour);
    this.triangle(a, c, d, light, colour);
  }

  geometry(): BufferGeometry {
    return fill(new BufferGeometry(), this.places, this.colours);
  }
}

/** Gives a geometry these corners and colours. */
export function fill(geometry: BufferGeometry, places: ArrayLike<number>, colours: ArrayLike<number>): BufferGeometry {
  geometry.dispose();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(places), 3));
  geometry.setAttribute("color", new BufferAttribute(Float32Array.from(colours), 3));
  return geometry;
}

/** The outline of a shape of the palette, "plus" or a disc, x and z of its corners. */
function outline(shape: string): [number, number][] {
  if (shape === "plus") {
    const [a, b] = [0.34, 0.95];
    return [[a, b], [a, a], [b, a], [b, -a], [a, -a], [a, -b], [-a, -b], [-a, -a], [-b, -a], [-b, a], [-a, a], [-a, b]];
  }
  const [count, first] = CORNERS[shape] ?? [ROUND, 0];
  // All shapes cover about what the disc covers.
  const size = Math.min(Math.sqrt(Math.PI / ((count / 2) * Math.sin((2 * Math.PI) / count))), 1.3);
  return Array.from({ length: count }, (_, i) => {
    const turn = first + (2 * Math.PI * i) / count;
    return [size * Math.cos(turn), -size * Math.sin(turn)];
  });
}

/** A body with this outline, from 0 to 1 high, around the middle; without a bottom. */
export function prism(shape: string): BufferGeometry {
  const corners = outline(shape);
  const faces = new Faces();
  corners.forEach(([x, z], i) => {
    const [u, w] = corners[(i + 1) % corners.length]!;
    faces.triangle([0, 1, 0], [x, 1, z], [u, 1, w], 1);
    faces.quad([x, 0, z], [u, 0, w], [u, 1, w], [x, 1, z], sideLight(x + u, z + w));
  });
  return faces.geometry();
}

/** A box from -1 to 1, 0 to 1 high; without a bottom. */
export function box(): BufferGeometry {
  const faces = new Faces();
  const ring = [[-1, -1], [-1, 1], [1, 1], [1, -1]] as const;
  faces.quad([-1, 1, -1], [-1, 1, 1], [1, 1, 1], [1, 1, -1], 1);
  ring.forEach(([x, z], i) => {
    const [u, w] = ring[(i + 1) % 4]!;
    faces.quad([x, 0, z], [u, 0, w], [u, 1, w], [x, 1, z], sideLight(x + u, z + w));
  });
  return faces.geometry();
}

/** A ring that lies on the ground, of outer radius 1; its dashes where it has some. */
export function ring(inner: number, dashed: boolean): BufferGeometry {
  const faces = new Faces();
  const count = 48;
  for (let i = 0; i < count; i += dashed ? 2 : 1) {
    const [a, b] = [(2 * Math.PI * i) / count, (2 * Math.PI * (i + 1)) / count];
    const at = (turn: number, size: number) => [size * Math.cos(turn), 0, size * Math.sin(turn)];
    faces.quad(at(a, inner), at(b, inner), at(b, 1), at(a, 1), 1);
  }
  return faces.geometry();
}

/** A disc that lies on the ground. */
export function plate(): BufferGeometry {
  const faces = new Faces();
  const at = (i: number) => [Math.cos((2 * Math.PI * i) / 64), 0, Math.sin((2 * Math.PI * i) / 64)];
  for (let i = 0; i < 64; i++) faces.triangle([0, 0, 0], at(i), at(i + 1), 1);
  return faces.geometry();
}

/** A square that stands, from 0 to 1 in x and y. */
export function card(): BufferGeometry {
  const faces = new Faces();
  faces.quad([0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], 1);
  return faces.geometry();
}

/** A rectangle of the ground with the whole of a texture on it, its first row at the first corner. */
export function square(x0: number, z0: number, x1: number, z1: number, geometry = new BufferGeometry()): BufferGeometry {
  const places = [x0, 0, z0, x0, 0, z1, x1, 0, z1, x0, 0, z0, x1, 0, z1, x1, 0, z0];
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(places), 3));
  geometry.setAttribute("uv", new BufferAttribute(Float32Array.from([0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0]), 2));
  return geometry;
}
