/** Overlays over a world in play, and what an agent sees, beside what Python makes of the same moment. */

import { Page as Tab } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Page } from "../src/page";
import { short } from "../src/words";
import { json } from "./fixtures";
import { openMatch, openWorld, seek, withTab } from "./tab";

declare const window: Window & { interplay: Page };

const PATIENCE = 30_000; // networks are compiled
const values = json<{ ends: number[]; seen: number[]; cells: number[] }>("values.json");

/** The small run at the first moment of seed 0, where it stays. */
const openSmall = async (tab: Tab) => {
  await tab.evaluate(() => window.interplay.openRun(window.interplay.sources!.runs.find((one) => one.name === "small")!.id));
  await tab.waitForFunction(() => window.interplay.player.shot, null, { timeout: PATIENCE });
  await tab.evaluate(() => {
    window.interplay.player.live!.say({ type: "run", on: false });
    window.interplay.player.live!.say({ type: "reset", seed: 0 });
  });
  await tab.waitForFunction(() => window.interplay.player.shot!.first && !window.interplay.player.live!.status.running);
};

const laid = (tab: Tab, name: string) => tab.waitForFunction((name) => window.interplay.player.live!.overlay?.name === name, name, { timeout: PATIENCE });

describe("overlays", () => {
  it("of values are Python's, in numbers, cells and colours, and found again by their address", () =>
    withTab(async (tab) => {
      await openSmall(tab);
      await tab.getByRole("tab", { name: "Overlays" }).click();
      await tab.locator("#panel select").first().selectOption("values");
      await tab.locator("#panel select").nth(1).selectOption("1");
      await tab.waitForFunction(() => window.interplay.player.live!.overlay?.title === "population 1, full", null, { timeout: PATIENCE });
      const [low, high] = values.ends as [number, number];
      await expect.poll(() => tab.locator(".ends span").allTextContents()).toEqual([low, (low + high) / 2, high].map((end) => short(Math.fround(end))));
      expect(await tab.locator(".legend").textContent()).toContain(`from ${short(values.seen[0])} to ${short(values.seen[1])} here`);
      const cells = await tab.evaluate(() => [...window.interplay.player.live!.overlay!.cells]);
      expect(cells).toEqual(values.cells.slice(0, cells.length));
      // Somewhere below the middle is orange, somewhere above it blue; agents apart the world has no such colours any more.
      const drawn = await tab.evaluate(() => {
        const { overlay } = window.interplay.player.live!;
        const { camera } = window.interplay.player;
        const canvas = document.querySelector<HTMLCanvasElement>("canvas[role=img]")!;
        const ratio = canvas.width / canvas.clientWidth;
        const at = (cell: number) => {
          const [x, y] = [camera.screenX((cell % overlay!.width) + 0.5), camera.screenY(Math.floor(cell / overlay!.width) + 0.5)];
          const [red, , blue] = canvas.getContext("2d")!.getImageData(x * ratio, y * ratio, 1, 1).data;
          return red! - blue!;
        };
        const order = [...overlay!.cells.keys()].filter((cell) => overlay!.cells[cell]! > 0).sort((a, b) => overlay!.cells[a]! - overlay!.cells[b]!);
        const middle = (some: number[]) => some.map(at).sort((a, b) => a - b)[some.length >> 1]!;
        return [middle(order.slice(0, 15)), middle(order.slice(-15))];
      });
      expect(drawn[0]).toBeGreaterThan(20);
      expect(drawn[1]).toBeLessThan(-20);
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
      expect(await tab.locator("#aloud").textContent()).toBe("Population 1.");
      await openWorld(tab, "mmo/forage", PATIENCE);
      await tab.keyboard.press("o");
      await expect.poll(() => tab.locator(".error").textContent()).toContain("random expects nothing");
      await openWorld(tab, "dilemma/fixed", PATIENCE);
      await tab.keyboard.press("o");
      await expect.poll(() => tab.locator(".toast").textContent()).toBe("This world has no overlays.");
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
      for (const at of [20, 50, 3]) {
        await seek(tab, at);
        await over(tab, at);
        const four = 4 * (at + 1);
        expect(Math.abs((await visits()) - four)).toBeLessThanOrEqual(0.02 * four); // a byte for each cell
        await expect.poll(() => tab.locator(".legend").textContent()).toContain(`Counted from tick 0 to ${at}.`);
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
