/** The world in words: its tables, and the agents in view as rows that can be selected. */

import { middle } from "../agents";
import { Glide } from "../glide";
import type { Page } from "../page";
import { flag } from "../scene";
import { names } from "../schema";
import { T } from "../strings";
import { P } from "./strings";
import { barsOf, kindOf, marksOf, short } from "../words";
import { LegendPanel } from "./legend";
import { Table } from "./parts";
import { PastTables } from "./past";
import { MOST_ROWS, SceneTable } from "./tables";

export function TablePanel({ page }: { page: Page }) {
  const { shot, pictured } = page.player;
  const tables = shot?.scene.layers.filter((layer) => layer.schema.kind === "table") ?? [];
  return (
    <div class="tables">
      {pictured && tables.map((layer) => <SceneTable layer={layer} />)}
      {tables.map((layer) => <PastTables page={page} layer={layer} />)}
      <AgentsTable page={page} />
      <LegendPanel page={page} />
    </div>
  );
}

/** The agents in view as a table; up and down select. */
function AgentsTable({ page }: { page: Page }) {
  const { player } = page;
  const { agents, inView, selected } = player;
  if (!agents) return null;
  const glide = new Glide(agents, null, 0);
  const listed = inView.slice(0, MOST_ROWS);
  const kinds = listed.some((slot) => kindOf(agents, slot));
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
  const grid = {
    class: "agents",
    role: "grid" as const,
    tabIndex: 0,
    "aria-label": P.agentsTable,
    "aria-activedescendant": inView.includes(selected ?? -1) ? `agent-${selected}` : undefined,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "ArrowDown") move(1, event);
      if (event.key === "ArrowUp") move(-1, event);
    },
  };
  return (
    <section class="scene-table">
      <h2>{P.agentsTable}</h2>
      <Table head={[T.agentLabel, ...(kinds ? [P.kind] : []), P.place, ...bars, P.state]} more={grid}>
        {listed.map((slot) => (
          <tr id={`agent-${slot}`} aria-selected={slot === selected} onClick={() => page.select(slot)}>
            <th scope="row">{page.nameOf(slot)}</th>
            {kinds && <td>{kindOf(agents, slot)}</td>}
            <td class="figure">{middle(glide, slot).map((value) => value.toFixed(1)).join(", ")}</td>
            {barsOf(agents, slot).map(({ value }) => (
              <td class="figure">{short(value)}</td>
            ))}
            <td>{[flag(agents, "dimmed", slot) ? P.dead : "", ...marksOf(agents, slot)].filter(Boolean).join(", ")}</td>
          </tr>
        ))}
      </Table>
      {inView.length > MOST_ROWS && <p class="quiet">{T.moreRows(inView.length - MOST_ROWS)}</p>}
    </section>
  );
}
