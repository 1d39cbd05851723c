/** Every command of the list that `?` shows is pressed here, and does what it says. */

import { Page as Tab } from "playwright-core";
import { expect, it } from "vitest";
import { Command, KEYS_OF } from "../src/keys";
import type { Page } from "../src/page";
import { openMatch, openWorld, withTab } from "./tab";

declare const window: Window & { interplay: Page };

/** What has to be open, one after the other. */
const PLACES = {
  recording: (tab: Tab) => openMatch(tab),
  overlays: (tab: Tab) => openMatch(tab, "survival.replay"),
  world: async (tab: Tab) => {
    await openWorld(tab, "dilemma/open-ended");
    await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: true }));
    await tab.waitForFunction(() => window.interplay.player.live!.reel.last > 2);
  },
  solid: (tab: Tab) => openMatch(tab),
};

/** What a command is seen by. Everything but `wanted` runs in the page. */
interface Effect {
  in: keyof typeof PLACES;
  /** Brings about that it can be seen. */
  begin?: () => void;
  look: () => unknown;
  /** What is seen after it, or whether that is so, given what was seen before. */
  wanted: unknown;
}

/** How names of keys in the list are called by those who press them. */
const PRESSED: Record<string, string> = { Space: " ", "←": "ArrowLeft", "→": "ArrowRight", "Shift ←": "Shift+ArrowLeft", "Shift →": "Shift+ArrowRight", "−": "-", Esc: "Escape" };

const grows = (before: number, after: number) => after > 1.3 * before;
const shrinks = (before: number, after: number) => after < before / 1.3;
const tick = () => window.interplay.player.shot!.tick;
const selected = () => window.interplay.player.selected;
const speed = () => window.interplay.player.clock.speed;
const scale = () => window.interplay.player.camera.scale;
const middle = () => [window.interplay.player.camera.x, window.interplay.player.camera.y];
const aloud = () => document.getElementById("aloud")!.textContent;
const eye = () => {
  const { lens } = window.interplay.player.solid!;
  lens.aim();
  return lens.eye.position.toArray();
};
const goes = (axis: number, by: number) => (before: number[], after: number[]) => Math.sign(after[axis]! - before[axis]!) === by;

/** At tick 100 walker 5 is selected, walker 2 has just died, and events are at 20, 35, 60, 75, 100, 115 … */
const EFFECTS: Record<Command, Effect> = {
  play: { in: "recording", look: () => window.interplay.player.clock.playing, wanted: true },
  back: { in: "recording", look: tick, wanted: 99 },
  forward: { in: "recording", look: tick, wanted: 101 },
  backFar: { in: "recording", look: tick, wanted: 0 },
  forwardFar: { in: "recording", look: tick, wanted: 200 },
  start: { in: "recording", look: tick, wanted: 0 },
  end: { in: "recording", look: tick, wanted: 249 },
  previousEvent: { in: "recording", look: tick, wanted: 75 },
  nextEvent: { in: "recording", look: tick, wanted: 115 },
  eventKind: { in: "recording", look: () => window.interplay.eventKind, wanted: "death" },
  faster: { in: "recording", look: speed, wanted: 20 },
  slower: { in: "recording", look: speed, wanted: 5 },
  goTo: { in: "recording", look: () => document.activeElement?.getAttribute("aria-label"), wanted: "Tick" },
  previousAgent: { in: "recording", begin: () => window.interplay.select(3), look: selected, wanted: 1 },
  nextAgent: { in: "recording", begin: () => window.interplay.select(1), look: selected, wanted: 3 },
  follow: { in: "recording", look: () => window.interplay.player.following, wanted: true },
  fit: { in: "recording", begin: () => window.interplay.player.zoom(3), look: () => window.interplay.player.camera.fitted, wanted: true },
  zoomIn: { in: "recording", look: scale, wanted: grows },
  zoomOut: { in: "recording", look: scale, wanted: shrinks },
  moveLeft: { in: "recording", look: middle, wanted: goes(0, -1) },
  moveRight: { in: "recording", look: middle, wanted: goes(0, 1) },
  moveUp: { in: "recording", look: middle, wanted: goes(1, -1) },
  moveDown: { in: "recording", look: middle, wanted: goes(1, 1) },
  panels: { in: "recording", look: () => !!document.querySelector("aside"), wanted: false },
  picture: { in: "recording", look: aloud, wanted: "The picture was saved." },
  help: { in: "recording", look: () => document.querySelectorAll("dialog[open] dt").length, wanted: KEYS_OF.length },
  close: { in: "recording", look: selected, wanted: null },
  solid: { in: "solid", look: () => !!window.interplay.player.solid, wanted: true },
  // Who turns left sees the eye go to the right, and the other way round.
  turnLeft: { in: "solid", look: eye, wanted: goes(0, 1) },
  turnRight: { in: "solid", look: eye, wanted: goes(0, -1) },
  tiltUp: { in: "solid", look: eye, wanted: goes(1, 1) },
  tiltDown: { in: "solid", look: eye, wanted: goes(1, -1) },
  overlay: { in: "overlays", look: () => window.interplay.player.source!.lays!.overlay?.name, wanted: "visits" },
  population: { in: "overlays", look: () => window.interplay.player.source!.lays!.wanted?.population, wanted: 0 },
  live: { in: "world", begin: () => window.interplay.player.seek(0), look: () => window.interplay.player.atPresent, wanted: true },
  take: { in: "world", begin: () => window.interplay.select(0), look: () => window.interplay.player.live!.held, wanted: 0 },
};

/** The page as a command finds it: nothing moves, no list is open, and the world has the focus. */
async function calm(tab: Tab): Promise<void> {
  await tab.evaluate(settle);
  await tab.waitForFunction(() => !document.querySelector("dialog") && document.querySelector("aside")); // panels are drawn a moment later
  await tab.locator("canvas[role=img]").focus();
}

/** Runs in the page. */
function settle(): void {
  const { interplay } = window;
  const { player } = interplay;
  [interplay.panels, interplay.help, interplay.eventKind, player.clock.playing, player.clock.speed] = [true, false, null, false, 10];
  player.seek(100);
  interplay.select(5);
  player.fit();
}

it("every command of the list does what it says", () =>
  withTab(async (tab) => {
    expect(KEYS_OF.map(([command]) => command).filter((command) => !EFFECTS[command])).toEqual([]);
    for (const [place, open] of Object.entries(PLACES)) {
      await open(tab);
      for (const [command, key] of KEYS_OF.filter(([command]) => EFFECTS[command].in === place)) {
        const { begin, look, wanted } = EFFECTS[command];
        if (place === "recording") await calm(tab);
        if (begin) await tab.evaluate(begin);
        const before = await tab.evaluate(look);
        await tab.keyboard.press(PRESSED[key] ?? key);
        const seen = async () => {
          const after = await tab.evaluate(look);
          return typeof wanted === "function" ? (wanted as (before: unknown, after: unknown) => boolean)(before, after) : after;
        };
        await expect.poll(seen, { message: `${key}: ${command}`, interval: 20, timeout: 10_000 }).toEqual(typeof wanted === "function" ? true : wanted);
        expect([command, typeof wanted === "function" || before !== wanted]).toEqual([command, true]); // so that it was the key
      }
    }
  }), 60_000);
