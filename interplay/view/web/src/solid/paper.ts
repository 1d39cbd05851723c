/** What the solid view draws with: batches of bodies, triangles of one picture, and paint for what lies on the ground. */

import { BufferGeometry, CustomBlending, Material, Mesh, MeshBasicMaterial, Object3D, OneFactor, OneMinusSrcAlphaFactor, Plane, Scene, Vector3 } from "three";
import { Batch } from "./batch";
import { fill } from "./shapes";

export class Paper {
  readonly scene = new Scene();
  readonly bodies = new MeshBasicMaterial({ vertexColors: true });
  /** Of what lies over all that lies on the ground. */
  readonly over = new MeshBasicMaterial({ vertexColors: true, side: 2, depthWrite: false });
  /** What lies on the ground ends where the world ends. */
  private readonly edges = [new Plane(new Vector3(1, 0, 0)), new Plane(new Vector3(-1, 0, 0)), new Plane(new Vector3(0, 0, 1)), new Plane(new Vector3(0, 0, -1))];
  private readonly paints = new Map<number, MeshBasicMaterial>();
  private readonly batches = new Map<string, Batch>();
  private readonly meshes = new Map<string, Mesh>();

  /** A picture begins; nothing is drawn that is not asked for. */
  begin(): void {
    for (const batch of this.batches.values()) batch.begin();
    for (const mesh of this.meshes.values()) mesh.visible = false;
  }

  end(): void {
    for (const batch of this.batches.values()) batch.end();
  }

  /** Another world. */
  clear(): void {
    this.scene.traverse((one: Object3D & { geometry?: BufferGeometry; dispose?: () => void }) => {
      one.geometry?.dispose();
      one.dispose?.();
    });
    this.scene.clear();
    this.batches.clear();
    this.meshes.clear();
  }

  /** The world's edges in x and z. */
  bound(left: number, right: number, back: number, front: number): void {
    [-left, right, -back, front].forEach((place, i) => (this.edges[i]!.constant = place));
  }

  /** Paint over what lies on the ground already. */
  painted(opacity: number): MeshBasicMaterial {
    let found = this.paints.get(opacity);
    if (!found) {
      found = new MeshBasicMaterial({ vertexColors: true, side: 2, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -8, opacity, clippingPlanes: this.edges });
      // Blending without `transparent`: it is drawn in its order, before what stands.
      found.setValues({ blending: CustomBlending, blendSrcAlpha: OneFactor, blendDstAlpha: OneMinusSrcAlphaFactor });
      this.paints.set(opacity, found);
    }
    return found;
  }

  /** Bodies of one shape, which is made the first time. */
  batch(key: string, shape: () => BufferGeometry, order: number, material: Material = this.bodies): Batch {
    let found = this.batches.get(key);
    if (!found) this.batches.set(key, (found = new Batch(this.scene, shape(), material, order)));
    return found;
  }

  /** Triangles as they are in this picture. */
  mesh(key: string, places: ArrayLike<number>, colours: ArrayLike<number>, order: number, material: Material): void {
    let found = this.meshes.get(key);
    if (!found) {
      found = new Mesh(new BufferGeometry());
      found.frustumCulled = false;
      this.meshes.set(key, found);
      this.scene.add(found);
    }
    found.renderOrder = order;
    found.material = material;
    fill(found.geometry, places, colours);
    found.visible = places.length > 0;
  }

  /** Shows triangles of an earlier picture again; false: there are none. */
  again(key: string): boolean {
    const found = this.meshes.get(key);
    if (found) found.visible = found.geometry.getAttribute("position").count > 0;
    return !!found;
  }
}
