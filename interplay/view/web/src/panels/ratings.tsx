/** Who is best: ratings with their intervals, and the pay-off of each against each. */

import { useState } from "preact/hooks";
import { Ratings as Told } from "../api";
import { T } from "../strings";
import { short } from "../words";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

type Column = "name" | "rating" | "games";

export function RatingsPanel({ told }: { told: Told }) {
  if (!told.players.length) return <p class="quiet">{T.noRatings}</p>;
  const order = told.players.map((_, i) => i).sort((a, b) => (told.players[b]!.rating ?? -Infinity) - (told.players[a]!.rating ?? -Infinity));
  const [by, setBy] = useState<{ column: Column; down: boolean }>({ column: "rating", down: true });
  const rows = [...order].sort((a, b) => (by.down ? -1 : 1) * compare(told.players[a]![by.column], told.players[b]![by.column]));
  const head = (column: Column, text: string) => (
    <th scope="col" aria-sort={by.column !== column ? "none" : by.down ? "descending" : "ascending"}>
      <button type="button" class="link" onClick={() => setBy({ column, down: by.column === column ? !by.down : column !== "name" })}>
        {text}
        {by.column === column && (by.down ? " ▾" : " ▴")}
      </button>
    </th>
  );
  const ends = told.players.flatMap(({ low, high, rating }) => [low ?? rating, high ?? rating]).filter((end) => end !== null);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const at = (value: number) => `${(100 * (value - least)) / (most - least || 1)}%`;
  return (
    <div class="ratings">
      <table>
        <thead>
          <tr>
            <th />
            {head("name", T.player)}
            {head("rating", T.rating)}
            <th>{T.interval}</th>
            {head("games", T.games)}
          </tr>
        </thead>
        <tbody>
          {rows.map((i) => {
            const { name, rating, low, high, games } = told.players[i]!;
            return (
              <tr>
                <td>{letter(order.indexOf(i))}</td>
                <th scope="row">{name}</th>
                <td>{short(rating)}</td>
                <td class="interval" title={`${short(low)} – ${short(high)}`}>
                  {low !== null && high !== null && <span class="span" style={{ left: at(low), width: `calc(${at(high)} - ${at(low)})` }} />}
                  {rating !== null && <span class="dot" style={{ left: at(rating) }} />}
                </td>
                <td>{short(games)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {told.payoff.length > 0 && <Payoff told={told} order={order} />}
    </div>
  );
}

function Payoff({ told, order }: { told: Told; order: number[] }) {
  return (
    <>
      <h2>{T.versus}</h2>
      <div class="scroll" tabIndex={0} role="group" aria-label={T.versus}>
        <table class="payoff">
          <tr>
            <th />
            {order.map((_, place) => (
              <th scope="col">{letter(place)}</th>
            ))}
          </tr>
          {order.map((row, place) => (
            <tr>
              <th scope="row">{letter(place)}</th>
              {order.map((column) => {
                const [share, games] = [told.payoff[row]?.[column] ?? null, told.games[row]?.[column] ?? 0];
                if (row === column || share === null) return <td title={T.unplayed}>{row === column ? "–" : ""}</td>;
                return <td title={`${games} ${T.games}`}>{share.toFixed(2).replace(/^0/, "")}</td>;
              })}
            </tr>
          ))}
        </table>
      </div>
    </>
  );
}

/** Players without a number come last when the best come first. */
function compare(a: string | number | null, b: string | number | null): number {
  if (typeof a === "string" && typeof b === "string") return a.localeCompare(b);
  return Number(a ?? -Infinity) - Number(b ?? -Infinity) || 0;
}

function letter(place: number): string {
  return place < LETTERS.length ? LETTERS[place]! : String(place + 1);
}
