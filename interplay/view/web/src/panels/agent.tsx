/** Choice of an agent; without a selection, the legend. */

import type { Page } from "../page";
import { T } from "../strings";
import { Later } from "./later";

const MOST_LISTED = 200; // agents by name

const legendPanel = async () => (await import("./legend")).LegendPanel;
const selectedAgent = async () => (await import("./selected")).Selected;

export function AgentPanel({ page }: { page: Page }) {
  const { player } = page;
  const { selected, agents, source } = player;
  const listed = source?.agents.length ?? 0;
  const count = Math.max(listed, agents?.rows ?? 0);
  return (
    <div class="agent">
      <label class="row">
        <span>{T.agentLabel}</span>
        {count > MOST_LISTED ? <SlotField page={page} count={count} /> : <SlotList page={page} count={count} />}
      </label>
      {selected === null ? <p class="quiet">{listed ? T.selectAgent : player.shot ? T.noAgents : player.live?.connection === "ended" ? "" : T.loading}</p> : <Later load={selectedAgent} page={page} slot={selected} />}
      {selected === null && player.shot && <Later load={legendPanel} page={page} />}
    </div>
  );
}

function SlotList({ page, count }: { page: Page; count: number }) {
  return (
    <select value={page.player.selected ?? ""} onChange={(event) => page.select(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}>
      <option value="">–</option>
      {Array.from({ length: count }, (_, slot) => (
        <option value={slot}>{page.nameOf(slot)}</option>
      ))}
    </select>
  );
}

/** The number of a slot, where a list would be endless. */
function SlotField({ page, count }: { page: Page; count: number }) {
  return (
    <input
      type="number"
      min={0}
      max={count - 1}
      value={page.player.selected ?? ""}
      onChange={(event) => {
        const slot = Number(event.currentTarget.value);
        page.select(event.currentTarget.value !== "" && Number.isInteger(slot) && slot >= 0 && slot < count ? slot : null);
      }}
    />
  );
}
