/** An agent's observation: crops as pictures, rows as tables, numbers with names and bars. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Observed } from "../api";
import type { Page } from "../page";
import { mix, rgb, tileColours } from "../palette";
import { T } from "../strings";
import { Bar, Table } from "./parts";
import { P } from "./strings";
import { short } from "../words";

const MOST_NUMBERS = 120;
const MOST_ROWS = 100;
const ROW = 5; // numbers beside each other, as many as the panel has room for
const [DARK, LIGHT] = [rgb("#101418"), rgb("#f4f6f8")] as const; // of crops without colours of their own

export function ObservationPanel({ page, observation }: { page: Page; observation: Observed[] }) {
  return (
    <>
      <h3>{P.observation}</h3>
      {observation.map((part) => (
        <details open={part.kind === "crop" || part.kind === "rows" || count(part) <= MOST_NUMBERS}>
          <summary>
            {part.name} <small>{P.shape(part.shape)}</small>
          </summary>
          <Part page={page} part={part} />
        </details>
      ))}
    </>
  );
}

const count = ({ shape }: Observed) => shape.reduce((product, side) => product * side, 1);

function Part({ page, part }: { page: Page; part: Observed }) {
  if (part.values === null) return <p class="quiet">{P.tooMany(count(part))}</p>;
  if (part.kind === "crop") return <Crop part={part} values={part.values} />;
  if (part.text !== undefined) return <p class="said">{part.text || P.nothingSaid}</p>;
  if (part.angles) return <Rays page={page} part={part} angles={part.angles} lengths={part.values} />;
  if (part.kind === "rows") return <Rows page={page} part={part} values={part.values} />;
  return part.names ? <Named names={part.names} values={part.values} /> : <Grid name={part.name} shape={part.shape} values={part.values} />;
}

type Values = (number | null)[];

/** A pixel for each number. */
function Crop({ part, values }: { part: Observed; values: Values }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [high = 1, wide = 1] = part.shape;
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  useEffect(() => {
    const { current } = canvas;
    [current!.width, current!.height] = [wide, high];
    const image = new ImageData(wide, high);
    const colours = part.palette?.length ? tileColours(part.palette) : null;
    values.forEach((value, i) => {
      const share = ((value ?? least) - least) / (most - least || 1);
      image.data.set([...(colours ? colours[Math.max(value ?? 0, 0) & 255]! : mix(DARK, LIGHT, share)), value === null ? 0 : 255], 4 * i);
    });
    current!.getContext("2d")!.putImageData(image, 0, 0);
  }, [values]);
  return (
    <>
      <canvas ref={canvas} class="crop" role="img" aria-label={P.crop(part.name, wide, high)} />
      {!part.palette?.length && <p class="quiet">{P.cropRange(short(least), short(most))}</p>}
    </>
  );
}

/** A table with a thing in each row; agents are marked in the world under the pointer, and selected by a click. */
function Rows({ page, part, values }: { page: Page; part: Observed; values: Values }) {
  const wide = part.shape[1] ?? 1;
  const [pointed, point] = useState<number | null>(null);
  // Rows may change with the tick, under a resting pointer.
  useEffect(() => page.player.mark(pointed === null ? null : (part.slots?.[pointed] ?? null)));
  useEffect(() => () => page.player.mark(null), []);
  const all = Array.from({ length: part.shape[0] ?? 0 }, (_, row) => row);
  const there = all.filter((row) => part.there?.[row] ?? true);
  const listed = there.slice(0, MOST_ROWS);
  if (!there.length) return <p class="quiet">{P.nothingSeen}</p>;
  const most = Math.max(...(part.weights ?? []), 1e-9);
  const named = part.slots?.some((slot) => slot !== null);
  return (
    <>
      <Table head={[named ? T.agentLabel : P.row, ...(part.weights ? [P.attention] : []), ...Array.from({ length: wide }, (_, column) => part.names?.[column] ?? column)]} label={part.name} more={{ class: "numbers seen" }}>
        {listed.map((row) => {
          const slot = part.slots?.[row];
          const weight = part.weights?.[row] ?? 0;
          return (
            <tr onMouseEnter={() => point(row)} onMouseLeave={() => point(null)}>
              <th scope="row">
                {slot === null || slot === undefined ? (
                  row
                ) : (
                  <button type="button" class="link" onFocus={() => point(row)} onBlur={() => point(null)} onClick={() => page.select(slot)}>
                    {page.nameOf(slot)}
                  </button>
                )}
              </th>
              {part.weights && (
                <td title={short(weight)}>
                  <Bar share={weight / most} kind="share" />
                </td>
              )}
              <Numbers values={values.slice(row * wide, (row + 1) * wide)} />
            </tr>
          );
        })}
      </Table>
      {there.length < all.length && <p class="quiet">{P.rowsUnseen(all.length - there.length)}</p>}
      {there.length > listed.length && <p class="quiet">{P.more(there.length - listed.length)}</p>}
    </>
  );
}

/** Rays, also drawn in the world. */
function Rays({ page, part, angles, lengths }: { page: Page; part: Observed; angles: number[]; lengths: Values }) {
  useEffect(() => page.player.cast(part.name, { angles, lengths }));
  useEffect(() => () => page.player.cast(part.name, null), []);
  return <Named names={angles.map((angle) => `${Math.round((180 / Math.PI) * angle)}°`)} values={lengths} />;
}

/** Numbers with names, as bars beside each other. */
function Named({ names, values }: { names: string[]; values: Values }) {
  const most = Math.max(1, ...values.map((value) => Math.abs(value ?? 0)));
  return (
    <>
      {values.map((value, i) => (
        <div class="meter">
          <span class="name" title={names[i]}>
            {names[i] ?? i}
          </span>
          <Bar share={Math.abs(value ?? 0) / most} kind={(value ?? 0) < 0 ? "low" : "good"} />
          <span class="number">{short(value)}</span>
        </div>
      ))}
    </>
  );
}

function Numbers({ values }: { values: Values }) {
  return (
    <>
      {values.map((value) => (
        <td class={value === 0 ? "zero" : ""}>{short(value)}</td>
      ))}
    </>
  );
}

/** Numbers without names. */
function Grid({ name, shape, values }: { name: string; shape: number[]; values: Values }) {
  const rest = shape.slice(1).reduce((product, side) => product * side, 1); // a row for each place of the first axis
  const wide = shape.length > 1 && rest <= 32 ? rest : ROW;
  const listed = values.slice(0, Math.max(MOST_NUMBERS, wide));
  const rows = Array.from({ length: Math.ceil(listed.length / wide) }, (_, row) => listed.slice(row * wide, (row + 1) * wide));
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={name}>
      <table class="numbers">
        {rows.map((row) => (
          <tr>
            <Numbers values={row} />
          </tr>
        ))}
      </table>
      {values.length > listed.length && <p class="quiet">{P.more(values.length - listed.length)}</p>}
    </div>
  );
}
