/** Time below the world: the line with its marks, and the buttons. */

import { useEffect, useRef } from "preact/hooks";
import { focusWorld } from "../focus";
import type { Page } from "../page";
import { Mark } from "../replay";
import { T } from "../strings";

const APART = 9; // pixels; of marks of one kind that are closer the first is drawn
const MOST_KINDS = 3; // that stand above each other

export function Timeline({ page }: { page: Page }) {
  const { player } = page;
  const { clock, live, source } = player;
  const { tick, running } = player;
  const button = (label: string, text: string, act: () => void, more = {}) => (
    <button type="button" aria-label={label} title={label} onClick={act} {...more}>
      {text}
    </button>
  );
  return (
    <footer class="timeline" aria-label={T.timeline}>
      <Line page={page} tick={tick} />
      <div class="controls">
        {button(T.commands.backFar, "◂◂", () => page.run("backFar"))}
        {button(T.back, "◂", () => page.run("back"))}
        {button(running ? T.pauseLabel : T.playLabel, running ? "❚❚" : "▶", () => page.run("play"), { class: "play" })}
        {button(T.forward, "▸", () => page.run("forward"))}
        {button(T.commands.forwardFar, "▸▸", () => page.run("forwardFar"))}
        <TickField page={page} tick={tick} />
        <span class="quiet">{T.ofTicks(clock.last)}</span>
        <span class="gap" />
        {button(T.previousEvent, "⇤", () => page.run("previousEvent"), { disabled: !source?.marks.length })}
        <select aria-label={T.eventKind} value={page.eventKind ?? ""} onChange={(event) => page.setEventKind(event.currentTarget.value || null)}>
          <option value="">{source?.marks.length ? T.allEvents : T.noEvents}</option>
          {page.eventKinds().map((kind) => (
            <option value={kind}>{T.kinds[kind] ?? kind}</option>
          ))}
        </select>
        {button(T.nextEvent, "⇥", () => page.run("nextEvent"), { disabled: !source?.marks.length })}
        <span class="gap" />
        {button(T.slower, "−", () => player.faster(-1))}
        <output class="speed" aria-label={T.speedLabel}>
          {T.speed(player.speed)}
        </output>
        {button(T.faster, "+", () => player.faster(1))}
        <span class="gap" />
        <button type="button" aria-pressed={player.following} disabled={player.selected === null} title={player.selected === null ? T.followWhom : T.follow} onClick={() => page.run("follow")}>
          {T.follow}
        </button>
        {live && (
          <button type="button" aria-pressed={player.atPresent} title={T.toPresent} onClick={() => player.present()}>
            {T.present}
          </button>
        )}
        {page.match !== null && !page.about?.read_only && (
          <button type="button" title={T.playOnTitle} onClick={() => page.run("take")}>
            {T.playOn}
          </button>
        )}
        {button(T.help, "?", () => page.run("help"))}
      </div>
    </footer>
  );
}

function TickField({ page, tick }: { page: Page; tick: number }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    page.goToField = field.current;
    if (field.current && document.activeElement !== field.current) field.current.value = String(tick);
  });
  const go = () => {
    const asked = Number(field.current!.value);
    if (Number.isFinite(asked)) page.player.seek(asked);
  };
  return (
    <input
      ref={field}
      class="tick"
      inputMode="numeric"
      aria-label={T.tick}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") (go(), focusWorld());
        if (event.key === "Escape") focusWorld();
      }}
    />
  );
}

function Line({ page, tick }: { page: Page; tick: number }) {
  const { player } = page;
  const { first, last } = player.clock;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const marks = player.source?.marks ?? [];
  useEffect(() => drawMarks(canvas.current!, page.wanted(marks), first, last), [marks, page.eventKind, first, last, page.width, page.dark]);
  const seek = (event: PointerEvent) => {
    const { left, width } = box.current!.getBoundingClientRect();
    player.seek(first + ((event.clientX - left) / width) * (last - first));
  };
  const share = last > first ? (tick - first) / (last - first) : 0;
  return (
    <div
      ref={box}
      class="line"
      role="slider"
      tabIndex={0}
      aria-label={T.timeline}
      aria-valuemin={first}
      aria-valuemax={last}
      aria-valuenow={tick}
      aria-valuetext={T.tickOf(tick, last)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        player.clock.playing = false;
        seek(event);
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && seek(event)}
    >
      <div class="rail">
        <div class="gone" style={{ width: `${100 * share}%` }} />
      </div>
      <canvas ref={canvas} class="marks" aria-hidden="true" />
      <div class="knob" style={{ left: `${100 * share}%` }} />
    </div>
  );
}

/** Signs above the rail, distinct in form. */
function drawMarks(canvas: HTMLCanvasElement, marks: Mark[], first: number, last: number): void {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d")!;
  pen.scale(ratio, ratio);
  pen.fillStyle = getComputedStyle(canvas).color;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const places = new Map<number, { x: number; signs: Set<string> }>();
  for (const { tick, kind } of marks) {
    const x = last > first ? ((tick - first) / (last - first)) * width : 0;
    const place = Math.round(x / APART);
    const there = places.get(place) ?? { x: Math.min(Math.max(x, 5), width - 5), signs: new Set() };
    if (there.signs.size < MOST_KINDS || kind === "end") there.signs.add(T.signs[kind] ?? T.otherSign);
    places.set(place, there);
  }
  for (const { x, signs } of places.values()) {
    pen.font = `${Math.min(11, height / signs.size)}px sans-serif`;
    [...signs].sort().forEach((sign, i) => pen.fillText(sign, x, ((i + 0.5) * height) / signs.size));
  }
}
