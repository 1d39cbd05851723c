/** The matches of a run: which of them is shown, whether to go on to each that comes, and their list. */

import type { Page } from "../page";
import { T } from "../strings";

const WINDOW = /(?:^|\/)\d{6,9}-(\d{1,16})\.replay$/; // written by a trainer at so many agent-steps

const LIVE = "live"; // among the choices, which otherwise are numbers

export function MatchChoice({ page }: { page: Page }) {
  const { list, newest } = page.matches;
  const mayPlay = page.runId !== null && !page.about?.read_only && !!page.sources?.runs.find((one) => one.id === page.runId)?.checkpoint;
  const known = list.some((one) => one.id === page.match);
  const choose = (value: string) => {
    if (value !== LIVE) page.matches.choose(Number(value));
    else if (page.runId !== null) ((page.matches.newest = false), void page.openRun(page.runId));
  };
  return (
    <>
      <select class="match" aria-label={T.match} value={known ? String(page.match) : page.live ? LIVE : ""} onChange={(event) => choose(event.currentTarget.value)}>
        {!known && !page.live && <option value="">{T.chooseMatch}</option>}
        {(mayPlay || page.live) && <option value={LIVE}>{T.inPlay}</option>}
        {list
          .map(({ id, name }, place) => (
            <option value={String(id)}>
              {T.matchOf(place + 1, list.length)} · {lineOf(name)}
            </option>
          ))
          .reverse()}
      </select>
      <button type="button" aria-pressed={newest} title={T.newestTitle} onClick={() => page.matches.follow(!newest)}>
        {T.newest}
      </button>
    </>
  );
}

/** What a list calls a match. */
function lineOf(name: string): string {
  const found = WINDOW.exec(name);
  return found ? T.agentSteps(Number(found[1])) : name;
}

/** A run without a world in play: what it has recorded, beside its curves. */
export function Study({ page }: { page: Page }) {
  const run = page.sources?.runs.find((one) => one.id === page.runId);
  const matches = [...page.matches.list].reverse();
  return (
    <main class="sources" tabIndex={-1}>
      <h1>{run?.name}</h1>
      <p class="quiet">
        {run?.world} {!!run?.agent_steps && `· ${T.agentSteps(run.agent_steps)}`}
      </p>
      {run && !run.checkpoint && !run.ratings && !page.about?.read_only && <p class="quiet">{T.playedFrom}</p>}
      {matches.length > 0 && <h2>{T.recordings}</h2>}
      <ul>
        {matches.map(({ id, name, ticks }) => (
          <li>
            <button type="button" onClick={() => void page.openMatch(id)}>
              {lineOf(name)}
            </button>{" "}
            <span class="quiet">{T.ticks(ticks)}</span>
          </li>
        ))}
      </ul>
    </main>
  );
}
