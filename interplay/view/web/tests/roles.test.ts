/** Hidden roles: for who watches, and for no page while somebody plays; what was said and voted, step by step; day and night on the time line. */

import type { Page as Tab } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Page } from "../src/page";
import { openMatch, openWorld, seek, tick, withTab } from "./tab";

declare const window: Window & { interplay: Page };

const WORLD = "werewolf/aiwolf5"; // no other test opens it

const roles = (tab: Tab) => tab.evaluate(() => window.interplay.player.shot!.scene.layers.find(({ schema }) => schema.name === "roles")!.text.join(""));
const say = (tab: Tab, said: object) => tab.evaluate((said) => window.interplay.player.live!.say(said as { type: "key" }), said);
const time = (tab: Tab) => tab.evaluate(() => ({ first: window.interplay.player.clock.first, since: window.interplay.player.live!.since, tick: window.interplay.player.tick }));

const newest = (tab: Tab) => tab.evaluate(() => window.interplay.player.live!.reel.last); // what is drawn may be on its way there

async function step(tab: Tab): Promise<void> {
  const now = await newest(tab);
  await say(tab, { type: "step", n: 1 });
  await expect.poll(() => newest(tab), { timeout: 30_000 }).toBe(now + 1); // the first one compiles
}

describe("hidden roles", () => {
  it("are shown while nobody plays; who takes a seat begins a new game, and nothing from before is looked back on", () =>
    withTab(async (tab) => {
      await openWorld(tab, WORLD);
      await say(tab, { type: "run", on: false });
      await expect.poll(() => tab.evaluate(() => window.interplay.player.live!.status.running)).toBe(false);
      await expect.poll(() => tab.locator(".note").textContent()).toContain("hidden roles are shown");
      expect((await roles(tab)).length).toBe(5);
      for (let i = 0; i < 3; i++) await step(tab);
      const before = await newest(tab);
      await tab.evaluate(() => (window.interplay.select(1), window.interplay.run("take")));
      await expect.poll(() => tab.locator(".note").textContent()).toContain("a new game is played; every page sees only the public table");
      await expect.poll(() => roles(tab)).toBe("");
      expect(await time(tab)).toEqual({ first: before + 1, since: before + 1, tick: before + 1 });
      for (const key of ["Alt+Home", "Alt+ArrowLeft", "Alt+,"]) {
        await tab.keyboard.press(key);
        expect([key, (await time(tab)).tick, await roles(tab)]).toEqual([key, before + 1, ""]);
      }
      await tab.keyboard.press("Alt+t");
      await expect.poll(() => roles(tab)).toHaveLength(5);
      expect((await time(tab)).since).toBeNull();
    }));

  it("who watches is told why nothing is told of other seats while somebody plays, and of them again afterwards", () =>
    withTab(async (player) => {
      await openWorld(player, WORLD);
      await say(player, { type: "run", on: false });
      await withTab(async (tab) => {
        await openWorld(tab, WORLD);
        await tab.evaluate(() => window.interplay.select(2));
        const details = () => tab.evaluate(() => [window.interplay.details?.slot ?? null, window.interplay.detailsError] as const);
        await expect.poll(details).toEqual([2, null]);
        for (const key of ["role", "own_id", "phase"]) expect(await tab.locator(`details:has(summary:text-matches("^${key}")) .said`).textContent()).toMatch(/^[a-z_0-9]+$/);
        await player.evaluate(() => (window.interplay.select(1), window.interplay.run("take")));
        await expect.poll(async () => String((await details())[1])).toContain("roles are hidden and a seat is played");
        await player.keyboard.press("Alt+t");
        await expect.poll(details).toEqual([2, null]);
      });
    }));

  it("stand in no recording that was not made to reveal them; names and words are read by step, and keys go by day and night", () =>
    withTab(async (tab) => {
      await openMatch(tab, "werewolf.replay", 0);
      const phases = await tab.evaluate(() => window.interplay.player.source!.marks.filter(({ kind }) => kind === "phase").map((mark) => mark.tick));
      expect(phases.length).toBeGreaterThan(2);
      const said: string[][] = []; // of each step in which the public saw a board, the newest first
      for (let at = 0; at <= phases[2]!; at++) {
        await seek(tab, at);
        const names = await tab.evaluate(() => window.interplay.player.shot!.scene.layers.find(({ schema }) => schema.name === "board")!.text.map((row) => String(row[3])));
        if (names.some((name) => name !== "-")) said.unshift(names);
        expect(await roles(tab)).toBe("");
      }
      expect(said.length).toBeGreaterThan(1);
      await tab.getByRole("button", { name: "Table", exact: true }).or(tab.getByRole("tab", { name: "Table" })).click();
      const table = tab.locator(".past table");
      await expect.poll(() => table.locator("thead th").allTextContents()).toHaveLength(1 + said.length);
      const heads = await table.locator("thead th").allTextContents();
      expect([heads[0], heads.at(-1)]).toEqual(["seat", "day 0, day talk"]);
      for (const [seat, row] of (await table.locator("tbody tr").all()).entries()) expect(await row.locator("td").allTextContents()).toEqual(said.map((names) => names[seat]));
      await tab.evaluate(() => window.interplay.setEventKind("phase"));
      await seek(tab, 0);
      for (const wanted of phases.slice(0, 3)) {
        await tab.keyboard.press(".");
        await expect.poll(() => tick(tab)).toBe(wanted);
      }
    }));
});
