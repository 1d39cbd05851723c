/** A run that goes on: its matches appear and grow on the page without a reload, and its trainer hears that somebody watches. */

import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { Matches } from "../src/matches";
import type { Page } from "../src/page";
import { smoothed } from "../src/smooth";
import { json, pathOf } from "./fixtures";
import { seek, withTab } from "./tab";

declare const window: Window & { interplay: Page };

const run = (name: string) => pathOf(`first/recordings/${name}`);
const whole = readFileSync(pathOf("match.replay"));

beforeAll(() => mkdirSync(run(""), { recursive: true }));
afterAll(() => rmSync(run(""), { recursive: true }));
afterEach(() => void (vi.useRealTimers(), vi.unstubAllGlobals()));

it("shows the matches of a run as they come and grow, and follows the newest", () =>
  withTab(async (tab) => {
    const last = () => tab.evaluate(() => window.interplay.player.clock.last);
    await tab.evaluate(() => window.interplay.openRun(window.interplay.sources!.runs.find((one) => one.name === "first")!.id));
    const none = tab.getByText("No recordings yet: training records every");
    await none.waitFor();
    expect(await none.textContent()).toContain(`every ${json<number>("every.json")} updates`); // as Python's settings say
    expect(await tab.getByText("--read-only").count()).toBe(0);
    await tab.evaluate(() => (window.interplay.about = { ...window.interplay.about!, read_only: true }));
    await tab.getByText("is --read-only, so no world is played").waitFor();
    await tab.evaluate(() => (window.interplay.about = { ...window.interplay.about!, read_only: false }));
    writeFileSync(run("000001-100.replay"), whole.subarray(0, Math.floor(whole.length * 0.7)));
    await tab.getByLabel("Match", { exact: true }).selectOption({ label: "match 1 of 1 · 100 agent-steps" });
    await tab.waitForFunction(() => window.interplay.player.shot);
    expect(await tab.getByText("recordings yet").count()).toBe(0);
    const before = await last();
    expect(before).toBeLessThan(249);
    expect(await tab.locator(".toast").count()).toBe(0); // it is written, not damaged
    appendFileSync(run("000001-100.replay"), whole.subarray(Math.floor(whole.length * 0.7)));
    await expect.poll(last, { timeout: 8000 }).toBe(249);
    await seek(tab, 249);
    await tab.getByRole("button", { name: "Newest" }).click();
    const shown = await tab.evaluate(() => window.interplay.match);
    copyFileSync(pathOf("match.replay"), run("000002-2000.replay"));
    await expect.poll(() => tab.evaluate(() => window.interplay.match), { timeout: 8000 }).not.toBe(shown);
    await expect.poll(() => tab.locator(".match option:checked").textContent()).toBe("match 2 of 2 · 2,000 agent-steps");
    expect(existsSync(run("watching"))).toBe(true);
  }));

it("says of a run in play that nothing was recorded, and of a tournament nothing", () =>
  withTab(async (tab) => {
    const open = (name: string) => tab.evaluate((name) => window.interplay.openRun(window.interplay.sources!.runs.find((one) => one.name === name)!.id), name);
    await open("small");
    const none = tab.locator("header").getByText("no recordings yet");
    await none.waitFor();
    expect(await none.getAttribute("title")).toContain("record.every");
    await open("cup");
    await tab.waitForFunction(() => window.interplay.matches.listed);
    await expect.poll(() => tab.getByText("recordings yet").count()).toBe(0);
  }));

it("asks for the list when the last answer has come", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden: false });
  const answers: ((found: object) => void)[] = [];
  const page = { waits: false, player: { source: null }, api: { matches: () => new Promise((done) => answers.push(done)) }, rateAgain: () => undefined };
  const matches = new Matches(page as unknown as Page, () => undefined);
  void matches.of(3);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(answers).toHaveLength(2); // of the run that was opened, and of the first two seconds
  await vi.advanceTimersByTimeAsync(20_000);
  expect(answers).toHaveLength(2);
  for (const answer of answers) answer({ matches: [] });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(answers).toHaveLength(3);
});

it("writes the list of matches once, however often the page is drawn", () =>
  withTab(async (tab) => {
    await tab.evaluate(() => window.interplay.openRun(window.interplay.sources!.runs.find((one) => one.name === "first")!.id));
    await tab.waitForFunction(() => window.interplay.matches.listed);
    const reads = await tab.evaluate(async () => {
      const { interplay } = window;
      const later = () => new Promise((done) => setTimeout(done, 150)); // pages are drawn ten times a second
      let reads = 0;
      const one = { ...interplay.sources!.recordings[0]!, get name() { return (reads++, "a"); } };
      interplay.api.matches = () => new Promise(() => undefined);
      interplay.matches.list = Array(200).fill(one);
      interplay.player.touch();
      await later();
      await later();
      const before = reads;
      for (let i = 0; i < 5; i++) (interplay.player.touch(), await later());
      return [before, reads];
    });
    expect(await tab.locator("select.match option").count()).toBeGreaterThanOrEqual(200);
    expect(reads[0]).toBeGreaterThanOrEqual(200);
    expect(reads[1]).toBe(reads[0]);
  }));

it("smooths by means over what is near and there", () => {
  expect(smoothed([0, 3, null, 6, 6])).toEqual([1.5, 1.5, 4.5, 6, 6]);
});
