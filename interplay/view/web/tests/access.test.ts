/** The page for who sees other colours or nothing, or uses no mouse: docs/specs/viewer.md, 1.10 and 10. */

import type { Page as Tab } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Page } from "../src/page";
import { faultsOf } from "./audit";
import { atTick, openMatch, openWorld, seek, tick, withTab } from "./tab";

declare const window: Window & { interplay: Page };

/** Opens a world as its button does, and lets it go on. */
async function play(tab: Tab, name: string): Promise<void> {
  await openWorld(tab, name);
  await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: true }));
}
const select = (tab: Tab, slot: number | null) => tab.evaluate((slot) => window.interplay.select(slot), slot);
const command = (tab: Tab, name: "take" | "help" | "overlay") => tab.evaluate((name) => window.interplay.run(name), name);
const held = (tab: Tab) => tab.evaluate(() => window.interplay.player.live?.held ?? null);
const openRun = (tab: Tab, name: string) => tab.evaluate((name) => window.interplay.openRun(window.interplay.sources!.runs.find((one) => one.name.endsWith(name))!.id, false), name);
const showTab = (tab: Tab, name: string) => tab.getByRole("tab", { name }).click();

/** Looks at what is there as it is at 1280 pixels in the dark, and at 200 % zoom in the light. */
async function sound(tab: Tab, what: string): Promise<void> {
  for (const [width, height, colorScheme] of [[1280, 800, "dark"], [640, 400, "light"]] as const) {
    await tab.setViewportSize({ width, height });
    await tab.emulateMedia({ colorScheme });
    await tab.waitForTimeout(150); // panels are drawn ten times a second
    expect([what, width, await faultsOf(tab)]).toEqual([what, width, []]);
  }
}

describe("everything has a name, a place, a size and a contrast", () => {
  it("in the list, in recordings, curves and ratings", () =>
    withTab(async (tab) => {
      await sound(tab, "list");
      await openMatch(tab, "match.replay", 60);
      await tab.locator(".signs").waitFor({ state: "detached" }); // its world names nothing
      await sound(tab, "recording");
      await select(tab, 7);
      await sound(tab, "agent");
      await showTab(tab, "Overlays");
      await sound(tab, "overlays of a recording");
      await showTab(tab, "Table");
      await tab.locator(".agents").waitFor();
      await sound(tab, "table");
      await command(tab, "help");
      await tab.locator("dialog dt").first().waitFor();
      await sound(tab, "keys");
      await command(tab, "help");
      await openMatch(tab, "tables.replay", 4);
      await sound(tab, "tables alone");
      await openRun(tab, "first");
      await tab.locator(".plot canvas").waitFor();
      await tab.getByLabel("Smoothed").check();
      await sound(tab, "curves");
      await openRun(tab, "cup");
      await tab.locator(".payoff td").first().waitFor();
      await sound(tab, "ratings");
    }));

  it("of survival's legend and agents", () =>
    withTab(async (tab) => {
      await openMatch(tab, "survival.replay", 30);
      await expect.poll(() => tab.locator(".signs li").allTextContents()).toEqual(expect.arrayContaining([" safe zone", " team 1", " health, half or less", " blow"]));
      await sound(tab, "survival");
      await select(tab, 0);
      await tab.locator("summary").first().waitFor();
      await sound(tab, "an agent of survival");
    }));

  it("of worlds in play: overlays, who plays, werewolf's table", () =>
    withTab(async (tab) => {
      await play(tab, "mmo/combat");
      await tab.evaluate(() => window.interplay.setOverlay("exploration"));
      await tab.locator(".laid .scale").waitFor(); // its numbers, though its tab is not open
      await sound(tab, "an overlay beside another tab");
      await showTab(tab, "Overlays");
      await tab.locator(".laid").waitFor({ state: "detached" });
      await sound(tab, "overlays");
      await play(tab, "werewolf/6");
      await showTab(tab, "Agent");
      await select(tab, 0);
      await command(tab, "take");
      await expect.poll(() => held(tab), { timeout: 15_000 }).toBe(0); // after the first step, which compiles
      await tab.locator(".form button").first().waitFor();
      await sound(tab, "a person in werewolf");
      expect(await tab.locator(".note").textContent()).toContain("every page sees only the public table");
      await showTab(tab, "Table");
      await tab.locator(".scene-table td").first().waitFor();
      await sound(tab, "werewolf's tables");
      await command(tab, "take");
      await expect.poll(() => held(tab)).toBeNull();
    }));
});

interface Stop {
  name: string;
  ring: boolean;
  body: boolean;
}

