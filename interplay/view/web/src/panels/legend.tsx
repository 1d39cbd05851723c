/** What colours, signs, bars and lines of a world mean. */

import { useEffect, useRef } from "preact/hooks";
import { Entry, entriesOf } from "../legend";
import type { Page } from "../page";
import { FAINT, PAGE, rgb } from "../palette";
import { circle, sprite } from "../sprites";
import { T } from "../strings";

const [WIDE, HIGH] = [26, 20]; // pixels of a sign

export function LegendPanel({ page }: { page: Page }) {
  const entries = page.player.source ? entriesOf(page.player.source.schema) : [];
  if (!entries.length) return null;
  return (
    <section class="legend">
      <h2>{T.legend}</h2>
      <ul class="signs">
        {entries.map((entry) => (
          <li>
            <Sign entry={entry} /> {entry.words}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One thing as it looks in the world; its words stand beside it. */
function Sign({ entry }: { entry: Entry }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => draw(canvas.current!, entry), [JSON.stringify(entry)]);
  return <canvas ref={canvas} class="sign" aria-hidden="true" style={{ background: entry.kind === "ring" ? FAINT : PAGE }} />;
}

function draw(canvas: HTMLCanvasElement, { kind, colour, sign, broken }: Entry): void {
  const ratio = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [WIDE * ratio, HIGH * ratio];
  const pen = canvas.getContext("2d")!;
  pen.scale(ratio, ratio);
  pen.translate(WIDE / 2, HIGH / 2);
  pen.fillStyle = pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.lineCap = broken === "dots" ? "round" : "butt";
  pen.setLineDash(broken === "dots" ? [0, 5] : broken === "dashes" ? [4, 3] : []);
  if (kind === "disc") {
    const disc = sprite({ colour: rgb(colour), size: 8, rim: 1, sign }, ratio);
    const side = disc.width / ratio;
    pen.drawImage(disc, -side / 2, -side / 2, side, side);
  } else if (kind === "ring") (circle(pen, 0, 0, 7), pen.stroke());
  else if (kind === "line") (pen.beginPath(), pen.moveTo(-11, 0), pen.lineTo(11, 0), pen.stroke());
  else {
    const [x, y] = kind === "bar" ? [11, 3] : [8, 8];
    pen.fillRect(-x, -y, 2 * x, 2 * y);
    pen.strokeStyle = "#00000080";
    pen.lineWidth = 1;
    pen.setLineDash([]);
    pen.strokeRect(-x, -y, 2 * x, 2 * y);
  }
}
