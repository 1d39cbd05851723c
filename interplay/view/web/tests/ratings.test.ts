/** Ratings whose cells open the matches behind them, pairs who meet live, and which curve comes first. */

import { Page as Tab } from "playwright-core";
import { expect, it } from "vitest";
import type { Curves } from "../src/api";
import type { Page } from "../src/page";
import { whole } from "../src/panels/ratings";
import { withTab } from "./tab";

declare const window: Window & { interplay: Page };

const NAMES = ["random", "tit_for_tat", "grim"];

/** Opens the cup, and by these keys the cell of a row and column in the order of the table; gives both names. */
async function openCell(tab: Tab, keys: string[], row: number, column: number): Promise<string[]> {
  await tab.getByRole("button", { name: "Ratings cup" }).click();
  await tab.locator(".payoff button").first().waitFor();
  expect(await tab.getByRole("tab").allTextContents()).toEqual(["Ratings"]); // nobody has learnt there
  const shown = await tab.locator(".ratings tbody th").allTextContents();
  expect([...shown].sort()).toEqual([...NAMES].sort());
  // One of the cells is reached by Tab, the others by arrows.
  await tab.locator(".payoff button[tabindex='0']").focus();
  const at = () => tab.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  expect(await at()).toMatch(new RegExp(`^${shown[0]} against ${shown[1]}: \\S+ of the points in 4 matches, 2 recorded$`));
  const tick = await tab.evaluate(() => window.interplay.player.tick);
  for (const key of keys) await tab.keyboard.press(key); // the first one steps over nobody against himself
  expect(await at()).toContain(`${shown[row]} against ${shown[column]}:`);
  expect(await tab.evaluate(() => window.interplay.player.tick)).toBe(tick); // arrows were the table's
  await tab.keyboard.press("Enter");
  await tab.getByRole("heading", { name: `${shown[row]} against ${shown[column]}` }).waitFor();
  return [shown[row]!, shown[column]!];
}

it("opens the recorded matches of a cell by keyboard, and shows one", () =>
  withTab(async (tab) => {
    const [one, other] = await openCell(tab, ["ArrowDown"], 2, 1);
    expect(await tab.locator("#aloud").textContent()).toBe(`${one} against ${other}`);
    expect(await tab.locator(".behind > .quiet").first().textContent()).toMatch(/^\S+ of the points in 4 matches: \S+ in the first seat, \S+ in the second$/);
    const matches = tab.locator(".behind li button");
    expect(await matches.count()).toBe(2);
    await tab.keyboard.press("Tab");
    const chosen = await tab.evaluate(() => document.activeElement!.textContent);
    expect(chosen).toBe(await matches.first().textContent());
    await tab.keyboard.press("Enter");
    await tab.waitForFunction(() => window.interplay.player.shot);
    expect(await tab.locator("header .policy").textContent()).toBe(`played by ${chosen!.replace(", then ", " against ")}`);
    await tab.waitForFunction(() => window.interplay.player.shot!.tick > 2);
    // The list stays beside it.
    expect(await matches.first().getAttribute("aria-pressed")).toBe("true");
    expect(await tab.getByRole("tab", { name: "Ratings" }).getAttribute("aria-selected")).toBe("true");
    await tab.getByRole("button", { name: "player" }).focus();
    await tab.keyboard.press("Enter");
    await expect.poll(() => tab.locator(".ratings tbody th").allTextContents()).toEqual([...NAMES].sort());
  }));

it("shows ratings as they change, while they are in view", () =>
  withTab(async (tab) => {
    const [one, other] = await openCell(tab, ["ArrowDown"], 2, 1);
    await tab.evaluate(() => {
      const { interplay } = window;
      const { ratings } = interplay.api;
      interplay.api.ratings = async (run) => {
        const found = await ratings(run); // the players have other places by now
        const turned = { payoff: found.payoff.map((row) => row.toReversed()).toReversed(), games: found.games.map((row) => row.toReversed()).toReversed() };
        return { ...found, ...turned, matches: [], seats: null, players: found.players.map((one) => ({ ...one, rating: 1234 })).toReversed() };
      };
      interplay.openRun = async () => undefined; // as is done every five seconds while a run has no checkpoint
      interplay["rateDue"] = 0; // ten seconds have passed
    });
    await expect.poll(() => tab.locator(".ratings").textContent()).toContain("1,234");
    expect(await tab.evaluate(() => window.interplay["rateDue"] - performance.now())).toBeGreaterThan(5000);
    expect(await tab.locator(".behind h3").textContent()).toBe(`${one} against ${other}`); // the open cell stays open
    await tab.locator(".payoff button[aria-expanded='true']").click();
    await tab.locator(".behind").waitFor({ state: "detached" });
    expect(await tab.getByText("A cell opens its matches.").count()).toBe(0); // none is recorded any more
  }));

