/** Overlays over a world in play, and what an agent sees, beside what Python makes of the same moment. */

import { Page as Tab } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Page } from "../src/page";
import { colourAt } from "../src/overlay";
import { short } from "../src/words";
import { json } from "./fixtures";
import { openMatch, openWorld, seek, withTab } from "./tab";

declare const window: Window & { interplay: Page };

const PATIENCE = 30_000; // networks are compiled
/** What an overlay of Python's has to show at the same moment. */
interface Told {
  ends: [number, number];
  seen: [number, number];
  cells: number[];
  title: string;
  diverging: boolean;
  log: boolean;
}

const expected = json<Record<string, Told>>("overlays.json");

/** A run's world at the first moment of seed 0, where it stays. */
const openRun = async (tab: Tab, name: string) => {
  await tab.evaluate((name) => window.interplay.openRun(window.interplay.sources!.runs.find((one) => one.name === name)!.id), name);
  await tab.waitForFunction(() => window.interplay.player.shot, null, { timeout: PATIENCE });
  await tab.evaluate(() => {
    window.interplay.player.live!.say({ type: "run", on: false });
    window.interplay.player.live!.say({ type: "reset", seed: 0 });
  });
  await tab.waitForFunction(() => window.interplay.player.shot!.first && !window.interplay.player.live!.status.running);
};
const openSmall = (tab: Tab) => openRun(tab, "small");

/** Holds what lies over the world against Python's: its numbers, its cells and their colours. The tab of overlays is open. */
async function agrees(tab: Tab, name: string): Promise<void> {
  const { ends, ...told } = expected[name]!;
  const [found, offered] = await tab.evaluate(() => {
    const { overlays, overlay } = window.interplay.player.source!.lays!;
    const { height, width, cells, ...rest } = overlay!;
    return [{ ...rest, shape: [height, width], cells: [...cells] }, overlays.map((one) => one.name)] as const;
  });
  expect(offered.filter((one) => !expected[one])).toEqual([]); // a new one wants to be compared too
  expect(found).toMatchObject({ name, ...told });
  const [low, high] = ends;
  const middle = told.log ? Math.expm1((Math.log1p(low) + Math.log1p(high)) / 2) : (low + high) / 2;
  await expect.poll(() => tab.locator(".ends span").allTextContents()).toEqual([low, middle, high].map((end) => short(Math.fround(end))));
  expect(await tab.locator("#panel .legend").textContent()).toContain(`from ${short(told.seen[0])} to ${short(told.seen[1])} here`);
  await isPainted(tab, expected[name]!);
}

/** Cells are as warm or as cold as the scale makes their values, but for a few in which agents stand; those without a value stay grey. */
async function isPainted(tab: Tab, { cells, diverging }: Told): Promise<void> {
  const warmth = (told: number): number => {
    const [[red, , blue], opacity] = told ? colourAt((told - 1) / 254, diverging) : [[0, 0, 0], 0];
    return opacity * (red - blue);
  };
  let drawn = await warmths(tab);
  const alike = (some: number[]) => some.filter((cell) => Math.abs(drawn[cell]! - warmth(cells[cell]!)) < 25).length / some.length;
  const shown = [...cells.keys()].filter((cell) => drawn[cell] !== null);
  const [known, clear] = [shown.filter((cell) => cells[cell]), shown.filter((cell) => !cells[cell])];
  expect(known.length).toBeGreaterThan(20);
  // On a loaded machine the words beside a picture may stand there before it is painted.
  await expect.poll(async () => ((drawn = await warmths(tab)), alike(known)), { timeout: PATIENCE }).toBeGreaterThan(0.75);
  if (clear.length) expect(alike(clear)).toBeGreaterThan(0.9);
}

/** How much more red than blue is drawn in the middle of each cell; null beyond the edge of the picture. */
const warmths = (tab: Tab) =>
  tab.evaluate(() => {
    const { camera, source } = window.interplay.player;
    const { cells, width, form, origin, cell: size } = source!.lays!.overlay!;
    const around = form === "window";
    const canvas = document.querySelector<HTMLCanvasElement>(around ? ".around canvas" : "canvas[role=img]")!;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    const ratio = canvas.width / canvas.clientWidth;
    return [...cells.keys()].map((cell) => {
      const [column, row] = [cell % width, Math.floor(cell / width)];
      const [x, y] = around ? [column, row] : [ratio * camera.screenX(origin[0] + size * (column + 0.5)), ratio * camera.screenY(origin[1] + size * (row + 0.5))];
      if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return null;
      const at = 4 * (Math.floor(y) * canvas.width + Math.floor(x));
      return ((data[at]! - data[at + 2]!) * data[at + 3]!) / 255; // a window's pixels have no ground below
    });
  });

