/** The matches of a run: which of them is shown, whether to go on to each that comes, and their list. */

import { useMemo } from "preact/hooks";
import { readLive } from "../address";
import type { RecordingListed } from "../api";
import type { Page } from "../page";
import { T } from "../strings";
import { P } from "./strings";

const OF_TOURNAMENT = /(?:^|\/)matches\/[\d-]+\.match-(\d{6,9})\.replay$/;
const WINDOW = /(?:^|\/)\d{6,9}-(\d{1,16})\.replay$/; // written by a trainer at so many agent-steps

const LIVE = "live"; // among the choices, which otherwise are numbers

export function MatchChoice({ page }: { page: Page }) {
  const { list, newest } = page.matches;
  const mayPlay = page.runId !== null && !page.about?.read_only && !!page.sources?.runs.find((one) => one.id === page.runId)?.checkpoint;
  const inPlay = readLive(page.live ?? "")?.kind === "run";
  const known = list.some((one) => one.id === page.match);
  const options = useMemo(() => list.map((one, place) => <option value={String(one.id)}>{`${P.matchOf(place + 1, list.length)} · ${lineOf(one)}`}</option>).reverse(), [list]);
  const choose = (value: string) => {
    if (value !== LIVE) page.matches.choose(Number(value));
    else if (page.runId !== null) ((page.matches.newest = false), void page.openRun(page.runId));
  };
  if (!list.length) return <PlayerChoice page={page} />;
  return (
    <>
      <select class="match" aria-label={P.match} value={known ? String(page.match) : inPlay ? LIVE : ""} onChange={(event) => choose(event.currentTarget.value)}>
        {!known && !inPlay && <option value="">{P.chooseMatch}</option>}
        {(mayPlay || inPlay) && <option value={LIVE}>{P.inPlay}</option>}
        {options}
      </select>
      <PlayerChoice page={page} />
      <button type="button" aria-pressed={newest} title={P.newestTitle} onClick={() => page.matches.follow(!newest)}>
        {P.newest}
      </button>
    </>
  );
}

/** Choice of a league's player. */
function PlayerChoice({ page }: { page: Page }) {
  const found = readLive(page.live ?? "");
  if (found?.kind !== "run" || page.players.length < 2) return null;
  const { id: run, players } = found;
  const chosen = players.length === 1 ? String(players[0]) : "";
  return (
    <select class="match" aria-label={P.whoPlays} value={chosen} onChange={(event) => page.openLive(`run:${run}@${event.currentTarget.value}`)}>
      {!chosen && <option value="">{players.length ? P.twoOfThem : P.asOpened}</option>}
      {page.players.map(({ id, name }) => (
        <option value={String(id)}>{name}</option>
      ))}
    </select>
  );
}

/** What a list calls a match. */
function lineOf({ name, policy }: RecordingListed): string {
  const [window, match] = [WINDOW.exec(name), OF_TOURNAMENT.exec(name)];
  if (match) return `${policy}, ${Number(match[1]) + 1}`;
  return window ? P.agentSteps(Number(window[1])) : name;
}

/** A run without a world in play: what it has recorded, beside its curves. */
export function Study({ page }: { page: Page }) {
  const run = page.sources?.runs.find((one) => one.id === page.runId);
  const { list } = page.matches;
  const matches = useMemo(
    () =>
      list
        .map((one) => (
          <li>
            <button type="button" onClick={() => void page.openMatch(one.id)}>
              {lineOf(one)}
            </button>{" "}
            <span class="quiet">{T.ticks(one.ticks)}</span>
          </li>
        ))
        .reverse(),
    [list],
  );
  return (
    <main class="sources" tabIndex={-1}>
      <h1>{run?.name}</h1>
      <p class="quiet">
        {run?.world} {!!run?.agent_steps && `· ${P.agentSteps(run.agent_steps)}`}
      </p>
      {run && !run.checkpoint && !run.ratings && !page.about?.read_only && <p class="quiet">{P.playedFrom}</p>}
      {page.unrecorded && <p class="quiet">{T.noRecordings}</p>}
      {run && (run.checkpoint || !run.ratings) && page.about?.read_only && <p class="quiet">{T.readOnlyPlays}</p>}
      {matches.length > 0 && <h2>{T.recordings}</h2>}
      <ul>{matches}</ul>
    </main>
  );
}
