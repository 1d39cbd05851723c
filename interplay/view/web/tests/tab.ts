/** A browser tab on the built page under the server's own policy: an error in the console or a violation of the policy fails its test. */

import { Browser, BrowserContextOptions, Page as Tab, chromium } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { Page } from "../src/page";
import { digest } from "./canonical";

declare const window: Window & { interplay: Page; violations: string[] };

export const url = process.env.PAGE_URL!;
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
export let browser: Browser;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM!, args: FLAGS });
});
afterAll(() => browser.close());

/** A tab on the page, watched for errors, those that are `expected` excepted; `hash` follows the token. */
export async function withTab(test: (tab: Tab) => Promise<void>, { hash = "", at = url, expected = /status of (400|404|422)/, ...options }: BrowserContextOptions & { hash?: string; at?: string; expected?: RegExp } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const tab = await context.newPage();
  const wrong: string[] = [];
  // The browser itself notes every answer that is no success; what the server refuses is told on the page.
  tab.on("console", (message) => message.type() === "error" && !expected.test(message.text()) && wrong.push(message.text()));
  tab.on("pageerror", (error) => wrong.push(String(error.stack)));
  await tab.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  try {
    await tab.goto(at + hash);
    await tab.waitForFunction(() => window.interplay?.sources || window.interplay?.error);
    await test(tab);
    wrong.push(...(await tab.evaluate(() => window.violations)));
    expect(wrong).toEqual([]);
  } finally {
    await context.close();
  }
}

/** Whether there is a picture: the canvas comes a moment after the scene, and only then places are where they are drawn. */
const drawn = () => !!window.interplay.player.shot && (!window.interplay.player.pictured || window.interplay.player.camera.width > 1);

export async function openMatch(tab: Tab, name = "match.replay", at = 0): Promise<void> {
  await tab.evaluate(([name, at]) => {
    const found = window.interplay.sources!.recordings.find((one) => one.name.endsWith(name as string))!;
    return window.interplay.openMatch(found.id, at as number);
  }, [name, at] as const);
  await tab.waitForFunction(drawn);
}

/** Opens a world in play as its button does. */
export async function openWorld(tab: Tab, name: string, timeout = 15_000): Promise<void> {
  await tab.evaluate((name) => {
    const { interplay } = window;
    return interplay.openLive(`world:${interplay.sources!.worlds.find((one) => one.name === name)!.id}`);
  }, name);
  await tab.waitForFunction(drawn, null, { timeout });
}

export const tick = (tab: Tab) => tab.evaluate(() => window.interplay.player.shot?.tick ?? -1);
export const atTick = (tab: Tab, wanted: number) => tab.waitForFunction((wanted) => window.interplay.player.shot?.tick === wanted, wanted, { timeout: 5000 });

export async function seek(tab: Tab, wanted: number): Promise<string> {
  await tab.evaluate((wanted) => {
    window.interplay.player.clock.playing = false;
    window.interplay.player.seek(wanted);
  }, wanted);
  await atTick(tab, wanted);
  return tab.evaluate(digest, await tab.evaluateHandle(() => window.interplay.player.shot!.scene));
}