const laid = (tab: Tab, name: string) => tab.waitForFunction((name) => window.interplay.player.live!.overlay?.name === name, name, { timeout: PATIENCE });

describe("overlays", () => {
  it("of values are Python's, in numbers, cells and colours, and found again by their address", () =>
    withTab(async (tab) => {
      await openSmall(tab);
      await tab.getByRole("tab", { name: "Overlays" }).click();
      await tab.locator("#panel select").first().selectOption("values");
      await tab.locator("#panel select").nth(1).selectOption("1");
      await tab.waitForFunction(() => window.interplay.player.live!.overlay?.title === "population 1, full", null, { timeout: PATIENCE });
      await agrees(tab, "values");
      await expect.poll(() => tab.evaluate(() => location.hash)).toContain("tab=overlays&overlay=values");
      await tab.reload();
      await tab.waitForFunction(() => window.interplay?.player.shot, null, { timeout: PATIENCE });
      await laid(tab, "values");
    }), 60_000);

  it("follow their keys, stand around an agent too, and are refused in words", () =>
    withTab(async (tab) => {
      await openSmall(tab);
      await tab.getByRole("tab", { name: "Overlays" }).click();
      for (const name of ["values", "exploration", "dependence"]) {
        await tab.keyboard.press("o");
        await laid(tab, name);
      }
      await expect.poll(() => tab.locator(".around canvas").getAttribute("aria-label")).toContain("population 0 sees its own");
      await tab.keyboard.press("p");
      await expect.poll(() => tab.locator(".around canvas").getAttribute("aria-label")).toContain("population 1 sees its own");
      await agrees(tab, "dependence");
      expect(await tab.locator("#aloud").textContent()).toBe("Population 1.");
      await openWorld(tab, "mmo/forage", PATIENCE);
      await tab.keyboard.press("o");
      await expect.poll(() => tab.locator(".error").textContent()).toContain("random has no value function");
      await openWorld(tab, "dilemma/fixed", PATIENCE);
      await tab.keyboard.press("o");
      await expect.poll(() => tab.locator(".toast").textContent()).toBe("This world has no overlays.");
    }), 60_000);

  it("of places are what the network of the selected agent expects there", () =>
    withTab(async (tab) => {
      await openRun(tab, "standing");
      await tab.getByRole("tab", { name: "Overlays" }).click();
      await tab.evaluate(() => window.interplay.select(2));
      await tab.locator("#panel select").first().selectOption("place_values");
      await tab.waitForFunction((title) => window.interplay.player.live!.overlay?.title === title, expected.place_values!.title, { timeout: PATIENCE });
      await agrees(tab, "place_values");
    }), 60_000);
});

describe("overlays of a recording", () => {
  const over = (tab: Tab, at: number) => tab.waitForFunction((at) => window.interplay.player.source!.lays!.overlay?.tick === at, at, { timeout: PATIENCE });

  it("count from its beginning to the tick in view, on and back", () =>
    withTab(async (tab) => {
      await openMatch(tab, "survival.replay", 20);
      await seek(tab, 20);
      await tab.getByRole("tab", { name: "Overlays" }).click();
      await tab.locator("#panel select").first().selectOption("visits");
      // Two against two, and nobody has died: each agent has spent each tick somewhere.
      const visits = () =>
        tab.evaluate(() => {
          const { cells, highest } = window.interplay.player.source!.lays!.overlay!;
          return Math.round(cells.reduce((sum, cell) => sum + (cell ? Math.expm1(((cell - 1) / 254) * Math.log1p(highest)) : 0), 0));
        });
      for (const at of [20, 60, 3]) {
        await seek(tab, at);
        await over(tab, at);
        const four = 4 * (at + 1);
        expect(Math.abs((await visits()) - four)).toBeLessThanOrEqual(0.02 * four); // a byte for each cell
        await expect.poll(() => tab.locator(".legend").textContent()).toContain(`Counted from tick 0 to ${at}.`);
        if (at === 60) await agrees(tab, "visits");
      }
      await tab.getByRole("tab", { name: "Agent" }).click();
      await expect.poll(() => tab.locator(".laid").textContent(), { timeout: PATIENCE }).toContain("visits"); // its numbers, though its tab is not open
      await expect.poll(() => tab.evaluate(() => location.hash)).toContain("overlay=visits");
      await tab.reload();
      await tab.waitForFunction(() => window.interplay?.player.shot, null, { timeout: PATIENCE });
      await over(tab, 3);
      await tab.getByRole("tab", { name: "Agent" }).click();
      await tab.locator(".legend.laid").waitFor(); // the numbers stay in view
      await openMatch(tab, "match.replay");
      await tab.keyboard.press("o");
      await expect.poll(() => tab.locator(".toast").textContent()).toContain("holds scenes alone");
    }), 60_000);

  it("of a persistent world are who has been where, and how attacks landed", () =>
    withTab(async (tab) => {
      await openMatch(tab, "mmo.replay", 60);
      await seek(tab, 60);
      await tab.getByRole("tab", { name: "Overlays" }).click();
      for (const name of ["exploration", "combat"]) {
        await tab.locator("#panel select").first().selectOption(name);
        await tab.waitForFunction((name) => window.interplay.player.source!.lays!.overlay?.name === name, name, { timeout: PATIENCE });
        await over(tab, 60);
        await agrees(tab, name);
      }
    }), 60_000);
});

