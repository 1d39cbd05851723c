/** The world: the canvas and what people do on it, or its tables where nothing has a place. */

import { useEffect, useRef } from "preact/hooks";
import type { Page } from "../page";
import { SLOW_PICTURES } from "../player";
import { T } from "../strings";
import { Later } from "./later";
import { Caption, SceneTable } from "./tables";

const MOVES = [["moveLeft", "←"], ["moveRight", "→"], ["moveUp", "↑"], ["moveDown", "↓"]] as const;
const TURNS = [["turnLeft", "↶"], ["turnRight", "↷"], ["tiltUp", "⤒"], ["tiltDown", "⤓"]] as const;
const overlayLine = async () => (await import("./overlays")).OverlayLine;
const CLICK = 5; // pixels that a pointer may move in a click

export function Stage({ page }: { page: Page }) {
  const { player } = page;
  const drawn = player.pictured;
  const overlay = player.source?.lays?.overlay;
  return (
    <main class="stage" tabIndex={-1}>
      {player.live?.status.note && <p class="note quiet">{player.live.status.note}</p>}
      {drawn ? <World key={`${!!player.makeSolid && player.placed}`} page={page} /> : <Tables page={page} />}
      {overlay && (page.tab !== "overlays" || !page.panels) && <Later load={overlayLine} overlay={overlay} />}
      {drawn && (
        <div class="below">
          <Caption page={page} />
          <Tools page={page} />
        </div>
      )}
      {player.slow >= SLOW_PICTURES && (
        <p class="notice">
          {T.solidSlow}{" "}
          <button type="button" onClick={() => page.run("solid")}>
            {T.flat}
          </button>
        </p>
      )}
      {player.problem && <p class="notice">{T.damaged(player.problem)}</p>}
      {player.loading && <p class="notice">{T.loading}</p>}
      {player.live?.connection === "ended" && !player.shot && player.live.why && <p class="notice">{player.live.why}</p>}
      {player.live?.connection === "connecting" && <p class="notice late">{T.preparing}</p>}
      {player.live?.status.preparing && <p class="notice late">{T.firstStep}</p>}
      {player.live?.connection === "open" && !player.shot && <p class="notice late">{T.loading}</p>}
    </main>
  );
}

const pastTables = async () => (await import("./past")).PastTables;

function Tables({ page }: { page: Page }) {
  const layers = page.player.shot?.scene.layers ?? [];
  return (
    <div class="only-tables">
      {layers.map((layer) => (
        <>
          <SceneTable layer={layer} />
          {layer.schema.options.history && <Later load={pastTables} page={page} layer={layer} />}
        </>
      ))}
    </div>
  );
}

function World({ page }: { page: Page }) {
  const { player } = page;
  const canvas = useRef<HTMLCanvasElement>(null);
  const down = useRef(new Map<number, { x: number; y: number; moved: number }>());
  useEffect(() => {
    const element = canvas.current!;
    player.attach(element);
    page.canvas = element;
    const resized = new ResizeObserver(([entry]) => player.resize(entry!.contentRect.width, entry!.contentRect.height));
    resized.observe(element);
    // Preact would add it as passive, where it could not keep the page from scrolling.
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      player.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      resized.disconnect();
      player.attach(null);
    };
  }, []);
  const move = (event: PointerEvent) => {
    const last = down.current.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    const others = [...down.current].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    if (others[0]) {
      const before = Math.hypot(last.x - others[0].x, last.y - others[0].y);
      player.zoom(Math.hypot(event.clientX - others[0].x, event.clientY - others[0].y) / Math.max(before, 1), event.offsetX, event.offsetY);
    } else if (last.moved + Math.hypot(dx, dy) > CLICK) (player.solid && (event.shiftKey || event.buttons & 2) ? player.turn(dx, dy) : player.drag(dx, dy));
    else return;
    down.current.set(event.pointerId, { x: event.clientX, y: event.clientY, moved: last.moved + Math.hypot(dx, dy) + CLICK });
  };
  return (
    <div class="world">
      <canvas
        ref={canvas}
        role="img"
        tabIndex={0}
        aria-label={T.canvas(player.source?.world ?? "", player.tick, player.inView.length)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          down.current.set(event.pointerId, { x: event.clientX, y: event.clientY, moved: 0 });
        }}
        onPointerMove={move}
        onPointerUp={(event) => {
          const moved = down.current.get(event.pointerId)?.moved ?? 0;
          down.current.delete(event.pointerId);
          if (moved <= CLICK) page.click(event.offsetX, event.offsetY);
        }}
        onPointerCancel={(event) => down.current.delete(event.pointerId)}
        onDblClick={() => page.run("follow")}
        onContextMenu={(event) => player.solid && event.preventDefault()}
      />
    </div>
  );
}

function Tools({ page }: { page: Page }) {
  const { player } = page;
  return (
    <div class="tools">
      <button type="button" aria-label={T.nearer} title={T.nearer} onClick={() => player.zoom(1.4)}>
        +
      </button>
      <button type="button" aria-label={T.farther} title={T.farther} onClick={() => player.zoom(1 / 1.4)}>
        −
      </button>
      <button type="button" aria-label={T.fit} title={T.fit} onClick={() => page.run("fit")}>
        ⤢
      </button>
      {MOVES.map(([command, sign]) => (
        <button type="button" aria-label={T.commands[command]} title={T.commands[command]} onClick={() => page.run(command)}>
          {sign}
        </button>
      ))}
      <button type="button" aria-label={T.commands.picture} title={`${T.commands.picture} (S)`} onClick={() => page.run("picture")}>
        PNG
      </button>
      {player.placed && (
        <button type="button" aria-label={T.solid} title={`${T.solid} (V)`} aria-pressed={!!player.makeSolid} onClick={() => page.run("solid")}>
          3D
        </button>
      )}
      {player.solid &&
        TURNS.map(([command, sign]) => (
          <button type="button" aria-label={T.commands[command]} title={T.commands[command]} onClick={() => page.run(command)}>
            {sign}
          </button>
        ))}
    </div>
  );
}
