/** Curves of a run: the band is lowest to highest of each bucket, the line the mean; nothing is thinned at random. */

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Curve, Curves as CurvesInfo, ApiError } from "../api";
import type { Page } from "../page";
import { POPULATIONS } from "../palette";
import { smoothed } from "../smooth";
import { Choice } from "./parts";
import { P } from "./strings";
import { short } from "../words";

const AGAIN = 5_000; // ms between two looks at a run that may go on
// What is drawn where nothing was chosen: the first of these that is no flat line, as returns are where one wins what another loses.
const FIRST = [/^episode_return$/, /^return$/, /^reward$/, /^won$/, /^rating/, /^win_rate/, /^life$/, /^episode_return\[/, /^episode_length$/, /^entropy/];
const TRIED = 8; // of those
const HEIGHT = 260;
const SMOOTHED = 2.5; // pixels
const LISTED = 100; // runs to compare with
const DASHES = [[], [9, 4], [3, 3], [9, 3, 2, 3]]; // distinct without colours

/** What one run has to show. */
interface Line {
  run: string;
  curve: Curve;
}

interface Found {
  first: CurvesInfo;
  lines: Line[];
  /** Errors of other runs, and of logs that are shown as they were. */
  problems: string[];
}

export function CurvesPanel({ page, run }: { page: Page; run: number }) {
  const [name, setName] = useState<string | null>(null);
  const [chosen, setChosen] = useState(false); // by the user
  const [against, setAgainst] = useState("agent_steps");
  const [span, setSpan] = useState<[number, number] | null>(null);
  const [logarithmic, setLogarithmic] = useState(false);
  const [smooth, setSmooth] = useState(false);
  const [marked, setOthers] = useState<number[]>([]);
  const others = marked.filter((one) => one !== run);
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let [gone, timer] = [false, 0];
    const ask = (id: number) => page.api.curves(id, name ? [name] : [], against, span?.[0] ?? null, span?.[1] ?? null);
    const look = async () => {
      try {
        const first = await ask(run);
        const problems: string[] = [];
        const rest = await Promise.all(others.map((id) => ask(id).catch((problem: unknown) => void problems.push(problem instanceof ApiError ? problem.message : String(problem)))));
        if (gone) return;
        problems.push(...[first, ...rest].flatMap((answer) => answer?.problem ?? []));
        const lines = [first, ...rest].flatMap((answer, i) => {
          const curve = name ? answer?.curves[name] : undefined;
          return curve ? [{ run: runName(page, i ? others[i - 1]! : run), curve }] : [];
        });
        setFound({ first, lines, problems });
        setError(null);
        const usual = FIRST.flatMap((one) => first.names.filter((name) => one.test(name))).slice(0, TRIED);
        const tried = chosen ? null : (await page.api.curves(run, usual, against, null, null)).curves;
        if (gone) return;
        // Before the first episode ends, any curve; then the most usual one.
        const telling = usual.find((one) => !isFlat(tried?.[one])) ?? usual[0] ?? first.names[0];
        if (!chosen && telling) setName(telling);
        timer = window.setTimeout(look, first.loading || rest.some((answer) => answer?.loading) ? 500 : AGAIN);
      } catch (problem) {
        if (gone) return;
        setError(problem instanceof ApiError ? problem.message : String(problem));
        timer = window.setTimeout(look, AGAIN); // a run that has just begun has nothing to read yet
      }
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [run, name, chosen, against, span, others.join()]);
  if (error) return <p class="quiet">{error}</p>;
  if (!found || found.first.loading) return <p class="quiet">{P.curvesLoading}</p>;
  const { first, lines, problems } = found;
  if (!first.names.length) return <p class="quiet">{P.noCurves}</p>;
  const runs = page.sources?.runs.filter((one) => one.id !== run && one.agent_steps) ?? [];
  const box = (on: boolean, set: (on: boolean) => void, text: string, more = {}) => (
    <label class="row">
      <input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} {...more} /> {text}
    </label>
  );
  return (
    <div class="curves">
      <Choice label={P.curvesOf} value={name ?? ""} options={first.names.map((one) => [one, one] as const)} choose={(value) => (setName(value), setChosen(true), setSpan(null))} />
      <Choice label={P.against} value={against} options={Object.entries(P.axes)} choose={(value) => (setAgainst(value), setSpan(null))} />
      {lines.length > 0 && <Plot name={name!} lines={lines} axis={P.axes[against] ?? against} logarithmic={logarithmic} smooth={smooth} dark={page.dark} zoom={setSpan} />}
      {name && first.last?.[name] && <p class="quiet">{P.last(first.last[name])}</p>}
      {problems.map((line) => (
        <p class="quiet">{line}</p>
      ))}
      {box(logarithmic, setLogarithmic, P.logScale)}
      {box(smooth, setSmooth, P.smoothed)}
      {runs.length > 0 && (
        <details>
          <summary>{P.compare}</summary>
          {runs.slice(0, LISTED).map(({ id, name: other }) =>
            box(others.includes(id), (on) => setOthers(on ? [...others, id] : others.filter((one) => one !== id)), other, { disabled: !others.includes(id) && others.length >= POPULATIONS.length - 1 }),
          )}
        </details>
      )}
      <p class="quiet">
        {P.band} {name && first.of_episodes.includes(name) && P.began}
      </p>
      {lines.length > 0 && (
        <button type="button" onClick={() => page.save(csvOf(lines, against, name!), `${name}.csv`)}>
          {P.csv}
        </button>
      )}
    </div>
  );
}

function runName(page: Page, id: number): string {
  return page.sources?.runs.find((one) => one.id === id)?.name ?? `${id}`;
}

