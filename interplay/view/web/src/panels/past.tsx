/** What tables held at the steps of the episode so far. */

import { Past, pastOf } from "../history";
import type { Page } from "../page";
import { Layer } from "../scene";
import { names } from "../schema";
import { T } from "../strings";
import { shown } from "../words";
import { Table } from "./parts";
import { MOST_ROWS } from "./tables";

/** A table for each column with history, with the same rows. */
export function PastTables({ page, layer }: { page: Page; layer: Layer }) {
  const { player } = page;
  const { source, shot, clock } = player;
  if (!source || !shot) return null;
  const past = pastOf(layer, source.reel, shot.tick, source.live ? clock.first : source.reel.first, () => player.touch());
  const rows = layer.text.slice(0, MOST_ROWS).map((row) => shown(typeof row === "string" ? row : row[0]));
  return <>{past.map((one) => one.steps.length > 0 && <PastTable past={one} name={layer.schema.name} title={names(layer.schema.options.titles)[0]!} rows={rows} />)}</>;
}

function PastTable({ past, name, title, rows }: { past: Past; name: string; title: string; rows: string[] }) {
  const heading = T.past(name, past.title);
  return (
    <section class="scene-table past">
      <h2>{heading}</h2>
      <Table head={[title, ...past.steps.map(({ head }) => head)]} label={heading}>
        {rows.map((row, i) => (
          <tr>
            <th scope="row">{row}</th>
            {past.steps.map(({ cells }) => (
              <td>{cells[i]}</td>
            ))}
          </tr>
        ))}
      </Table>
      <p class="quiet">{T.pastOrder(past.more)}</p>
    </section>
  );
}
