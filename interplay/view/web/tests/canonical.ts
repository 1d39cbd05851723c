/** A scene as bytes, as tests/page/canonical.py makes them; written without imports, so that a browser can run it too. */

import type { Scene } from "../src/scene";

/** SHA-256 of all layers with their columns and texts. */
export async function digest(scene: Scene): Promise<string> {
  const parts: Uint8Array[] = [];
  const text = (words: string) => parts.push(new TextEncoder().encode(words));
  for (const { schema, rows, columns, text: cells } of scene.layers) {
    text(`${schema.name}\n${schema.kind}\n${rows}\n`);
    const names = [...columns.keys()].sort((a, b) => (a < b ? -1 : 1));
    for (const name of names) {
      const column = columns.get(name)!;
      text(`${name}\n`);
      parts.push(new Uint8Array(column.buffer, column.byteOffset, column.byteLength).slice());
    }
    for (const cell of cells.flatMap((row) => (typeof row === "string" ? [row] : [...row]))) {
      if (typeof cell === "string") text(`s${cell}\n`);
      else if (cell === null) text("None\n");
      else if (typeof cell === "boolean") text(cell ? "True\n" : "False\n");
      else {
        text("f");
        if (Number.isNaN(cell)) text("nan     ");
        else parts.push(new Uint8Array(new Float64Array([cell]).buffer));
      }
    }
  }
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", whole));
  return [...found].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