/** Where the keyboard is. */
const here = (tab: Tab): Promise<Stop> =>
  tab.evaluate(() => {
    const at = document.activeElement as HTMLInputElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(at.closest(".file") ?? at);
    return { name: at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent ?? "", ring: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2, body: at === document.body };
  });

/** Presses Tab until the control of a name has the focus, which is seen at every stop. */
async function tabTo(tab: Tab, name: string | RegExp, key = "Tab"): Promise<void> {
  const faults: string[] = [];
  for (let i = 0; i < 160; i++) {
    await tab.keyboard.press(key);
    const stop = await here(tab);
    if (!stop.body && !stop.ring) faults.push(`${stop.name} has no outline`);
    if (typeof name === "string" ? stop.name.trim() === name : name.test(stop.name)) return expect(faults).toEqual([]);
  }
  throw new Error(`Tab never comes to ${name}`);
}
const onWorld = (tab: Tab) => expect.poll(async () => (await here(tab)).name).toMatch(/^The world /);
const spoken = (tab: Tab) => tab.locator("#aloud").textContent();

describe("in words", () => {
  const rows = (tab: Tab) => tab.locator("table.agents tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const label = (tab: Tab) => tab.locator("canvas[role=img]").getAttribute("aria-label");

  it("who is in view is counted as it is listed, with what it is, also when the solid view is turned", () =>
    withTab(async (tab) => {
      await openMatch(tab, "mmo.replay");
      await seek(tab, 40);
      await tab.getByRole("tab", { name: "Table" }).click();
      await tab.locator("table.agents tbody tr").first().waitFor();
      const alive = await tab.evaluate(() => [...window.interplay.player.agents!.columns.get("absent")!].filter((gone) => !gone).length);
      const colours = await tab.evaluate(() => {
        const { columns } = window.interplay.player.agents!;
        return [...columns.get("colour")!].filter((_, slot) => !columns.get("absent")![slot]);
      });
      expect(alive).toBeLessThan(await tab.evaluate(() => window.interplay.player.agents!.rows));
      const listed = await rows(tab);
      expect(listed.map((cells) => cells[1])).toEqual(colours.map((number) => `population ${number}`));
      expect(await label(tab)).toContain(` ${alive} agent`);
      const counted = async () => [await label(tab), (await rows(tab)).length];
      const fits = async () => {
        const [said, count] = await counted();
        return (said as string).includes(` ${count} agent`) ? count : -1;
      };
      for (let i = 0; i < 5; i++) await tab.keyboard.press("i");
      await expect.poll(fits).toBeLessThan(alive);
      await tab.evaluate(() => window.interplay.setSolid(true));
      await tab.waitForFunction(() => window.interplay.player.solid);
      for (const key of ["j", "j", "j", "m"]) await tab.keyboard.press(key);
      const seen = () => tab.evaluate(() => {
        const { player } = window.interplay;
        const { solid, camera } = player;
        const { columns, rows } = player.agents!;
        return [...Array(rows).keys()].filter((slot) => {
          if (columns.get("absent")![slot]) return false;
          const [x, y] = solid!.project(columns.get("x")![slot]!, columns.get("y")![slot]!, columns.get("radius")![slot]!);
          return x >= 0 && y >= 0 && x <= camera.width && y <= camera.height;
        }).length;
      });
      await expect.poll(async () => (await fits()) === (await seen())).toBe(true);
    }));

  it("the selected agent's kind and life so far, each event leading to its tick", () =>
    withTab(async (tab) => {
      await openMatch(tab, "match.replay");
      await seek(tab, 130);
      const [birth, slot] = await tab.evaluate(() => {
        const born = window.interplay.player.source!.marks.find(({ kind }) => kind === "birth")!;
        return [born.tick, born.slots[0]!];
      });
      await tab.evaluate((slot) => window.interplay.select(slot), slot);
      await expect.poll(() => tab.locator("aside").textContent()).toContain(`Born at tick ${birth}, ${130 - birth} ticks old.`);
      const fallen = await tab.evaluate(() => window.interplay.player.source!.marks.find(({ kind, tick, slots }) => kind === "death" && tick < 130 && slots.length === 2)!);
      await tab.evaluate((slot) => window.interplay.select(slot), fallen.slots[1]!);
      await tab.locator(".life button").first().click();
      await atTick(tab, fallen.tick);
      await openMatch(tab, "mmo.replay");
      await seek(tab, 40);
      await tab.evaluate(() => window.interplay.player.neighbour(1));
      await expect.poll(() => tab.locator("aside h2 small").first().textContent()).toMatch(/^population \d · slot/);
    }));

  it("what commands have done is told", () =>
    withTab(async (tab) => {
      const aloud = () => tab.locator("#aloud").textContent();
      await openMatch(tab, "match.replay");
      await seek(tab, 10);
      for (const [key, said] of [["ArrowRight", "Tick 11."], ["Shift+ArrowRight", "Tick 111."], ["Home", "Tick 0."], ["z", "The whole world is in view."]] as const) {
        await tab.keyboard.press(key);
        await expect.poll(aloud).toBe(said);
      }
      await openWorld(tab, "dilemma/open-ended");
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: true }));
      await expect.poll(() => tab.evaluate(() => window.interplay.player.live!.status.running)).toBe(true);
      await tab.keyboard.press(" ");
      await expect.poll(aloud).toMatch(/^Paused at tick/);
      await expect.poll(() => tab.evaluate(() => window.interplay.player.live!.status.running)).toBe(false);
      await tab.keyboard.press(" ");
      await expect.poll(aloud).toBe("Playing.");
    }));
});

