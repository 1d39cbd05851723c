/** Cones of sight cut at obstacles, as in interplay/view/cones.py; a test compares the two. */

import { Glide } from "./glide";
import { most_pairs as MOST, past as PAST, rays as RAYS, round as ROUND } from "./palette";
import { flag, number } from "./scene";
import { names } from "./schema";

/** A disc of half extents 0, or a box; a room blocks from the inside. */
interface Blocker {
  x: number;
  y: number;
  radius: number;
  half: [number, number];
  cosine: number;
  sine: number;
  room: boolean;
}

export interface Eye {
  x: number;
  y: number;
  angle: number;
  depth: number;
  field: number;
}

/** Obstacles of the cones of `looking`; empty for none, or more than `MOST` pairs. */
export function blockers(looking: Glide, glides: Glide[]): Blocker[] {
  const { schema, rows } = looking.layer;
  const named = names(schema.options["sight.blockers"]);
  const found: Blocker[] = [];
  for (const glide of glides) {
    const { layer } = glide;
    const { kind, name, options } = layer.schema;
    if (!named.includes(name) || (kind !== "circles" && kind !== "boxes")) continue;
    const room = kind === "boxes" && options.fill === false;
    const edge = room ? Number(options.width ?? 0) / 2 : 0;
    const there = glide.rows().filter((row) => !flag(layer, "dimmed", row));
    if ((found.length + there.length) * rows > MOST) return [];
    for (const row of there) {
      const angle = kind === "boxes" ? glide.angle("angle", row) : 0;
      const half = (key: string) => (kind === "boxes" ? number(layer, key, row) - edge : 0);
      const radius = kind === "circles" ? number(layer, "radius", row) : 0;
      found.push({ x: glide.at("x", row), y: glide.at("y", row), radius, half: [half("half_x"), half("half_y")], cosine: Math.cos(angle), sine: Math.sin(angle), room });
    }
  }
  return found;
}

/** The corners of a cone, x and y one after another, the eye first. */
export function cone(eye: Eye, chords: number, blocked: Blocker[]): number[] {
  const { x, y, angle, depth, field } = eye;
  const chord = field / chords;
  const turns = Array.from({ length: chords + 1 }, (_, i) => -field / 2 + i * chord);
  const points = [x, y];
  const cut = blocked.length > 0 && depth > 0 && field > 0 && chord < Math.PI;
  const near = cut ? blocked.filter((one) => isNear(one, eye)) : [];
  if (cut) turns.push(...moreTurns(near, eye));
  for (const turn of turns.sort((a, b) => a - b)) {
    const [c, s] = [Math.cos(angle + turn), Math.sin(angle + turn)];
    let reach = depth;
    if (cut) {
      const within = Math.min(Math.max((turn + field / 2) % chord, 0), chord);
      reach *= Math.cos(chord / 2) / Math.cos(within - chord / 2);
      for (const one of near) reach = Math.min(reach, meets(one, x, y, c, s));
    }
    points.push(x + reach * c, y + reach * s);
  }
  return points;
}

/** A displacement in the blocker's own frame. */
function own({ cosine, sine }: Blocker, dx: number, dy: number): [number, number] {
  return [cosine * dx + sine * dy, cosine * dy - sine * dx];
}

/** Whether it is within reach and does not contain the eye, or is a room that does. */
function isNear(one: Blocker, { x, y, depth }: Eye): boolean {
  const far = Math.hypot(one.x - x, one.y - y);
  if (far - one.radius - Math.hypot(...one.half) >= depth) return false;
  const at = own(one, x - one.x, y - one.y);
  const holds = one.radius > 0 ? far < one.radius : at.every((part, i) => Math.abs(part) <= one.half[i]!);
  return holds === one.room;
}

/** Rays spread evenly, and past every corner and rim within the field. */
function moreTurns(near: Blocker[], { x, y, angle, field }: Eye): number[] {
  const ways: number[] = [];
  for (const one of near) {
    if (one.radius > 0) {
      const half = Math.asin(Math.min(one.radius / Math.max(Math.hypot(one.x - x, one.y - y), 1e-300), 1));
      const middle = Math.atan2(one.y - y, one.x - x);
      ways.push(...ROUND.map((part) => middle + part * half), middle - half - PAST, middle + half + PAST);
      continue;
    }
    for (const i of [-1, 1])
      for (const j of [-1, 1]) {
        const [hx, hy] = [i * one.half[0], j * one.half[1]];
        const corner = Math.atan2(one.y - y + one.sine * hx + one.cosine * hy, one.x - x + one.cosine * hx - one.sine * hy);
        ways.push(corner - PAST, corner + PAST);
      }
  }
  const turn = 2 * Math.PI;
  const found = ways.map((way) => way - angle - turn * Math.round((way - angle) / turn)).filter((way) => Math.abs(way) < field / 2);
  for (let i = 0; i <= RAYS; i++) found.push(-field / 2 + (field * i) / RAYS);
  return found;
}

/** How far a ray goes before it meets a blocker. */
function meets(one: Blocker, x: number, y: number, c: number, s: number): number {
  const [dx, dy] = [one.x - x, one.y - y];
  if (one.radius > 0) {
    const along = c * dx + s * dy;
    const room = one.radius ** 2 - (c * dy - s * dx) ** 2;
    return along > 0 && room >= 0 ? along - Math.sqrt(room) : Infinity;
  }
  const [start, way] = [own(one, -dx, -dy), own(one, c, s)];
  let [enter, leave] = [-Infinity, Infinity];
  for (const i of [0, 1]) {
    const step = Math.abs(way[i]!) < 1e-12 ? 1e-12 : way[i]!;
    enter = Math.max(enter, (-Math.sign(step) * one.half[i]! - start[i]!) / step);
    leave = Math.min(leave, (Math.sign(step) * one.half[i]! - start[i]!) / step);
  }
  if (one.room) return leave;
  return enter >= 0 && enter <= leave ? enter : Infinity;
}
