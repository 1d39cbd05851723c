/** Ratings with intervals, and the payoff matrix. */

import { useRef, useState } from "preact/hooks";
import { Ratings } from "../api";
import type { Page } from "../page";
import { T } from "../strings";
import { P } from "./strings";
import { short } from "../words";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const RESULTS = ["won", "lost", "drawn", "cut"] as const;

type Column = "name" | "rating" | "games";

export function RatingsPanel({ page, ratings }: { page: Page; ratings: Ratings }) {
  if (!ratings.players.length) return <p class="quiet">{P.noRatings}</p>;
  const order = ratings.players.map((_, i) => i).sort((a, b) => (ratings.players[b]!.rating ?? -Infinity) - (ratings.players[a]!.rating ?? -Infinity));
  const [by, setBy] = useState<{ column: Column; down: boolean }>({ column: "rating", down: true });
  const rows = [...order].sort((a, b) => (by.down ? -1 : 1) * compare(ratings.players[a]![by.column], ratings.players[b]![by.column]));
  const head = (column: Column, text: string) => (
    <th scope="col" aria-sort={by.column !== column ? "none" : by.down ? "descending" : "ascending"}>
      <button type="button" class="link" onClick={() => setBy({ column, down: by.column === column ? !by.down : column !== "name" })}>
        {text}
        {by.column === column && (by.down ? " ▾" : " ▴")}
      </button>
    </th>
  );
  const ends = ratings.players.flatMap(({ low, high, rating }) => [low ?? rating, high ?? rating]).filter((end) => end !== null);
  const results = RESULTS.filter((name) => ratings.players.some(({ shares }) => shares[name]));
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const at = (value: number) => `${(100 * (value - least)) / (most - least || 1)}%`;
  return (
    <div class="ratings">
      {ratings.score && <p class="quiet">{P.decidedBy(ratings.score)}</p>}
      <table>
        <thead>
          <tr>
            <th />
            {head("name", P.player)}
            {head("rating", P.rating)}
            <th>{P.interval}</th>
            {head("games", P.games)}
            {results.map((name) => (
              <th scope="col">{P.results[name]}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((i) => {
            const { name, rating, low, high, games, shares, actions } = ratings.players[i]!;
            return (
              <tr>
                <td>{letter(order.indexOf(i))}</td>
                <th scope="row">{actions ? `${name}, ${actions}` : name}</th>
                <td>{short(rating)}</td>
                <td class="interval" title={`${short(low)} – ${short(high)}`}>
                  {low !== null && high !== null && <span class="span" style={{ left: at(low), width: `calc(${at(high)} - ${at(low)})` }} />}
                  {rating !== null && <span class="dot" style={{ left: at(rating) }} />}
                </td>
                <td>{short(games)}</td>
                {results.map((result) => (
                  <td title={shares[result] && P.between(percent(shares[result][1]), percent(shares[result][2]))}>{shares[result] && percent(shares[result][0])}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {ratings.players.length > 1 && <Payoff page={page} ratings={ratings} order={order} />}
    </div>
  );
}

const ARROWS: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Every cell with matches behind it, or to be played, is a button; Tab comes to one of them, arrows go on. */
function Payoff({ page, ratings, order }: { page: Page; ratings: Ratings; order: number[] }) {
  const table = useRef<HTMLTableElement>(null);
  const [at, setAt] = useState<readonly [number, number]>([0, 1]);
  const open = page.cell?.map((id) => ratings.players.findIndex((one) => one.id === id));
  const move = (event: KeyboardEvent) => {
    const by = ARROWS[event.key];
    if (!by) return;
    event.preventDefault();
    for (let [row, column] = at; ; ) {
      [row, column] = [row + by[0], column + by[1]];
      const cell = table.current!.rows[row + 1]?.cells[column + 1];
      if (!cell || row < 0 || column < 0) return;
      const button = cell.querySelector("button");
      if (button) return button.focus();
    }
  };
  const show = (row: number, column: number) => {
    page.cell = open?.[0] === row && open[1] === column ? null : [ratings.players[row]!.id, ratings.players[column]!.id];
    if (page.cell) page.say(P.pair(ratings.players[row]!.name, ratings.players[column]!.name));
    page.setTab("ratings");
  };
  return (
    <>
      <h2>{P.versus}</h2>
      {ratings.seats?.first != null && <p class="quiet">{P.firstSeat(percent(ratings.seats.first))}</p>}
      <div class="scroll" role="group" aria-label={P.versus}>
        <table class="payoff" ref={table} onKeyDown={move}>
          <tr>
            <th />
            {order.map((player, place) => (
              <th scope="col" title={ratings.players[player]!.name}>
                {letter(place)}
              </th>
            ))}
          </tr>
          {order.map((row, place) => (
            <tr>
              <th scope="row" title={ratings.players[row]!.name}>
                {letter(place)}
              </th>
              {order.map((column, across) => {
                const games = ratings.games[row]?.[column] ?? 0;
                const share = dotted(ratings.payoff[row]?.[column] ?? null);
                if (row === column) return <td>–</td>;
                if (!ratings.playable && !games) return <td title={P.unplayed} />;
                const count = matchesOf(ratings, row, column).length;
                const name = P.cellOf(ratings.players[row]!.name, ratings.players[column]!.name, share ? P.shareOf(share, games) : P.unplayed, count);
                const here = at[0] === place && at[1] === across;
                return (
                  <td>
                    <button
                      type="button"
                      class={count ? "recorded" : ""}
                      aria-label={name}
                      title={name}
                      aria-expanded={open?.[0] === row && open[1] === column}
                      tabIndex={here ? 0 : -1}
                      onFocus={() => setAt([place, across])}
                      onClick={() => show(row, column)}
                    >
                      {share}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </table>
      </div>
      {open ? <Cell page={page} ratings={ratings} row={open[0]!} column={open[1]!} /> : ratings.matches.length > 0 && <p class="quiet">{P.cellsOpen}</p>}
    </>
  );
}

/** What lies behind a cell: recorded matches, and the match that these two can play now. */
function Cell({ page, ratings, row, column }: { page: Page; ratings: Ratings; row: number; column: number }) {
  const [one, other] = [ratings.players[row], ratings.players[column]];
  if (!one || !other) return null; // of ratings that were made anew
  const matches = matchesOf(ratings, row, column);
  const share = dotted(ratings.payoff[row]?.[column] ?? null);
  const first = dotted(ratings.seats?.shares[row]?.[column] ?? null);
  const theirs = ratings.seats?.shares[column]?.[row] ?? null;
  const summary = [share ? P.shareOf(share, ratings.games[row]![column]!) : P.unplayed, ...(first && theirs !== null ? [P.bySeat(first, dotted(1 - theirs))] : [])];
  const ofRun = page.sources?.runs.find(({ id }) => id === page.runId)?.checkpoint; // a league's training records windows alone
  const live = `run:${page.runId}@${one.id},${other.id}`;
  return (
    <section class="behind">
      <h3>{P.pair(one.name, other.name)}</h3>
      <p class="quiet">{summary.join(": ")}</p>
      <ul>
        {matches.map(({ id, match, players, scores }) => {
          const seats = P.inSeats(players.map((player) => ratings.players[player]!.name));
          return (
            <li>
              <span class="quiet">{match + 1}</span>
              <button type="button" aria-label={P.matchBy(match + 1, seats)} aria-pressed={page.match === id} onClick={() => void page.openMatch(id)}>
                {seats}
              </button>
              <span class="figure">{scores.map(short).join(" : ")}</span>
            </li>
          );
        })}
      </ul>
      {!matches.length && ratings.playable && (
        <p class="quiet">
          {P.notRecorded} {!ofRun && P.recordThem}
        </p>
      )}
      {!ratings.playable ? (
        <p class="quiet">{P.noPairs}</p>
      ) : page.about?.read_only ? (
        <p class="quiet">{T.readOnlyPlays}</p>
      ) : (
        <p>
          <button type="button" title={P.playMatchTitle(one.name)} aria-pressed={page.live === live} onClick={() => page.openLive(live)}>
            {P.playMatch}
          </button>{" "}
          <span class="quiet">{P.playMatchTitle(one.name)}</span>
        </p>
      )}
    </section>
  );
}

function matchesOf(ratings: Ratings, row: number, column: number) {
  return ratings.matches.filter(({ players }) => players.includes(row) && players.includes(column));
}

function dotted(share: number | null): string {
  return share === null ? "" : (whole(100 * share) / 100).toFixed(2).replace(/^0/, "");
}

function percent(share: number): string {
  return `${whole(100 * share)} %`;
}

/** Rounds half to even, as the tables of `interplay tournament` do: the halves of both players of a pair add up. */
export function whole(value: number): number {
  const up = Math.round(value);
  return up - value === 0.5 && up % 2 ? up - 1 : up;
}

/** Compares; players without a number are lowest. */
function compare(a: string | number | null, b: string | number | null): number {
  if (typeof a === "string" && typeof b === "string") return a.localeCompare(b);
  return Number(a ?? -Infinity) - Number(b ?? -Infinity) || 0;
}

function letter(place: number): string {
  return place < LETTERS.length ? LETTERS[place]! : String(place + 1);
}
