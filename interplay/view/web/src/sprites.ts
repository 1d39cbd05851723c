/** Agents drawn once and stamped many times: a disc, its rim and its sign. */

import { CORNERS, INK, RGB, hex, mix, rgb, signOn } from "./palette";

const MOST = 2 ** 24; // pixels kept at a time; zooming makes new ones
const STEP = 4; // sizes per pixel

const kept = new Map<string, HTMLCanvasElement>();
let pixels = 0; // of those

interface Look {
  colour: RGB;
  size: number; // radius, pixels
  rim: number; // 0: none, 1, or 2 for more contrast
  sign: string; // shape of the palette, "plus", or empty
}

/** A picture of `look`, its middle in the middle. */
export function sprite(look: Look, ratio: number): HTMLCanvasElement {
  const size = Math.max(Math.round(look.size * STEP), 1) / STEP;
  const key = `${look.colour}|${size}|${look.rim}|${look.sign}|${ratio}`;
  const known = kept.get(key);
  if (known) return known;
  const canvas = document.createElement("canvas");
  const side = 2 * Math.ceil((size + 3) * ratio);
  if (pixels + side ** 2 > MOST) (kept.clear(), (pixels = 0));
  pixels += side ** 2;
  canvas.width = canvas.height = side;
  const pen = canvas.getContext("2d")!;
  pen.translate(side / 2, side / 2);
  pen.scale(ratio, ratio);
  drawDisc(pen, { ...look, size });
  kept.set(key, canvas);
  return canvas;
}

function drawDisc(pen: CanvasRenderingContext2D, { colour, size, rim, sign }: Look): void {
  circle(pen, 0, 0, Math.max(size, 0.75));
  pen.fillStyle = hex(colour);
  pen.fill();
  if (rim) {
    circle(pen, 0, 0, size);
    pen.strokeStyle = rim > 1 ? INK : hex(mix(colour, rgb(INK), 0.55));
    pen.lineWidth = rim * Math.min(Math.max(1, 0.09 * size), 3);
    pen.stroke();
  }
  drawSign(pen, sign, size, signOn(colour));
}

function drawSign(pen: CanvasRenderingContext2D, sign: string, size: number, colour: string): void {
  pen.fillStyle = colour;
  const corners = CORNERS[sign];
  if (sign === "plus") cross(pen, 0, 0, 0.55 * size, colour, 0.34 * size, 0);
  else if (sign === "disc") (circle(pen, 0, 0, 0.3 * size), pen.fill());
  else if (corners) {
    const [count, first] = corners;
    pen.beginPath();
    for (let i = 0; i < count; i++) {
      const turn = first + (2 * Math.PI * i) / count;
      // In pixels y grows down whichever way the world grows: signs stand upright.
      pen.lineTo(0.42 * size * Math.cos(turn), -0.42 * size * Math.sin(turn));
    }
    pen.fill();
  }
}

/** A path around (x, y). */
export function circle(pen: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  pen.beginPath();
  pen.arc(x, y, Math.max(radius, 0), 0, 2 * Math.PI);
}

/** Two crossing strokes. */
export function cross(pen: CanvasRenderingContext2D, x: number, y: number, arm: number, colour: string, width: number, turn: number): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.lineCap = "round";
  pen.beginPath();
  for (const angle of [turn, turn + Math.PI / 2]) {
    const [dx, dy] = [arm * Math.cos(angle), arm * Math.sin(angle)];
    pen.moveTo(x - dx, y - dy);
    pen.lineTo(x + dx, y + dy);
  }
  pen.stroke();
}