it("rounds halves to even, so that the shares of a pair are 100 %", () =>
  expect([62.5, 37.5, 12.5, 87.5, 0.5, 99.5, 62.4, 37.6].map(whole)).toEqual([62, 38, 12, 88, 0, 100, 62, 38]));

it("lets the two players of a cell meet live", () =>
  withTab(async (tab) => {
    const [one, other] = await openCell(tab, ["ArrowDown", "ArrowLeft", "ArrowUp"], 1, 0);
    await tab.getByRole("button", { name: "Play this match" }).click();
    await tab.waitForFunction(() => window.interplay.player.tick > 2);
    expect(await tab.locator("header .policy").textContent()).toBe(`played by ${one} against ${other}`);
    await expect.poll(() => tab.evaluate(() => location.hash)).toMatch(/^#live=run:\d+@\d+,\d+&tab=ratings$/);
    await tab.reload(); // the address leads there again
    await tab.waitForFunction(() => window.interplay?.player.tick > 0);
    await expect.poll(() => tab.locator("header .policy").textContent()).toBe(`played by ${one} against ${other}`);
  }));

it("keeps the reason for which a pair does not meet in view", () =>
  withTab(async (tab) => {
    await openCell(tab, ["ArrowDown", "ArrowLeft", "ArrowUp"], 1, 0);
    await tab.evaluate(() => window.interplay.openLive("run:0@0,99"));
    await tab.getByText("The session has ended.").waitFor();
    const said = await tab.locator(".toast").textContent();
    await tab.evaluate(() => window.interplay.dismiss());
    expect(said).toBeTruthy();
    expect(await tab.locator("p.notice").allTextContents()).toEqual([said]);
  }));

it("lets nobody play where nothing is played", () =>
  withTab(async (tab) => {
    await tab.evaluate(() => (window.interplay.about = { ...window.interplay.about!, read_only: true }));
    await openCell(tab, ["ArrowDown", "ArrowLeft", "ArrowUp"], 1, 0);
    await tab.getByText("is --read-only, so no world is played").waitFor();
    expect(await tab.getByRole("button", { name: "Play this match" }).count()).toBe(0);
    expect(await tab.locator(".behind li").count()).toBe(2);
  }));

it("lets one choose who of a league plays its world", () =>
  withTab(async (tab) => {
    const asked = tab.evaluate(
      () =>
        new Promise<string>((done) => {
          const { interplay } = window;
          interplay.openLive = async (source) => done(source);
          [interplay.live, interplay.runId] = ["run:7", 7];
          interplay.players = [{ id: 0, name: "main" }, { id: 3, name: "<b>main-0001</b>" }];
          interplay.showHelp(false);
        }),
    );
    await tab.getByLabel("Player").selectOption({ label: "<b>main-0001</b>" });
    expect(await asked).toBe("run:7@3");
  }));

it("draws first what is no flat line, and says when a folder is empty so far", () =>
  withTab(async (tab) => {
    await tab.evaluate(() => {
      const { interplay } = window;
      const curve = (mean: number[]) => ({ x: mean.map((_, i) => i), mean, low: mean, high: mean });
      const all: Curves["curves"] = { episode_return: curve([0, 0, 0]), "entropy[a]": curve([1, 2, 2]), "win_rate[b]": curve([0.1, 0.3, 0.2]) };
      interplay.api.curves = (_, names) =>
        Promise.resolve({ loading: false, names: Object.keys(all), against: "agent_steps", of_episodes: [], problem: "first: the log is too long", curves: Object.fromEntries(names.map((name) => [name, all[name]!])) });
      return interplay.openRun(interplay.sources!.runs.find((one) => one.name === "first")!.id);
    });
    await expect.poll(() => tab.locator(".plot").getAttribute("aria-label")).toMatch(/^win_rate\[b\]: /);
    expect(await tab.locator(".curves p").allTextContents()).toContain("first: the log is too long");
    await tab.locator(".curves select").first().selectOption("episode_return"); // whoever wants to see it may
    await expect.poll(() => tab.locator(".plot").getAttribute("aria-label")).toMatch(/^episode_return: /);
    const found = await tab.evaluate(() => {
      const { interplay } = window;
      const told = interplay.sources!;
      interplay.api.sources = () => Promise.resolve({ runs: [], recordings: [], worlds: [], more: false });
      interplay.leave();
      setTimeout(() => (interplay.api.sources = () => Promise.resolve(told)), 1000);
      return told.runs.length;
    });
    await tab.getByText("Nothing yet: new runs and recordings").waitFor();
    await tab.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    expect(await tab.locator(".sources section").first().locator("tbody tr").count()).toBe(found);
  }));
