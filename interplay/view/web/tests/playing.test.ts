/** People who play: by keys, clicks and a form, under fog, and waited for. The world is tests/page/street.py. */

import { ChildProcess, spawn } from "node:child_process";
import type { Page as Tab } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "../src/page";
import { pathOf } from "./fixtures";
import { browser, withTab } from "./tab";

declare const window: Window & { interplay: Page };

let server: ChildProcess;
let address = "";

beforeAll(async () => {
  server = spawn(process.env.PYTHON!, ["-m", "interplay", "play", "tests.page.street:Street", "--no-browser"], { cwd: pathOf("."), stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((done) => server.stdout!.once("data", (data: Buffer) => done(/http:\S+/.exec(data.toString())![0])));
});
afterAll(() => void server.kill());

const status = (tab: Tab) => tab.evaluate(() => ({ ...window.interplay.player.live!.status, held: window.interplay.player.live!.held }));
const place = (tab: Tab, row = 0) => tab.evaluate((row) => Math.floor(window.interplay.player.agents!.columns.get("x")![row]!), row);
const aloud = (tab: Tab) => tab.locator("#aloud").textContent();

/** Takes ann over, from the beginning, and has the world wait. */
async function take(tab: Tab): Promise<void> {
  await tab.waitForFunction(() => window.interplay.player.shot);
  await tab.evaluate(() => window.interplay.player.live!.say({ type: "reset", seed: 1 }));
  await tab.locator("aside select").selectOption("0");
  await tab.getByRole("button", { name: "Take over" }).click();
  await expect.poll(() => aloud(tab)).toContain("You play ann");
  await tab.getByLabel("Wait for me at every tick").check();
  await expect.poll(async () => (await status(tab)).waiting).toBe(0);
  await tab.evaluate(() => window.interplay.player.live!.say({ type: "reset", seed: 1 }));
  await expect.poll(() => place(tab)).toBe(0);
}

describe("who plays", () => {
  it("walks by keys and clicks, is waited for, and is told what is not legal", () =>
    withTab(
      async (tab) => {
        await take(tab);
        expect(await tab.locator(".playing .keys dd").allTextContents()).toEqual(["left", "right"]);
        await tab.keyboard.press("ArrowLeft");
        await expect.poll(() => tab.locator(".toast").textContent()).toContain("walk = left is not legal now");
        const { tick } = await status(tab);
        await tab.waitForTimeout(400);
        expect([(await status(tab)).tick, await tab.locator(".toast").count()]).toEqual([tick, 1]);
        await tab.keyboard.press("ArrowRight");
        await expect.poll(() => place(tab)).toBe(1);
        expect(await tab.locator(".toast").count()).toBe(0); // it was read
        const [x, y] = await tab.evaluate(() => [window.interplay.player.camera.screenX(2.5), window.interplay.player.camera.screenY(0.5)] as const);
        await tab.locator("canvas[role=img]").click({ position: { x, y } });
        await expect.poll(() => place(tab)).toBe(2);
        await tab.keyboard.press("Escape"); // nobody else is selected, so the panel of whom one plays stays
        await tab.waitForTimeout(200);
        expect(await tab.evaluate(() => window.interplay.player.selected)).toBe(0);
        await tab.locator("aside select").selectOption("1");
        await tab.getByRole("button", { name: "Give ann back" }).waitFor();
        await tab.locator("aside select").selectOption("0");
        await tab.getByRole("button", { name: "Give back" }).click();
        await expect.poll(() => aloud(tab)).toContain("You gave ann back");
        expect((await status(tab)).held).toBeNull();
      },
      { at: address },
    ));

  it("chooses in a form, by name and by keys beyond the tenth, what no key of the world means", () =>
    withTab(
      async (tab) => {
        await take(tab);
        expect(await tab.locator("fieldset legend").allTextContents()).toEqual(["say"]);
        await tab.getByRole("button", { name: "word 3", exact: true }).click();
        const chosen = () => tab.evaluate(() => window.interplay.details?.chosen ?? null);
        await expect.poll(chosen).toEqual({ walk: 1, say: 3 });
        await tab.keyboard.press("b");
        await expect.poll(chosen).toEqual({ walk: 1, say: 11 });
        // Who died waits for the next episode: nothing that could be chosen would be done.
        await tab.evaluate(() => {
          window.interplay.details!.present = false;
          window.interplay.setTab(window.interplay.tab);
        });
        await expect.poll(() => tab.locator("fieldset").count()).toBe(0);
        expect(await tab.getByRole("button", { name: "Give back" }).count()).toBe(1);
        await tab.evaluate(() => window.interplay.run("take"));
      },
      { at: address },
    ));

  it("tells nothing of the present beside a picture of the past, and is at the present again where one has stepped to it", () =>
    withTab(
      async (tab) => {
        const at = () => tab.evaluate(() => [window.interplay.player.tick, window.interplay.player.atPresent] as const);
        await tab.waitForFunction(() => (window.interplay.player.shot?.tick ?? 0) > window.interplay.player.clock.first + 4);
        await tab.evaluate(() => window.interplay.select(0));
        await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: false }));
        await expect.poll(async () => (await status(tab)).running).toBe(false);
        await tab.waitForTimeout(300); // frames on their way
        const [tick] = await at();
        await expect.poll(() => tab.locator("#panel").textContent()).toContain("reward so far");
        await tab.keyboard.press("ArrowLeft");
        await expect.poll(at).toEqual([tick - 1, false]);
        await expect.poll(() => tab.locator("#panel").textContent()).toContain("only available for the present");
        expect(await tab.locator("#panel").textContent()).not.toContain("reward so far");
        await tab.keyboard.press("ArrowRight");
        await expect.poll(at).toEqual([tick, true]);
        await expect.poll(() => tab.locator("#panel").textContent()).toContain("reward so far");
        await tab.keyboard.press("ArrowRight"); // the world's next tick
        await expect.poll(at).toEqual([tick + 1, true]);
        await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: true }));
      },
      { at: address },
    ));

  it("looks back on nothing from before the fog, and is near what is left to see", () =>
    withTab(
      async (tab) => {
        const time = () => tab.evaluate(() => {
          const { clock, live, camera, following, tick } = window.interplay.player;
          return { first: clock.first, since: live!.since, fitted: camera.fitted, following, tick };
        });
        await tab.waitForFunction(() => (window.interplay.player.shot?.tick ?? 0) > window.interplay.player.clock.first + 4);
        await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: false }));
        await expect.poll(async () => (await status(tab)).running).toBe(false);
        await tab.evaluate(() => window.interplay.player.live!.say({ type: "reset", seed: 1 })); // from the middle of the street she sees more than half of it
        await expect.poll(() => place(tab)).toBe(0);
        await tab.evaluate(() => window.interplay.select(0));
        const before = await time();
        expect([before.since, before.fitted]).toEqual([null, true]);
        await tab.evaluate(() => window.interplay.run("take")); // time stands still: the same tick comes again, through the fog
        await expect.poll(() => tab.evaluate(() => [...window.interplay.player.agents!.columns.get("absent")!].map(Boolean))).toEqual([false, true]);
        for (const key of ["Alt+Home", "Alt+ArrowLeft", "Alt+,"]) {
          await tab.keyboard.press(key);
          const { first, since, tick } = await time();
          expect([key, first, tick]).toEqual([key, since, since]);
        }
        expect(await time()).toMatchObject({ fitted: false, following: true }); // of nine places the eye sees three here
        await tab.keyboard.press("Alt+t");
        await expect.poll(time).toMatchObject({ first: before.first, since: null, fitted: true, following: false });
        await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: true }));
      },
      { at: address },
    ));

  it("sees what the agent sees, and so does everybody else meanwhile", () =>
    withTab(
      async (tab) => {
        const shown = (one: Tab) => one.evaluate(() => [...window.interplay.player.agents!.columns.get("absent")!].map(Boolean));
        await tab.waitForFunction(() => window.interplay.player.shot);
        const context = await browser.newContext();
        const other = await context.newPage();
        await other.goto(address);
        await other.waitForFunction(() => window.interplay?.player.shot);
        expect(await shown(other)).toEqual([false, false]);
        await take(tab);
        for (const one of [tab, other]) await expect.poll(() => shown(one)).toEqual([false, true]);
        expect(await place(other, 1)).toBe(0); // nothing of where bob stands
        await expect.poll(() => tab.locator(".note").textContent()).toBe("fog: you see what your agent observes");
        await other.evaluate(() => window.interplay.select(1));
        await expect.poll(() => other.locator(".toast").textContent()).toContain("an agent is played under fog");
        await context.close();
        await tab.evaluate(() => window.interplay.run("take"));
        await expect.poll(() => shown(tab)).toEqual([false, false]);
      },
      { at: address },
    ));
});