interface PlotArguments {
  name: string;
  lines: Line[];
  axis: string;
  logarithmic: boolean;
  smooth: boolean;
  dark: boolean;
  zoom: (span: [number, number] | null) => void;
}

function Plot({ name, lines, axis, logarithmic, smooth, dark, zoom }: PlotArguments) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const runs = lines.map((line) => line.run).join("\n");
  useEffect(() => {
    const place = box.current!; // null at the observer's last call
    const ink = getComputedStyle(place).color;
    const axes = { stroke: ink, grid: { stroke: dark ? "#ffffff22" : "#00000018" }, ticks: { stroke: dark ? "#ffffff22" : "#00000018" } };
    const value = (_: uPlot, number: number | null) => short(number);
    const many = lines.length > 1;
    const width = smooth ? 0.75 : 1.5;
    const spanGaps = many; // places of other runs lie between one's own
    const quiet = { stroke: "transparent", value, spanGaps, points: { show: false }, class: "band" };
    const series = lines.flatMap(({ run, curve }, i) => {
      const own = { stroke: POPULATIONS[(i + (dark ? 4 : 0)) % POPULATIONS.length]!, dash: DASHES[i % DASHES.length]!, value, spanGaps };
      const mean = { ...own, label: many ? run : P.mean, width, points: { show: !many && !smooth && curve.x.length < 40 } };
      const bands = [
        { ...quiet, label: P.bandHigh },
        { ...quiet, label: P.bandLow },
      ];
      return [mean, ...bands, ...(smooth ? [{ ...own, label: P.smoothed, width: SMOOTHED, points: { show: false }, class: many ? "band" : "smooth" }] : [])];
    });
    const each = smooth ? 4 : 3;
    const options: uPlot.Options = {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { x: { time: false }, y: logarithmic ? { distr: 3 } : { range: rangeOf } },
      axes: [
        { ...axes, label: axis, values: (_, splits) => splits.map(compact) },
        { ...axes, size: 60, values: (_, splits) => splits.map((split) => (split === null ? "" : compact(split))) },
      ],
      series: [{ label: axis, value }, ...series],
      bands: lines.map((_, i) => ({ series: [each * i + 2, each * i + 3], fill: `${series[each * i]!.stroke}${many ? "1c" : "38"}` })),
      // Thin and hollow, thick and full: the mean and its smoothed line have one colour.
      legend: { markers: { fill: (_, i) => (options.series[i]!.width === SMOOTHED ? (options.series[i]!.stroke as string) : "") } },
      cursor: { drag: { x: true, y: false } },
      hooks: {
        setSelect: [(drawn) => drawn.select.width > 4 && zoom([drawn.posToVal(drawn.select.left, "x"), drawn.posToVal(drawn.select.left + drawn.select.width, "x")])],
      },
    };
    plot.current = new uPlot(options, dataOf(lines, logarithmic, smooth), place);
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: place.clientWidth, height: HEIGHT }));
    resized.observe(place);
    return () => {
      resized.disconnect();
      plot.current?.destroy();
    };
  }, [name, axis, logarithmic, smooth, dark, runs]);
  useEffect(() => plot.current?.setData(dataOf(lines, logarithmic, smooth)), [lines]);
  const label = lines.map(({ run, curve }) => sentence(lines.length > 1 ? `${run}, ${name}` : name, curve, axis)).join("; ");
  return <div ref={box} class={lines.length > 1 ? "plot many" : "plot"} role="img" aria-label={label} onDblClick={() => zoom(null)} />;
}

/** Whether a curve has no point, or several equal ones. */
function isFlat(curve: Curve | undefined): boolean {
  const mean = (curve?.mean ?? []).filter((value) => value !== null);
  const [least, most] = [Math.min(...mean), Math.max(...mean)];
  return mean.length !== 1 && most - least <= 1e-6 * Math.max(Math.abs(most), 1);
}

/** What the upright axis shows; a flat line lies in the middle, also one at zero. */
function rangeOf(_: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const room = Math.abs(low) / 10 || 1;
  return low === high ? [low - room, high + room] : (uPlot.rangeNum(low, high, 0.1, true) as [number, number]);
}

function dataOf(lines: Line[], logarithmic: boolean, smooth: boolean): uPlot.AlignedData {
  // A logarithm knows no zero.
  const part = (values: (number | null)[]) => (logarithmic ? values.map((value) => (value !== null && value > 0 ? value : null)) : values);
  const tables = lines.map(({ curve: { x, mean, low, high } }) => [x, part(mean), part(high), part(low), ...(smooth ? [part(smoothed(mean))] : [])] as uPlot.AlignedData);
  return tables.length > 1 ? uPlot.join(tables) : tables[0]!;
}

/** The curve in words, for screen readers. */
function sentence(name: string, { x, mean }: Curve, axis: string): string {
  if (!x.length) return name;
  return `${name}: ${short(mean[0])} at ${compact(x[0]!)} ${axis}, ${short(mean[mean.length - 1])} at ${compact(x[x.length - 1]!)} ${axis}`;
}

function compact(value: number): string {
  return Math.abs(value) >= 10_000 ? new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 }).format(value) : short(value);
}

function csvOf(lines: Line[], against: string, name: string): Blob {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const many = lines.length > 1;
  const rows = lines.flatMap(({ run, curve: { x, mean, low, high } }) => x.map((place, i) => [...(many ? [quoted(run)] : []), place, mean[i], low[i], high[i]].join(",")));
  const title = `${many ? "run," : ""}${against},${quoted(name)},lowest,highest`;
  return new Blob([[title, ...rows].join("\n") + "\n"], { type: "text/csv" });
}
