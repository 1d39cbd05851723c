/** Many bodies of one geometry, drawn at once; their matrices are written straight into the array that is sent. */

import { BufferGeometry, DynamicDrawUsage, InstancedBufferAttribute, InstancedMesh, Material, Scene, Vector3 } from "three";
import type { RGB } from "../palette";

export class Batch {
  private mesh: InstancedMesh | null = null;
  private matrices = new Float32Array(0);
  private colours = new Float32Array(0);
  private count = 0;

  constructor(
    private readonly scene: Scene,
    private readonly geometry: BufferGeometry,
    private readonly material: Material,
    private readonly order: number,
  ) {}

  /** Nothing is in it. */
  begin(): void {
    this.count = 0;
  }

  /** Sends what was put. */
  end(): void {
    const { mesh, count } = this;
    if (!mesh) return;
    mesh.count = count;
    mesh.visible = count > 0;
    for (const [attribute, wide] of [[mesh.instanceMatrix, 16], [mesh.instanceColor!, 3]] as const) {
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, count * wide);
      attribute.needsUpdate = count > 0;
    }
  }

  /** A body at (x, height, z) of these half sizes, its x axis towards (c, s). */
  put(x: number, height: number, z: number, wide: number, high: number, deep: number, c: number, s: number, colour: RGB): void {
    const m = this.matrices.length > 16 * this.count ? this.matrices : this.grow();
    const at = 16 * this.count;
    m[at] = wide * c;
    m[at + 2] = wide * s;
    m[at + 5] = high;
    m[at + 8] = -deep * s;
    m[at + 10] = deep * c;
    m[at + 12] = x;
    m[at + 13] = height;
    m[at + 14] = z;
    m[at + 1] = m[at + 4] = m[at + 6] = m[at + 9] = 0;
    this.paint(colour);
  }

  /** A card that faces the eye, its lower left corner at (x, y, z). */
  face(x: number, y: number, z: number, right: Vector3, up: Vector3, wide: number, high: number, colour: RGB): void {
    const m = this.matrices.length > 16 * this.count ? this.matrices : this.grow();
    const at = 16 * this.count;
    [m[at], m[at + 1], m[at + 2]] = [right.x * wide, right.y * wide, right.z * wide];
    [m[at + 4], m[at + 5], m[at + 6]] = [up.x * high, up.y * high, up.z * high];
    m[at + 8] = m[at + 9] = m[at + 10] = 0;
    [m[at + 12], m[at + 13], m[at + 14]] = [x, y, z];
    this.paint(colour);
  }

  private paint([red, green, blue]: RGB): void {
    const at = 3 * this.count++;
    this.colours[at] = red / 255;
    this.colours[at + 1] = green / 255;
    this.colours[at + 2] = blue / 255;
  }

  /** Room for twice as many. */
  private grow(): Float32Array {
    const [matrices, colours, room] = [this.matrices, this.colours, Math.max(2 * this.count, 16)];
    this.drop();
    this.matrices = new Float32Array(16 * room);
    this.colours = new Float32Array(3 * room);
    this.matrices.set(matrices);
    this.colours.set(colours);
    for (let i = 15; i < this.matrices.length; i += 16) this.matrices[i] = 1;
    this.mesh = new InstancedMesh(this.geometry, this.material, 0);
    this.mesh.instanceMatrix = new InstancedBufferAttribute(this.matrices, 16).setUsage(DynamicDrawUsage);
    this.mesh.instanceColor = new InstancedBufferAttribute(this.colours, 3).setUsage(DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = this.order;
    this.scene.add(this.mesh);
    return this.matrices;
  }

  private drop(): void {
    if (!this.mesh) return;
    this.scene.remove(this.mesh);
    this.mesh.dispose();
  }
}
