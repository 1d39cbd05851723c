/** A recording goes on from the tick in view, the selected agent in one's own hands. */

import type { Page as Tab } from "playwright-core";
import { expect, it } from "vitest";
import type { Page } from "../src/page";
import { digest } from "./canonical";
import { openMatch, openWorld, seek, tick, withTab } from "./tab";

declare const window: Window & { interplay: Page };

const AT = 40;
const hash = (tab: Tab) => tab.evaluate(() => location.hash);
const shown = async (tab: Tab) => tab.evaluate(digest, await tab.evaluateHandle(() => window.interplay.player.shot!.scene));

it("plays a recording on from here by key and by button, and comes back to it", () =>
  withTab(async (tab) => {
    await openMatch(tab, "survival.replay");
    const [there, id] = [await seek(tab, AT), await tab.evaluate(() => window.interplay.match)];
    await tab.getByRole("button", { name: "Play on from here" }).click();
    await tab.waitForFunction(() => window.interplay.player.live && window.interplay.player.shot);
    expect([await tick(tab), await shown(tab)]).toEqual([AT, there]);
    await expect.poll(() => tab.locator(".note").textContent()).toContain("time begins when an agent is taken over");
    expect(await tab.locator(".policy").textContent()).toBe("played by random in place of hunter");
    expect(await tab.evaluate(() => document.activeElement?.tagName)).toBe("CANVAS");
    await expect.poll(() => hash(tab)).toContain(`live=recording:${id}@${AT}`);
    await tab.reload();
    await tab.waitForFunction(() => window.interplay?.player.live && window.interplay.player.shot);
    expect([await tick(tab), await shown(tab)]).toEqual([AT, there]);
    await tab.getByRole("button", { name: "Back to the recording" }).click();
    await tab.waitForFunction((id) => window.interplay.match === id && window.interplay.player.shot, id);
    expect(await tick(tab)).toBe(AT);
    await tab.evaluate(() => window.interplay.select(2));
    await tab.keyboard.press("t");
    await expect.poll(() => tab.locator("#aloud").textContent()).toContain("You play agent_2");
    await tab.waitForFunction((at) => window.interplay.player.tick > at, AT); // time goes on
    expect(await tab.evaluate(() => [window.interplay.player.selected, window.interplay.player.live!.held])).toEqual([2, 2]);
    await expect.poll(() => tab.getByRole("button", { name: "Give back" }).count()).toBe(1);
    await tab.getByRole("button", { name: "Back to the recording" }).click();
    await tab.waitForFunction((id) => window.interplay.match === id && window.interplay.player.shot, id);
    expect(await tab.evaluate(() => window.interplay.player.selected)).toBe(2);
  }));

it("says why a recording cannot be played on, which stays in view", () =>
  withTab(async (tab) => {
    await openMatch(tab, "match.replay");
    await seek(tab, AT);
    await tab.keyboard.press("t");
    await expect.poll(() => tab.locator(".toast").textContent()).toBe(`match.replay: tick ${AT} cannot be played on, it holds scenes alone; watching works`);
    expect([await tick(tab), await tab.evaluate(() => window.interplay.player.live), await tab.evaluate(() => window.interplay.busy)]).toEqual([AT, null, null]);
    await openMatch(tab, "werewolf.replay");
    const end = await tab.evaluate(() => window.interplay.player.source!.marks.findLast(({ kind }) => kind === "end")?.tick ?? null);
    if (end === null) throw new Error("nothing ends in it");
    await seek(tab, end);
    await tab.keyboard.press("t");
    await expect.poll(() => tab.locator(".toast").textContent()).toContain("The episode ended at this tick");
    expect(await tab.evaluate(() => window.interplay.player.live)).toBeNull();
    await openMatch(tab, "match.replay");
    await tab.evaluate(async () => {
      const { api, match } = window.interplay;
      await window.interplay.openFile(new File([await api.file(match!)], "dropped.replay"));
    });
    await expect.poll(() => tab.getByRole("button", { name: "Play on from here" }).count()).toBe(0);
    await tab.keyboard.press("t");
    await expect.poll(() => tab.locator(".toast").textContent()).toContain("use `interplay view FILE`");
    await openWorld(tab, "survival/1v1-heals-low");
    await expect.poll(() => tab.getByRole("button", { name: "New episode" }).count()).toBe(1);
    expect(await tab.getByRole("button", { name: /Play on|Back to/ }).count()).toBe(0);
  }));
