/** Tables of a scene, and the line below its picture. */

import type { Page } from "../page";
import { Layer } from "../scene";
import { names } from "../schema";
import { T } from "../strings";
import { shown } from "../words";
import { Table } from "./parts";

export const MOST_ROWS = 200;

/** A table of a scene; cells are plain text. */
export function SceneTable({ layer }: { layer: Layer }) {
  const titles = names(layer.schema.options.titles);
  const rows = layer.text.slice(0, MOST_ROWS);
  return (
    <section class="scene-table">
      <h2>{layer.schema.name}</h2>
      {rows.length === 0 ? (
        <p class="quiet">{T.emptyTable}</p>
      ) : (
        <Table head={titles} label={layer.schema.name}>
          {rows.map((row) => (
            <tr>{typeof row === "string" ? <td>{row}</td> : row.map((cell) => <td class={typeof cell === "number" ? "figure" : ""}>{shown(cell)}</td>)}</tr>
          ))}
        </Table>
      )}
      {layer.text.length > MOST_ROWS && <p class="quiet">{T.moreRows(layer.text.length - MOST_ROWS)}</p>}
    </section>
  );
}

/** The line below a picture: the first row of a table that is worth it. */
export function Caption({ page }: { page: Page }) {
  const layer = page.player.shot?.scene.layers.find((one) => one.schema.kind === "table" && one.schema.options.caption === true && one.rows);
  const row = layer?.text[0];
  if (!layer || typeof row === "string" || !row) return null;
  const words = names(layer.schema.options.titles).map((title, i) => `${title} ${shown(row[i])}`);
  return <p class="caption">{words.join("  ·  ")}</p>;
}