describe("without a mouse", () => {
  it("one opens a recording, plays, seeks, selects in the table, follows and comes back", () =>
    withTab(async (tab) => {
      await tab.getByRole("button", { name: "Open match.replay" }).waitFor();
      await tabTo(tab, "Open match.replay");
      await tab.keyboard.press("Enter");
      await onWorld(tab);
      await expect.poll(() => spoken(tab)).toContain("Opened match.replay, 250 ticks.");
      await tab.keyboard.press(" ");
      await expect.poll(() => spoken(tab)).toContain("Paused at tick");
      await tab.keyboard.press(" ");
      const from = await tick(tab);
      await expect.poll(() => tick(tab)).toBeGreaterThan(from + 5);
      expect(await spoken(tab)).toBe("Playing."); // and nothing of each tick
      await tab.keyboard.press(" ");
      await tab.keyboard.press("g");
      await tab.keyboard.type("77");
      await tab.keyboard.press("Enter");
      await atTick(tab, 77);
      await onWorld(tab); // and not on nothing
      for (const [pressed, reached] of [["ArrowRight", 78], ["Shift+ArrowLeft", 0], [".", 20]] as const) {
        await tab.keyboard.press(pressed);
        await atTick(tab, reached);
      }
      await tabTo(tab, "Time line"); // a slider, moved by the same keys
      await tab.keyboard.press("End");
      await atTick(tab, 249);
      await tabTo(tab, "Agent", "Shift+Tab"); // the list of agents, and before it the tab
      await tabTo(tab, "Agent", "Shift+Tab");
      for (const name of ["Overlays", "Table"]) {
        await tab.keyboard.press("ArrowRight");
        expect((await here(tab)).name).toBe(name);
        await expect.poll(() => tab.locator("[role=tabpanel]").getAttribute("aria-labelledby")).toBe(`tab-${name.toLowerCase()}`);
      }
      await tabTo(tab, "Agents in view");
      for (let i = 0; i < 3; i++) await tab.keyboard.press("ArrowDown");
      await tab.keyboard.press("ArrowUp");
      const second = (await tab.locator(".agents tbody th").nth(1).textContent())!;
      await expect.poll(() => spoken(tab)).toBe(`Selected ${second}.`);
      await expect.poll(() => tab.locator(".agents").getAttribute("aria-activedescendant")).toBe(second.replace("walker ", "agent-"));
      await tab.keyboard.press("f");
      await expect.poll(() => spoken(tab)).toBe(`Following ${second}.`);
      await tab.keyboard.press("h"); // the panel in which one is goes away
      await onWorld(tab);
      await tab.keyboard.press("v"); // and the canvas itself
      await expect.poll(() => spoken(tab)).toBe("Solid view");
      await onWorld(tab);
      await tab.keyboard.press("v");
      await tabTo(tab, "Open another …", "Shift+Tab");
      await tab.keyboard.press("Enter");
      await expect.poll(async () => (await here(tab)).name).toBe("Open match.replay");
    }));

  it("one plays Pong, gives back, and votes in werewolf", () =>
    withTab(async (tab) => {
      await tab.getByRole("button", { name: "Play pong/2p", exact: true }).waitFor();
      await tabTo(tab, "Play pong/2p");
      await tab.keyboard.press("Enter");
      await onWorld(tab);
      await tab.waitForFunction(() => window.interplay.player.shot, null, { timeout: 15_000 });
      await tab.keyboard.press("]");
      await tabTo(tab, "Take over");
      await tab.keyboard.press("Enter");
      await expect.poll(() => spoken(tab)).toContain("You play left.");
      await onWorld(tab); // so that Space brakes, and presses nothing
      await tab.keyboard.press(" ");
      await tabTo(tab, "Wait for me at every tick");
      await tab.keyboard.press(" "); // is a control again where one is on it
      await expect.poll(() => tab.evaluate(() => window.interplay.player.live!.status.waits)).toBe(true);
      const y = () => tab.evaluate(() => window.interplay.player.agents!.columns.get("y")![0]!);
      const before = await y();
      for (let i = 0; i < 4; i++) {
        const at = await tick(tab);
        await tab.keyboard.press(before > 60 ? "ArrowUp" : "ArrowDown");
        await expect.poll(() => tick(tab)).toBeGreaterThan(at);
      }
      expect(await y()).not.toBe(before);
      await tab.keyboard.press("Alt+t");
      await expect.poll(() => spoken(tab)).toBe("You gave left back.");
      await tabTo(tab, "Open another …", "Shift+Tab");
      await tab.keyboard.press("Enter");
      await tabTo(tab, "Play werewolf/6");
      await tab.keyboard.press("Enter");
      await tab.waitForFunction(() => window.interplay.player.live?.world.startsWith("werewolf/6") && window.interplay.player.shot, null, { timeout: 15_000 }); // Pong has gone
      await tab.keyboard.press("]");
      await tab.waitForFunction(() => window.interplay.player.selected !== null);
      const seat = await tab.evaluate(() => window.interplay.player.selected); // the first that is still there
      await tab.keyboard.press("t");
      await expect.poll(() => held(tab), { timeout: 15_000 }).toBe(seat); // after the first step, which compiles
      expect(await tab.evaluate(() => window.interplay.player.live!.status.waits)).toBe(true); // as all is chosen in a form
      // Nobody knows the game that was dealt: the seat may be eaten in its first night, and acts in the next game then.
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "speed", ticks_per_second: 20 }));
      await expect.poll(() => tab.evaluate(() => window.interplay.player.live!.status.waiting), { timeout: 20_000 }).toBe(0);
      await tab.waitForFunction(() => window.interplay.details?.tick === window.interplay.player.live!.status.tick); // the form is of this tick
      await tab.waitForTimeout(250); // and was drawn
      const choice = await tab.evaluate(() => [...document.querySelectorAll<HTMLElement>(".form button")].findLast((one) => one.ariaDisabled !== "true")!.ariaLabel!);
      await tabTo(tab, choice);
      const at = await tick(tab);
      await tab.keyboard.press("Enter");
      await expect.poll(() => tick(tab)).toBeGreaterThan(at);
      expect((await here(tab)).name).toBe(choice); // though it may not be legal any more
      await tab.keyboard.press("Alt+t");
      await expect.poll(() => held(tab)).toBeNull();
    }));
});

