/** An overlay on the ground of the solid view, over a ground that has become pale. */

import { CanvasTexture, CustomBlending, LinearFilter, Mesh, MeshBasicMaterial, NearestFilter, OneFactor, OneMinusSrcAlphaFactor, Scene } from "three";
import { Overlay, paint } from "../overlay";
import { PAGE } from "../palette";
import { square } from "./shapes";

const PALE = 0.85; // of the ground that is hidden: its colours would read as values

export class Cover {
  private readonly pale = new MeshBasicMaterial({ color: PAGE, opacity: PALE });
  private readonly paint = new MeshBasicMaterial();
  private meshes: Mesh[] = [];
  private shown: Overlay | null = null;

  /** @param order of drawing. */
  constructor(private readonly order: number) {
    // Blending without `transparent`: it is drawn in its order, before what stands.
    for (const material of [this.pale, this.paint]) material.setValues({ depthWrite: false, depthTest: false, side: 2, blending: CustomBlending, blendSrcAlpha: OneFactor, blendDstAlpha: OneMinusSrcAlphaFactor });
  }

  /** Lays an overlay on the ground, or takes it away. */
  update(overlay: Overlay | null, scene: Scene, flip: number): void {
    if (overlay === this.shown && (!overlay || this.meshes[0]?.parent === scene)) return;
    this.shown = overlay;
    this.paint.map?.dispose();
    for (const mesh of this.meshes) (scene.remove(mesh), mesh.geometry.dispose());
    this.meshes = [];
    if (!overlay) return;
    const texture = new CanvasTexture(paint(overlay));
    texture.flipY = false;
    texture.generateMipmaps = false;
    [texture.magFilter, texture.minFilter] = [NearestFilter, LinearFilter];
    this.paint.map = texture;
    this.paint.needsUpdate = true;
    const { origin, cell, width, height } = overlay;
    const [x, y] = origin;
    this.meshes = [this.pale, this.paint].map((material, i) => {
      const mesh = new Mesh(square(x, y * flip, x + width * cell, (y + height * cell) * flip), material);
      mesh.renderOrder = this.order + i;
      mesh.frustumCulled = false;
      return mesh;
    });
    scene.add(...this.meshes);
  }
}