describe("what an agent sees", () => {
  it("is a picture of tiles and rows that are marked in the world", () =>
    withTab(async (tab) => {
      await openSmall(tab);
      await tab.evaluate(() => window.interplay.player.step(5));
      await tab.waitForFunction(() => window.interplay.player.shot!.tick >= 6 && !window.interplay.player.live!.status.running);
      await tab.getByRole("tab", { name: "Agent" }).click();
      await tab.locator("canvas[role=img]").focus();
      await tab.keyboard.press("]");
      await expect.poll(() => tab.locator(".seen thead th").allTextContents()).toEqual(["Agent", "age", "health", "food", "water", "row", "column", "rows away", "columns away", "damage", "own population", "freeze"]);
      expect(await tab.locator("canvas.crop").first().getAttribute("aria-label")).toBe("tiles, a picture of 15 by 15 cells");
      const own = await tab.evaluate(() => window.interplay.nameOf(window.interplay.player.selected!));
      expect(await tab.locator(".seen tbody th").first().textContent()).toBe(own);
      await tab.locator(".seen tbody tr").first().hover();
      const marked = () => tab.evaluate(() => (window.interplay.player as unknown as { marked: number | null }).marked);
      await expect.poll(marked).toBe(await tab.evaluate(() => window.interplay.player.selected));
      await tab.getByRole("tab", { name: "Table" }).click();
      await expect.poll(marked).toBe(null);
    }), 60_000);

  it("has rays that are drawn in the world from the heading of who is selected", () =>
    withTab(async (tab) => {
      await openMatch(tab, "survival.replay", 0);
      await seek(tab, 0);
      const darkest = (angles: number[]) =>
        tab.evaluate((angles) => {
          const { player } = window.interplay;
          player.select(0);
          player.cast("eyes", angles.length ? { angles, lengths: angles.map(() => 4) } : null);
          player.seek(0);
          const { camera, agents } = player;
          const canvas = document.querySelector<HTMLCanvasElement>("canvas[role=img]")!;
          const ratio = canvas.width / canvas.clientWidth;
          const [x, y, heading] = ["x", "y", "angle"].map((name) => agents!.columns.get(name)![0]!) as [number, number, number];
          const ink = [0.5, -0.5].map((turn) => {
            const [wx, wy] = [x + 3 * Math.cos(heading + turn), y + 3 * Math.sin(heading + turn)];
            const { data } = canvas.getContext("2d")!.getImageData((camera.screenX(wx) - 2) * ratio, (camera.screenY(wy) - 2) * ratio, 4 * ratio, 4 * ratio);
            return Math.min(...Array.from({ length: data.length / 4 }, (_, i) => data[4 * i]! + data[4 * i + 1]! + data[4 * i + 2]!));
          });
          return ink;
        }, angles);
      const [left, right] = await darkest([]);
      const [one, other] = await darkest([0.5]);
      expect(one).toBeLessThan(left! - 150);
      expect(other).toBe(right);
    }), 60_000);

  it("of a battle is a table of enemies and one of allies", () =>
    withTab(async (tab) => {
      await openWorld(tab, "battle/3m", PATIENCE);
      await tab.getByRole("tab", { name: "Agent" }).click();
      await tab.evaluate(() => window.interplay.select(4));
      await expect.poll(() => tab.locator("summary").allTextContents()).toEqual(["units · ground 4", "units · enemies 3 × 5", "units · allies 2 × 5", "units · itself 1"]);
      expect(await tab.locator(".seen tbody th").allTextContents()).toEqual(["red_0", "red_1", "red_2", "blue_0", "blue_2"]);
      await tab.getByRole("button", { name: "red_1" }).click();
      expect(await tab.evaluate(() => window.interplay.player.selected)).toBe(1);
    }), 60_000);
});
