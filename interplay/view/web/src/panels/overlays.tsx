/** Choice and legend of the overlay. */

import { useEffect, useRef } from "preact/hooks";
import { Lays, Overlay, fill, gradient, valueAt } from "../overlay";
import type { Page } from "../page";
import { T } from "../strings";
import { Choice } from "./parts";
import { P } from "./strings";
import { short } from "../words";

export function OverlayPanel({ page }: { page: Page }) {
  const lays = page.player.source?.lays;
  if (!lays) return <p class="quiet">{T.overlaysServed}</p>;
  if (!lays.overlays.length) return <p class="quiet">{lays.refusal ?? (lays.listed ? T.noOverlays : T.loading)}</p>;
  const { wanted, overlay } = lays;
  const listed = lays.overlays.find((one) => one.name === wanted?.name);
  return (
    <div>
      <Choice label={P.overlay} value={wanted?.name ?? ""} options={[["", P.noOverlay], ...lays.overlays.map(({ name }) => [name, name] as const)]} choose={(value) => page.setOverlay(value || null)} />
      {listed && wanted && (
        <>
          {lays.populations.length > 1 && <Population lays={lays} together={listed.together} />}
          {Object.entries(listed.options).map(([name, choices]) => (
            <Choice label={name} value={wanted.options[name] ?? choices[0]!} options={choices.map((choice) => [choice, choice] as const)} choose={(value) => lays.lay({ ...wanted, options: { ...wanted.options, [name]: value } })} />
          ))}
          {overlay ? <Scale overlay={overlay} at={page.player.live ? null : page.player.tick} /> : <p class="quiet">{P.computing}</p>}
        </>
      )}
      {lays.refusal && <p class="error">{lays.refusal}</p>}
      {!wanted && (
        <dl class="wide meanings">
          {lays.overlays.map(({ name, meaning }) => (
            <>
              <dt>{name}</dt>
              <dd>{meaning}</dd>
            </>
          ))}
        </dl>
      )}
    </div>
  );
}

function Population({ lays, together }: { lays: Lays; together: boolean }) {
  const wanted = lays.wanted!;
  const options = [...(together ? [["", T.allPopulations] as const] : []), ...lays.populations.map((name, number) => [String(number), name] as const)];
  return <Choice label={P.population} value={String(wanted.population ?? (together ? "" : 0))} options={options} choose={(value) => lays.lay({ ...wanted, population: value === "" ? null : Number(value) })} />;
}

/** What its colours mean, and of which ticks it is. */
function Scale({ overlay, at }: { overlay: Overlay; at: number | null }) {
  const { title, unit, meaning, seen, since, form, diverging, tick } = overlay;
  return (
    <section class="legend">
      <h2>{title}</h2>
      {form === "window" && <Window overlay={overlay} />}
      <div class="scale" style={{ background: `${gradient(diverging)}, var(--scale-ground)` }} />
      <div class="ends">
        {[0, 0.5, 1].map((share) => (
          <span>{short(valueAt(overlay, share))}</span>
        ))}
      </div>
      <p>
        {unit}
        {seen ? `, ${P.seen(short(seen[0]), short(seen[1]))}` : `: ${P.nothingYet}`}
      </p>
      <p class="quiet">
        {meaning} {since === null ? P.overlayAt(tick) : at === null ? P.overlaySince(since, tick) : P.overlayUpTo(since, tick, at)}
      </p>
    </section>
  );
}

/** Its scale in one line below the world, while the tab is not open. */
export function OverlayLine({ overlay }: { overlay: Overlay }) {
  const { title, unit, diverging } = overlay;
  return (
    <div class="legend laid" role="group" aria-label={`${P.overlay} ${title}`}>
      <strong>{title}</strong>
      <span>{short(valueAt(overlay, 0))}</span>
      <div class="scale" style={{ background: `${gradient(diverging)}, var(--scale-ground)` }} />
      <span>{short(valueAt(overlay, 1))}</span>
      <span class="quiet">{unit}</span>
    </div>
  );
}

/** Cells around an agent in the middle. */
function Window({ overlay }: { overlay: Overlay }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => fill(canvas.current!, overlay), [overlay]);
  return (
    <div class="around">
      <canvas ref={canvas} role="img" aria-label={P.around(overlay.title)} />
      <span style={{ width: `${100 / overlay.width}%`, height: `${100 / overlay.height}%` }} />
    </div>
  );
}
