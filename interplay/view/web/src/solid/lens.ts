/** Where the solid view is seen from: over the flat camera's place, at its scale, turned and tilted. */

import { PerspectiveCamera, Vector3 } from "three";
import type { Camera } from "../camera";

const FIELD = 35; // degrees from the upper to the lower edge
const ROOM = 1.25; // times farther than the flat scale asks for: what is near looks larger
const [LOWEST, HIGHEST] = [0.26, 1.5]; // tilt, rad above the ground
const TURN = 0.006; // rad per pixel

export class Lens {
  readonly eye = new PerspectiveCamera(FIELD);
  /** Upwards, to the right and to the eye, of length 1. */
  readonly up = new Vector3();
  readonly right = new Vector3();
  readonly toEye = new Vector3();
  private yaw = 0.35;
  private tilt = 0.87;
  private readonly point = new Vector3();
  private readonly direction = new Vector3();

  constructor(private readonly flat: Camera) {}

  /** Pixels of a length at the place that is looked at. */
  get scale(): number {
    return this.flat.scale / ROOM;
  }

  aim(): void {
    const { eye, flat } = this;
    const distance = flat.height / (2 * Math.tan((FIELD * Math.PI) / 360) * this.scale);
    const [, , wide, high] = flat.frame();
    const [x, z] = [flat.x, flat.y * flat.flip];
    eye.aspect = flat.width / flat.height;
    eye.near = distance / 30;
    eye.far = 3 * distance + (2 * (wide + high)) / flat.scale;
    const level = Math.cos(this.tilt) * distance;
    eye.position.set(x + level * Math.sin(this.yaw), Math.sin(this.tilt) * distance, z + level * Math.cos(this.yaw));
    eye.lookAt(x, 0, z);
    eye.updateProjectionMatrix();
    eye.updateMatrixWorld();
    this.right.setFromMatrixColumn(eye.matrixWorld, 0);
    this.up.setFromMatrixColumn(eye.matrixWorld, 1);
    this.toEye.setFromMatrixColumn(eye.matrixWorld, 2);
  }

  /** The pixel of a place so high above the ground, and pixels of a length there; not a number behind the eye. */
  project(x: number, y: number, height: number): [number, number, number] {
    const { eye, flat, point } = this;
    point.set(x, height, y * flat.flip).applyMatrix4(eye.matrixWorldInverse);
    const scale = point.z < 0 ? flat.height / (2 * Math.tan((FIELD * Math.PI) / 360) * -point.z) : NaN;
    return [flat.width / 2 + point.x * scale, flat.height / 2 - point.y * scale, scale];
  }

  drag(dx: number, dy: number): void {
    const { width, height } = this.flat;
    this.hold(width / 2, height / 2, () => undefined, dx, dy);
  }

  zoom(factor: number, px = this.flat.width / 2, py = this.flat.height / 2): void {
    this.hold(px, py, () => this.flat.zoom(factor));
  }

  /** Around the place that is looked at, by so many pixels of the pointer. */
  turn(dx: number, dy: number): void {
    this.yaw -= dx * TURN;
    this.tilt = Math.min(Math.max(this.tilt + dy * TURN, LOWEST), HIGHEST);
  }

  /** What was at a pixel is there again after `act`, so many pixels on. */
  private hold(px: number, py: number, act: () => void, dx = 0, dy = 0): void {
    this.aim();
    const before = this.worldAt(px, py);
    act();
    this.aim();
    const after = this.worldAt(px + dx, py + dy);
    if (before && after) this.flat.centre(this.flat.x + before[0] - after[0], this.flat.y + before[1] - after[1]);
  }

  /** The place on the ground at a pixel; null above the horizon. */
  worldAt(px: number, py: number): [number, number] | null {
    const { eye, flat, direction } = this;
    direction.set((2 * px) / flat.width - 1, 1 - (2 * py) / flat.height, 0.5).unproject(eye).sub(eye.position);
    const far = -eye.position.y / direction.y;
    return far > 0 ? [eye.position.x + far * direction.x, (eye.position.z + far * direction.z) * flat.flip] : null;
  }
}
