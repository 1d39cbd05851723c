/** Curves of a run: the band is lowest to highest of each bucket, the line the mean; nothing is thinned at random. */

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Curve, Curves as Told, Unwilling } from "../api";
import type { Page } from "../page";
import { POPULATIONS } from "../palette";
import { T } from "../strings";
import { short } from "../words";

const AGAIN = 5_000; // ms between two looks at a run that may go on
const FIRST = ["episode_return", "return", "reward"]; // names that are drawn where nothing was chosen
const HEIGHT = 260;

export function CurvesPanel({ page, run }: { page: Page; run: number }) {
  const [name, setName] = useState<string | null>(null);
  const [chosen, setChosen] = useState(false); // by the user
  const [against, setAgainst] = useState("agent_steps");
  const [span, setSpan] = useState<[number, number] | null>(null);
  const [logarithmic, setLogarithmic] = useState(false);
  const [told, setTold] = useState<Told | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let [gone, timer] = [false, 0];
    const look = async () => {
      try {
        const found = await page.api.curves(run, name ? [name] : [], against, span?.[0] ?? null, span?.[1] ?? null);
        if (gone) return;
        setTold(found);
        setError(null);
        const first = FIRST.find((one) => found.names.includes(one));
        // A run that has just begun has ended no episode: until then any curve, and then the one that people look for.
        if (!chosen && (first ?? found.names[0])) setName(first ?? found.names[0]!);
        timer = window.setTimeout(look, found.loading ? 500 : AGAIN);
      } catch (problem) {
        if (gone) return;
        setError(problem instanceof Unwilling ? problem.message : String(problem));
        timer = window.setTimeout(look, AGAIN); // a run that has just begun has nothing to read yet
      }
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [run, name, chosen, against, span]);
  if (error) return <p class="quiet">{error}</p>;
  if (!told || told.loading) return <p class="quiet">{T.curvesLoading}</p>;
  if (!told.names.length) return <p class="quiet">{T.noCurves}</p>;
  const curve = name ? told.curves[name] : undefined;
  return (
    <div class="curves">
      <label class="row">
        <span>{T.curvesOf}</span>
        <select value={name ?? ""} onChange={(event) => (setName(event.currentTarget.value), setChosen(true), setSpan(null))}>
          {told.names.map((one) => (
            <option value={one}>{one}</option>
          ))}
        </select>
      </label>
      <label class="row">
        <span>{T.against}</span>
        <select value={against} onChange={(event) => (setAgainst(event.currentTarget.value), setSpan(null))}>
          {Object.entries(T.axes).map(([axis, text]) => (
            <option value={axis}>{text}</option>
          ))}
        </select>
      </label>
      {curve && <Plot name={name!} curve={curve} axis={T.axes[against] ?? against} logarithmic={logarithmic} dark={page.dark} zoom={setSpan} />}
      <label class="row">
        <input type="checkbox" checked={logarithmic} onChange={(event) => setLogarithmic(event.currentTarget.checked)} /> {T.logScale}
      </label>
      <p class="quiet">
        {T.band} {name && told.of_episodes.includes(name) && T.began}
      </p>
      {curve && (
        <button type="button" onClick={() => page.save(csvOf(curve, against, name!), `${name}.csv`)}>
          {T.csv}
        </button>
      )}
    </div>
  );
}

interface PlotArguments {
  name: string;
  curve: Curve;
  axis: string;
  logarithmic: boolean;
  dark: boolean;
  zoom: (span: [number, number] | null) => void;
}

function Plot({ name, curve, axis, logarithmic, dark, zoom }: PlotArguments) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const place = box.current!; // is gone when the observer hears of it for the last time
    const ink = getComputedStyle(place).color;
    const line = dark ? POPULATIONS[4]! : POPULATIONS[0]!;
    const axes = { stroke: ink, grid: { stroke: dark ? "#ffffff22" : "#00000018" }, ticks: { stroke: dark ? "#ffffff22" : "#00000018" } };
    const value = (_: uPlot, number: number | null) => short(number);
    const options: uPlot.Options = {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { x: { time: false }, y: logarithmic ? { distr: 3 } : { range: rangeOf } },
      axes: [
        { ...axes, label: axis, values: (_, splits) => splits.map(compact) },
        { ...axes, size: 60, values: (_, splits) => splits.map((split) => (split === null ? "" : compact(split))) },
      ],
      series: [
        { label: axis, value },
        { label: T.mean, stroke: line, width: 1.5, value, points: { show: curve.x.length < 40 } },
        { label: T.bandHigh, stroke: "transparent", value, points: { show: false } },
        { label: T.bandLow, stroke: "transparent", value, points: { show: false } },
      ],
      bands: [{ series: [2, 3], fill: `${line}38` }],
      cursor: { drag: { x: true, y: false } },
      hooks: {
        setSelect: [(drawn) => drawn.select.width > 4 && zoom([drawn.posToVal(drawn.select.left, "x"), drawn.posToVal(drawn.select.left + drawn.select.width, "x")])],
      },
    };
    plot.current = new uPlot(options, dataOf(curve, logarithmic), place);
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: place.clientWidth, height: HEIGHT }));
    resized.observe(place);
    return () => {
      resized.disconnect();
      plot.current?.destroy();
    };
  }, [name, axis, logarithmic, dark]);
  useEffect(() => plot.current?.setData(dataOf(curve, logarithmic)), [curve]);
  return <div ref={box} class="plot" role="img" aria-label={sentence(name, curve, axis)} onDblClick={() => zoom(null)} />;
}

/** What the upright axis shows; a flat line lies in the middle, also one at zero. */
function rangeOf(_: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const room = Math.abs(low) / 10 || 1;
  return low === high ? [low - room, high + room] : (uPlot.rangeNum(low, high, 0.1, true) as [number, number]);
}

function dataOf({ x, mean, low, high }: Curve, logarithmic: boolean): uPlot.AlignedData {
  // A logarithm knows no zero.
  const part = (values: (number | null)[]) => (logarithmic ? values.map((value) => (value !== null && value > 0 ? value : null)) : values);
  return [x, part(mean), part(high), part(low)];
}

/** The curve in words, for who does not see it. */
function sentence(name: string, { x, mean }: Curve, axis: string): string {
  if (!x.length) return name;
  return `${name}: ${short(mean[0])} at ${compact(x[0]!)} ${axis}, ${short(mean[mean.length - 1])} at ${compact(x[x.length - 1]!)} ${axis}`;
}

function compact(value: number): string {
  return Math.abs(value) >= 10_000 ? new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 }).format(value) : short(value);
}

function csvOf({ x, mean, low, high }: Curve, against: string, name: string): Blob {
  const rows = x.map((place, i) => [place, mean[i], low[i], high[i]].join(","));
  const title = `"${name.replaceAll('"', '""')}"`;
  return new Blob([[`${against},${title},lowest,highest`, ...rows].join("\n") + "\n"], { type: "text/csv" });
}
