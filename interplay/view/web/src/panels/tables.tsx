/** The scene in words: its tables, and the agents in view as rows that can be selected. */

import { isThere, middle } from "../agents";
import { Glide } from "../glide";
import type { Page } from "../page";
import { Layer, flag } from "../scene";
import { names } from "../schema";
import { T } from "../strings";
import { barsOf, marksOf, short, shown } from "../words";

const MOST_ROWS = 200;

/** One table of a scene; its cells are text and nothing else. */
export function SceneTable({ layer }: { layer: Layer }) {
  const titles = names(layer.schema.options.titles);
  const rows = layer.text.slice(0, MOST_ROWS);
  return (
    <section class="scene-table">
      <h3>{layer.schema.name}</h3>
      {rows.length === 0 ? (
        <p class="quiet">{T.emptyTable}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label={layer.schema.name}>
          <table>
            <thead>
              <tr>
                {titles.map((title) => (
                  <th scope="col">{title}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr>{typeof row === "string" ? <td>{row}</td> : row.map((cell) => <td class={typeof cell === "number" ? "figure" : ""}>{shown(cell)}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
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

export function TablePanel({ page }: { page: Page }) {
  const { shot, pictured } = page.player;
  const tables = shot?.scene.layers.filter((layer) => layer.schema.kind === "table") ?? [];
  return (
    <div class="tables">
      {pictured && tables.map((layer) => <SceneTable layer={layer} />)}
      <AgentsTable page={page} />
    </div>
  );
}

/** The text twin of the picture: up and down select. */
function AgentsTable({ page }: { page: Page }) {
  const { player } = page;
  const { agents, camera, selected } = player;
  if (!agents) return null;
  const glide = new Glide(agents, null, 0);
  const inView: number[] = [];
  for (let slot = 0; slot < agents.rows; slot++) {
    if (!isThere(agents, slot)) continue;
    const place = middle(glide, slot);
    const [x, y] = [camera.screenX(place[0]), camera.screenY(place[1])];
    if (x >= 0 && y >= 0 && x <= camera.width && y <= camera.height) inView.push(slot);
  }
  const bars = names(agents.schema.options.bars);
  const move = (by: number, event: KeyboardEvent) => {
    const place = inView.indexOf(selected ?? -1);
    const next = inView[Math.max(0, Math.min(inView.length - 1, place < 0 ? 0 : place + by))];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    page.select(next);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-slot="${next}"]`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <section class="scene-table">
      <h3>{T.agentsTable}</h3>
      <div
        class="scroll"
        tabIndex={0}
        role="group"
        aria-label={T.agentsTable}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") move(1, event);
          if (event.key === "ArrowUp") move(-1, event);
        }}
      >
        <table class="agents">
          <thead>
            <tr>
              <th scope="col">{T.agentLabel}</th>
              <th scope="col">{T.place}</th>
              {bars.map((name) => (
                <th scope="col">{name}</th>
              ))}
              <th scope="col">{T.state}</th>
            </tr>
          </thead>
          <tbody>
            {inView.slice(0, MOST_ROWS).map((slot) => (
              <tr data-slot={slot} aria-selected={slot === selected} onClick={() => page.select(slot)}>
                <th scope="row">{page.nameOf(slot)}</th>
                <td class="figure">{middle(glide, slot).map((value) => value.toFixed(1)).join(", ")}</td>
                {barsOf(agents, slot).map(({ value }) => (
                  <td class="figure">{short(value)}</td>
                ))}
                <td>{[flag(agents, "dimmed", slot) ? T.dead : "", ...marksOf(agents, slot)].filter(Boolean).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {inView.length > MOST_ROWS && <p class="quiet">{T.moreRows(inView.length - MOST_ROWS)}</p>}
    </section>
  );
}