it("who asks for it sees nothing glide, thicker outlines, or the colours of the system", () =>
  withTab(
    async (tab) => {
      await openMatch(tab);
      const shares = await tab.evaluate(async () => {
        const player = window.interplay.player as unknown as { drawn: string; toggle(): void };
        const seen = new Set<string>();
        player.toggle();
        for (let i = 0; i < 30; i++) {
          await new Promise(requestAnimationFrame);
          if (player.drawn) seen.add(player.drawn.split(" ")[2]!);
        }
        player.toggle();
        return [...seen];
      });
      expect([shares, (await tick(tab)) > 0]).toEqual([["0"], true]);
      await select(tab, 7);
      const ink = () => tab.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>("main canvas")!;
        const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
        let dark = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3]! > 0 && data[i]! + data[i + 1]! + data[i + 2]! < 140) dark++;
        return dark;
      });
      const line = () => tab.evaluate(() => getComputedStyle(document.querySelector("header")!).borderBottomColor);
      const before = [await ink(), await line()] as const;
      await tab.emulateMedia({ contrast: "more" });
      await expect.poll(ink).toBeGreaterThan(before[0] + 1000);
      expect(await line()).not.toBe(before[1]);
      await tab.emulateMedia({ forcedColors: "active" });
      const colour = (selector: string) => tab.evaluate((selector) => getComputedStyle(document.querySelector(selector)!).backgroundColor, selector);
      expect(await colour('[aria-selected="true"]')).not.toBe(await colour('[aria-selected="false"]'));
      expect(await colour(".gone")).not.toBe(await colour(".rail"));
    },
    { reducedMotion: "reduce", colorScheme: "light" },
  ));

it("the solid view is found again by the address", () =>
  withTab(async (tab) => {
    await openMatch(tab, "match.replay", 60);
    await tab.keyboard.press("v");
    await expect.poll(() => tab.evaluate(() => location.hash)).toContain("view=solid");
    await tab.reload();
    await expect.poll(() => tab.evaluate(() => !!window.interplay.player.solid), { timeout: 10_000 }).toBe(true);
    await tab.keyboard.press("v");
    await expect.poll(() => tab.evaluate(() => location.hash)).not.toContain("view");
  }));
