/** The world in words: its tables, and the agents in view as rows that can be selected. */

import { isThere, middle } from "../agents";
import { Glide } from "../glide";
import type { Page } from "../page";
import { flag } from "../scene";
import { names } from "../schema";
import { T } from "../strings";
import { barsOf, marksOf, short } from "../words";
import { LegendPanel } from "./legend";
import { MOST_ROWS, SceneTable } from "./tables";

export function TablePanel({ page }: { page: Page }) {
  const { shot, pictured } = page.player;
  const tables = shot?.scene.layers.filter((layer) => layer.schema.kind === "table") ?? [];
  return (
    <div class="tables">
      {pictured && tables.map((layer) => <SceneTable layer={layer} />)}
      <AgentsTable page={page} />
      <LegendPanel page={page} />
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
    const place = inView.indexOf(player.selected ?? -1); // keys may come faster than drawings
    const next = inView[Math.max(0, Math.min(inView.length - 1, place < 0 ? 0 : place + by))];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    page.select(next);
    document.getElementById(`agent-${next}`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <section class="scene-table">
      <h2>{T.agentsTable}</h2>
      <div class="scroll">
        <table
          class="agents"
          role="grid"
          tabIndex={0}
          aria-label={T.agentsTable}
          aria-activedescendant={inView.includes(selected ?? -1) ? `agent-${selected}` : undefined}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") move(1, event);
            if (event.key === "ArrowUp") move(-1, event);
          }}
        >
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
              <tr id={`agent-${slot}`} aria-selected={slot === selected} onClick={() => page.select(slot)}>
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
