/** The page where something goes wrong, or where somebody means no good: a server that dies, a slow machine, another version, a foreign site. */

import { ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import { AddressInfo, createServer as createSocket } from "node:net";
import { describe, expect, it } from "vitest";
import type { Page } from "../src/page";
import { pathOf } from "./fixtures";
import { browser, openWorld, tick, url, withTab } from "./tab";

declare const window: Window & { interplay: Page };

const GONE = /ERR_CONNECTION_REFUSED|ERR_SOCKET_NOT_CONNECTED|ERR_CONNECTION_RESET|WebSocket connection|status of 401/;

async function freePort(): Promise<number> {
  const socket = createSocket();
  await new Promise<void>((done) => socket.listen(0, "127.0.0.1", done));
  const { port } = socket.address() as AddressInfo;
  await new Promise((done) => socket.close(done));
  return port;
}

/** `interplay view` at a port; its address. */
async function view(port: number): Promise<{ process: ChildProcess; address: string }> {
  const process_ = spawn(process.env.PYTHON!, ["-m", "interplay", "view", "--no-browser", "--port", String(port)], { cwd: pathOf("."), stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise<string>((done) => process_.stdout!.once("data", (data: Buffer) => done(/http:\S+/.exec(data.toString())![0])));
  return { process: process_, address };
}

describe("a server", () => {
  it("that is killed is waited for, and one that was started anew is told of", async () => {
    const port = await freePort();
    let { process, address } = await view(port);
    try {
      await withTab(
        async (tab) => {
          await openWorld(tab, "dilemma/open-ended", 120_000);
          process.kill("SIGKILL");
          await tab.getByText("No connection to the server; trying again").waitFor();
          const second = await view(port);
          ({ process } = second);
          await expect.poll(() => tab.locator(".toast").textContent(), { timeout: 15_000 }).toContain("is of an earlier start");
          expect(await tab.evaluate(() => window.interplay.player.live!.connection)).toBe("ended");
          await tab.reload();
          await expect.poll(() => tab.locator(".error").textContent()).toContain("is of an earlier start");
          await tab.goto(second.address); // pasted over the old one: nothing but what is behind the # is another
          await tab.waitForFunction(() => window.interplay?.sources);
          expect(tab.url()).not.toContain("token");
        },
        { at: address, expected: GONE },
      );
    } finally {
      process.kill("SIGKILL");
    }
  });

  it.each([
    ["older", "the list"],
    ["newer", "a session"],
  ])("that is %s than the page is named by %s", (_, where) =>
    withTab(async (tab) => {
      if (where === "the list") {
        await tab.route("**/api/about", async (route) => {
          const about = (await (await route.fetch()).json()) as object;
          await route.fulfill({ json: { ...about, protocol: 0, interplay: "0.0.9" } });
        });
        await tab.reload();
        await expect.poll(() => tab.locator(".error").textContent()).toContain("interplay 0.0.9");
        return;
      }
      await tab.routeWebSocket(/api.live/, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((message) => socket.send(typeof message === "string" ? message.replace(/"protocol": ?\d+/, '"protocol": 99').replace(/"interplay": ?"[^"]*"/, '"interplay": "9.9"') : message));
      });
      await tab.evaluate(() => window.interplay.openLive("world:0"));
      await expect.poll(() => tab.locator(".toast").textContent(), { timeout: 15_000 }).toContain("interplay 9.9");
    }),
  );
});

describe("a machine six times slower", () => {
  it("is late by two frames at most, and the world does not wait for it", () =>
    withTab(async (tab) => {
      const devtools = await tab.context().newCDPSession(tab);
      await devtools.send("Emulation.setCPUThrottlingRate", { rate: 6 });
      const come: number[] = [];
      let [shown, most, words] = [-1, 0, 0];
      tab.on("websocket", (socket) => {
        socket.on("framereceived", ({ payload }) => {
          if (typeof payload === "string") return void words++;
          come.push(payload.readUInt32LE(4));
          most = Math.max(most, come.filter((one) => one > shown).length);
        });
        socket.on("framesent", ({ payload }) => {
          const said = JSON.parse(String(payload)) as { type: string; tick: number };
          if (said.type === "shown") shown = said.tick;
        });
      });
      await openWorld(tab, "mmo/forage-1024", 120_000);
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "speed", ticks_per_second: 200 }));
      await expect.poll(() => come.length, { timeout: 240_000 }).toBeGreaterThan(12);
      expect(most).toBeLessThanOrEqual(2);
      expect(words).toBeLessThan(2 * come.length + 10); // of left out ticks there are not even words
      expect(come.at(-1)! - come[0]!).toBeGreaterThan(come.length + 20);
      // The page says how many that are, to the eye alone.
      const header = () => tab.locator(".connection").textContent();
      await expect.poll(header, { timeout: 20_000 }).toMatch(/fps · 1 of [\d,]+ ticks shown$/);
      // Both are of the last second or so, of not the same frames: on a loaded machine they may differ for a while.
      const ratio = async () => Number(/1 of ([\d,]+)/.exec((await header())!)?.[1]!.replaceAll(",", "")) / ((come.at(-1)! - come.at(-11)!) / 10);
      await expect.poll(async () => Math.abs(Math.log2(await ratio())), { timeout: 60_000 }).toBeLessThan(1);
      expect(await tab.locator("#aloud").textContent()).not.toContain("ticks");
      await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: false }));
      await expect.poll(async () => (await tick(tab)) - come.at(-1)!, { timeout: 60_000 }).toBe(0);
      await expect.poll(header, { timeout: 60_000 }).toBe("paused");
    }), 400_000); // where kernels have to be compiled first, and on a machine that does other work
});

describe("a site somewhere else", () => {
  it("reads nothing, joins nothing and frames nothing, even with the token", async () => {
    const site = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html><title>elsewhere</title>"));
    await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
    const context = await browser.newContext();
    try {
      const tab = await context.newPage();
      await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      const [home, token] = url.split("/#token=") as [string, string];
      const tried = await tab.evaluate(
        async ([home, token]) => {
          const fails = (asked: Promise<unknown>) => asked.then(() => "answered", () => "refused");
          const joins = (protocols: string[]) =>
            new Promise<string>((done) => {
              const socket = new WebSocket(`${home!.replace("http", "ws")}/api/live?source=world:0`, protocols);
              socket.onopen = () => done("answered");
              socket.onerror = () => done("refused");
            });
          const blind = await fetch(`${home}/api/about`, { mode: "no-cors" }).then((answer) => answer.type, () => "refused");
          return [
            await fails(fetch(`${home}/api/about`)),
            await fails(fetch(`${home}/api/about`, { headers: { Authorization: `Bearer ${token}` } })),
            await fails(fetch(`${home}/`)),
            await joins(["interplay.2", `token.${token}`]),
            await joins(["interplay.2"]),
            blind === "opaque" || blind === "refused" ? "refused" : blind,
          ];
        },
        [home, token],
      );
      expect(tried).toEqual(Array(6).fill("refused"));
      await tab.evaluate((home) => {
        const frame = document.createElement("iframe");
        frame.src = home;
        document.body.append(frame);
        return new Promise((done) => (frame.onload = done));
      }, url);
      const framed = tab.frames().find((frame) => frame !== tab.mainFrame())!;
      expect(await framed.evaluate(() => "interplay" in window || document.title)).not.toBe(true);
      expect(framed.url()).not.toContain(new URL(url).host);
    } finally {
      await context.close();
      site.close();
    }
  });
});
