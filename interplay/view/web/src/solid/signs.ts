/** Texts that face the eye. */

import { CanvasTexture, Scene, Sprite, SpriteMaterial } from "three";
import { PAPER, RGB, hex } from "../palette";

const MOST = 200; // texts in a picture
const KEPT = 400; // textures
const FONT = 44; // pixels of a letter's height in a texture
const HIGH = 60; // pixels of a texture's height

export class Signs {
  private readonly sprites: Sprite[] = [];
  private readonly materials = new Map<string, SpriteMaterial>();
  private count = 0;

  constructor(private readonly scene: Scene) {}

  begin(): void {
    this.count = 0;
    if (this.materials.size > KEPT) this.clear();
  }

  /** A text of this height; at (x, y, z) is its left end for 0, its middle for 0.5, its right end for 1. */
  put(text: string, x: number, y: number, z: number, size: number, colour: RGB, halo: boolean, from = 0.5): void {
    if (!text || this.count >= MOST) return;
    const sprite = (this.sprites[this.count] ??= this.fresh());
    this.count++;
    sprite.material = this.material(text, hex(colour), halo);
    const { width, height } = sprite.material.map!.image as HTMLCanvasElement;
    sprite.position.set(x, y, z);
    sprite.scale.set((size * width) / height, size, 1);
    sprite.center.set(from, 0.5);
    sprite.visible = true;
  }

  end(): void {
    for (let i = this.count; i < this.sprites.length; i++) this.sprites[i]!.visible = false;
  }

  clear(): void {
    for (const sprite of this.sprites) this.scene.remove(sprite);
    this.sprites.length = 0;
    for (const material of this.materials.values()) (material.map!.dispose(), material.dispose());
    this.materials.clear();
  }

  private fresh(): Sprite {
    const sprite = new Sprite();
    sprite.renderOrder = 2000;
    this.scene.add(sprite);
    return sprite;
  }

  private material(text: string, colour: string, halo: boolean): SpriteMaterial {
    const key = `${colour} ${halo} ${text}`;
    const known = this.materials.get(key);
    if (known) return known;
    const canvas = document.createElement("canvas");
    const pen = canvas.getContext("2d")!;
    const font = `700 ${FONT}px Helvetica, Arial, "Liberation Sans", sans-serif`;
    pen.font = font;
    canvas.width = Math.min(Math.ceil(pen.measureText(text).width) + 16, 2048);
    canvas.height = HIGH;
    pen.font = font;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    if (halo) {
      pen.strokeStyle = PAPER;
      pen.lineWidth = 9;
      pen.strokeText(text, canvas.width / 2, HIGH / 2);
    }
    pen.fillStyle = colour;
    pen.fillText(text, canvas.width / 2, HIGH / 2);
    const found = new SpriteMaterial({ map: new CanvasTexture(canvas), depthTest: false, transparent: true });
    this.materials.set(key, found);
    return found;
  }
}
