/** The built page in a browser: recordings, runs, access for everybody, and sessions. */

import { readFileSync } from "node:fs";
import type { Page as Tab } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Page } from "../src/page";
import { json, pathOf } from "./fixtures";
import { atTick, browser, openMatch, openWorld, seek, tick, url, withTab } from "./tab";

declare const window: Window & { interplay: Page; said: string[] };

const digests = json<Record<string, string[]>>("digests.json");

describe("a recording", () => {
  it("shows at twenty ticks what Python reads there, and steps both ways", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      const ticks = Array.from({ length: 20 }, (_, i) => (i * 97 + 31) % 250);
      for (const wanted of ticks) expect([wanted, await seek(tab, wanted)]).toEqual([wanted, digests.match![wanted]]);
      await seek(tab, 99);
      await tab.locator("canvas[role=img]").focus();
      for (const [key, wanted] of [["ArrowRight", 100], ["ArrowRight", 101], ["ArrowLeft", 100], ["ArrowLeft", 99], ["Shift+ArrowRight", 199], ["End", 249], ["Shift+ArrowLeft", 149], ["Home", 0]] as const) {
        await tab.keyboard.press(key);
        await atTick(tab, wanted);
      }
    }));

  it("plays as fast as it says, pauses, and goes from event to event", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await tab.keyboard.press("+");
      const began = Date.now();
      await tab.keyboard.press(" ");
      await tab.waitForTimeout(1500);
      const [passed, reached] = [Date.now() - began, await tick(tab)];
      expect(reached / (passed / 1000) / 20).toBeGreaterThan(0.7);
      expect(reached / (passed / 1000) / 20).toBeLessThan(1.3);
      await tab.keyboard.press(" ");
      const paused = await tick(tab);
      await tab.waitForTimeout(200);
      expect(Math.abs((await tick(tab)) - paused)).toBeLessThanOrEqual(1);
      await seek(tab, 0);
      const marks = await tab.evaluate(() => window.interplay.player.source!.marks.map(({ tick }) => tick));
      for (const key of ["Shift+ArrowRight", ",", ","]) await tab.keyboard.press(key); // none of them is in view yet
      await atTick(tab, [...new Set(marks)].filter((one) => one < 100).at(-2)!);
      await seek(tab, 0);
      for (const [key, wanted] of [[".", 20], [".", 35], [".", 60], [",", 35]] as const) {
        await tab.keyboard.press(key);
        await atTick(tab, wanted);
      }
      await expect.poll(() => tab.locator("#aloud").textContent()).toContain("birth: walker 0, tick 35");
      await tab.keyboard.press("e");
      await tab.keyboard.press(".");
      await atTick(tab, 60);
      await tab.getByLabel("Events").selectOption("birth"); // the keys that a list does not need go on
      await tab.keyboard.press(",");
      await atTick(tab, 35);
    }));

  it.each(Object.keys(json<object>("blocks.json")))("of %s draws what interplay's own pictures show", (name) =>
    withTab(async (tab) => {
      const { tick, means } = json<Record<string, { tick: number; means: number[][][] }>>("blocks.json")[name]!;
      await openMatch(tab, `${name}.replay`);
      await seek(tab, tick);
      await tab.waitForTimeout(100);
      const found = await tab.evaluate((side) => {
        const canvas = document.querySelector<HTMLCanvasElement>("canvas[role=img]")!;
        const [left, top, width] = window.interplay.player.camera.frame();
        const ratio = canvas.width / canvas.clientWidth;
        const pen = canvas.getContext("2d")!;
        const [rows, columns] = side;
        const cell = (width * ratio) / columns;
        return Array.from({ length: rows }, (_, row) =>
          Array.from({ length: columns }, (_, column) => {
            const edges = [left * ratio + column * cell, top * ratio + row * cell].map(Math.round) as [number, number];
            const { data } = pen.getImageData(...edges, Math.round(cell), Math.round(cell));
            const sums = [0, 0, 0];
            for (let i = 0; i < data.length; i++) if (i % 4 < 3) sums[i % 4]! += data[i]!;
            return sums.map((sum) => sum / (data.length / 4));
          }),
        );
      }, [means.length, means[0]!.length] as const);
      const apart = means.flatMap((row, y) => row.map((mean, x) => Math.max(...mean.map((part, i) => Math.abs(part - found[y]![x]![i]!)))));
      // Letters and smoothed edges differ a little in tiles that agents touch.
      expect(apart.reduce((sum, one) => sum + one, 0) / apart.length).toBeLessThan(name === "match" ? 8 : 3);
      expect(apart.filter((one) => one > 40).length / apart.length).toBeLessThan(0.05);
    }));

  it.each([1, 1.5])("draws thousands of small agents as one picture that is the same, at %f pixels for one", (deviceScaleFactor) =>
    withTab(
      async (tab) => {
        await openMatch(tab);
        await tab.waitForFunction(() => window.interplay.player["drawn"] !== "");
        const found = await tab.evaluate(() => {
          const { player } = window.interplay;
          const [{ camera, shot, agents }, flat, canvas] = [player, player["flat"]!, document.querySelector<HTMLCanvasElement>("canvas[role=img]")!];
          const reach = (agents!.schema.options.radius as number | undefined) ?? agents!.columns.get("radius")![0]!;
          [camera.scale, camera.x, camera.y] = [2.4 / reach, 0, 0]; // some lie across the edge
          const drawn = (from: number, layers = shot!.scene.layers) => {
            flat["small"].from = from;
            flat.draw({ scene: { layers }, next: null, share: 0, selected: null, thick: false }, camera);
            return canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data;
          };
          const [each, together, none] = [drawn(Infinity), drawn(0), drawn(0, shot!.scene.layers.filter(({ schema }) => schema.name !== "agents"))];
          const apart = (other: Uint8ClampedArray) => each.reduce((sum, part, i) => sum + Number(part !== other[i]), 0);
          return [apart(together), apart(none)];
        });
        expect(found[0]).toBe(0);
        expect(found[1]).toBeGreaterThan(500);
      },
      { deviceScaleFactor },
    ));

  it("tells of an agent that was clicked, and never takes text for HTML", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await seek(tab, 30);
      const place = await tab.evaluate(() => {
        const { agents, camera } = window.interplay.player;
        return [camera.screenX(agents!.columns.get("x")![7]!), camera.screenY(agents!.columns.get("y")![7]!)] as const;
      });
      await tab.locator("canvas[role=img]").click({ position: { x: place[0], y: place[1] } });
      await expect.poll(() => tab.locator("aside h2").textContent()).toContain("walker 7");
      await expect.poll(() => tab.locator("aside .meter").getAttribute("aria-label")).toBe("health");
      await tab.getByRole("tab", { name: "Table" }).click();
      await expect.poll(() => tab.locator("aside").textContent()).toContain("<img src=x onerror=alert(1)>");
      expect(await tab.locator("aside img, aside i, aside b").count()).toBe(0);
      await tab.locator(".agents").focus();
      await tab.keyboard.press("ArrowDown");
      expect(await tab.evaluate(() => window.interplay.player.selected)).toBe(8);
      await expect.poll(() => tab.locator('[aria-selected="true"] th').textContent()).toBe("walker 8");
    }));

  it("tells the stats of a battle's units, whose bars the world draws itself", () =>
    withTab(async (tab) => {
      await openMatch(tab, "battle.replay", 0);
      await tab.getByRole("tab", { name: "Table" }).click();
      await expect.poll(() => tab.locator(".agents thead th").allTextContents()).toEqual(["agent", "kind", "place", "health", "shield", "state"].map((title) => expect.stringMatching(new RegExp(title, "i"))));
      expect(await tab.locator(".agents tbody tr").first().locator("td").allTextContents()).toEqual([expect.any(String), expect.any(String), "80", "80", ""]);
      expect((await tab.locator(".signs li").allTextContents()).filter((words) => words.trim() === "health")).toHaveLength(1);
    }));

  it("changes its address once for many steps of a drag", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await seek(tab, 0);
      const address = () => tab.evaluate(() => location.hash);
      await expect.poll(address).toMatch(/&at=0/);
      const changes = await tab.evaluate(async () => {
        let changes = 0;
        const replace = history.replaceState.bind(history);
        history.replaceState = (...to) => (changes++, replace(...to));
        for (let tick = 1; tick <= 90; tick++) window.interplay.player.seek(tick);
        await new Promise((done) => setTimeout(done, 1000));
        return changes;
      });
      expect(changes).toBe(1);
      expect(await address()).toMatch(/&at=90/);
    }));

  it("is found again by its address", () =>
    withTab(async (tab) => {
      await openMatch(tab, "match.replay", 123);
      await tab.evaluate(() => window.interplay.select(5));
      await tab.keyboard.press("ArrowRight");
      await atTick(tab, 124);
      await expect.poll(() => tab.evaluate(() => location.hash)).toMatch(/^#match=\d+&at=124&agent=5&tab=agent$/);
      await tab.reload();
      await tab.waitForFunction(() => window.interplay?.player.shot?.tick === 124);
      expect(await tab.evaluate(() => [window.interplay.player.selected, window.interplay.player.clock.playing])).toEqual([5, false]);
      const link = tab.url().replace("at=124", "at=200");
      expect(link).not.toContain("token");
      const goes = async (there: Tab) => {
        await there.goto(link);
        await there.waitForFunction(() => window.interplay?.player.shot?.tick === 200);
        expect(await there.evaluate(() => window.interplay.player.selected)).toBe(5);
      };
      await goes(tab); // pasted over the address of the open page
      await goes(await tab.context().newPage()); // in a tab of its own, which has no token yet
      await openWorld(tab, "dilemma/open-ended"); // a world that goes on has its place in the address, too
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: true }));
      await tab.evaluate(() => window.interplay.select(1));
      await expect.poll(() => tab.evaluate(() => location.hash)).toMatch(/^#live=world:\d+&agent=1&tab=agent$/);
      expect(await tab.evaluate(() => window.interplay.player.live!.status.running)).toBe(true);
    }));

  it("that is damaged says where, and plays on behind it", () =>
    withTab(async (tab) => {
      await openMatch(tab, "damaged.replay");
      await tab.evaluate(() => window.interplay.player.seek(150));
      await expect.poll(() => tab.locator(".notice").textContent()).toContain("cannot be shown");
      expect(await seek(tab, 230)).toBe(digests.match![230]);
      await expect.poll(() => tab.locator(".notice").count()).toBe(0);
    }));

  it("of a world without places is tables alone", () =>
    withTab(async (tab) => {
      await openMatch(tab, "tables.replay");
      expect(await seek(tab, 4)).toBe(digests.tables![4]);
      await expect.poll(() => tab.locator(".only-tables .scene-table:not(.past) tbody tr").count()).toBe(4);
      await expect.poll(() => tab.locator(".past thead th").allTextContents()).toEqual(["round", "4", "3", "2", "1"]); // ticks at which it held anything
      expect(await tab.locator(".past tbody tr").last().locator("td").first().textContent()).toBe("1.5");
      await tab.keyboard.press("]"); // who has no place has a name
      await expect.poll(() => new URLSearchParams(new URL(tab.url()).hash.slice(1)).get("agent")).toBe("0");
      expect(await tab.locator("canvas[role=img]").count()).toBe(0);
    }));

  it("from a file is read without the server", () =>
    withTab(async (tab) => {
      const asked: string[] = [];
      await tab.waitForSelector(".file input");
      tab.on("request", (request) => asked.push(request.url()));
      await tab.setInputFiles(".file input", pathOf("match.replay"));
      await tab.waitForFunction(() => window.interplay.player.shot);
      expect(await seek(tab, 222)).toBe(digests.match![222]);
      expect(asked.filter((one) => one.includes("/api/"))).toEqual([]); // the page's own script may still come
      await tab.evaluate(() => window.interplay.leave());
      await tab.setInputFiles(".file input", pathOf("future.replay"));
      await expect.poll(() => tab.locator(".toast").textContent()).toContain("format 9");
    }));
});

describe("a run", () => {
  const openRun = (tab: Tab, name: string) => tab.evaluate((name) => window.interplay.openRun(window.interplay.sources!.runs.find((one) => one.name.endsWith(name))!.id), name);

  it("draws its curve and loses no peak", () =>
    withTab(async (tab) => {
      await openRun(tab, "first");
      await expect.poll(() => tab.locator(".plot").getAttribute("aria-label")).toMatch(/^episode_return: .* at 499.9K agent-steps$/);
      await tab.waitForSelector(".plot canvas");
      // The line's blue somewhere in the upper half, where the peak alone reaches.
      const drawn = await tab.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>(".plot canvas")!;
        const { data } = canvas.getContext("2d")!.getImageData(70, 20, canvas.width - 80, canvas.height / 3);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 2]! > data[i]! + 40 && data[i + 3]! > 20) count++;
        return count;
      });
      expect(drawn).toBeGreaterThan(10);
      const [download] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("button", { name: "Save as CSV" }).click()]);
      expect(download.suggestedFilename()).toBe("episode_return.csv");
      const rows = readFileSync(await download.path(), "utf8").trim().split("\n");
      expect(rows[0]).toBe('agent_steps,"episode_return",lowest,highest');
      expect(Math.max(...rows.slice(1).map((row) => Number(row.split(",")[3])))).toBe(50);
      expect(await tab.getByText("Episodes count where they began").count()).toBe(0); // this log names none
      await tab.getByLabel("Over").selectOption("slot_steps");
      await tab.getByLabel("Logarithmic").check();
      await tab.waitForTimeout(300);
      await tab.evaluate(() => window.interplay.leave());
      await tab.waitForTimeout(200);
    }));

  it("that has just begun is watched as soon as it has a checkpoint", () =>
    withTab(async (tab) => {
      const opened = await tab.evaluate(() => {
        const { interplay } = window;
        const [run] = interplay.sources!.runs;
        const told = { ...interplay.sources!, runs: [{ ...run!, checkpoint: false, ratings: false }] };
        interplay.sources = told;
        interplay.api.sources = async () => told;
        return interplay.openRun(run!.id).then(() => interplay.live);
      });
      expect(opened).toBe(null);
      await tab.getByText("No checkpoint yet: the world is played here from the first one on.").waitFor();
      await tab.evaluate(() => {
        const told = window.interplay.sources!;
        window.interplay.api.sources = async () => ({ ...told, runs: [{ ...told.runs[0]!, checkpoint: true }] });
      });
      await expect.poll(() => tab.evaluate(() => window.interplay.live), { timeout: 8000 }).toMatch(/^run:/);
    }));

  it("of a tournament shows who is best", () =>
    withTab(async (tab) => {
      await tab.getByRole("button", { name: "Ratings cup" }).click(); // it has no curves
      await expect.poll(() => tab.locator(".ratings tbody th").allTextContents()).toHaveLength(3);
      expect(await tab.locator(".payoff th[scope=row]").allTextContents()).toEqual(["A", "B", "C"]);
      expect(await tab.locator(".payoff td").count()).toBe(9);
      expect(await tab.getByRole("tab", { name: "Ratings" }).getAttribute("aria-selected")).toBe("true");
    }));
});

describe("a page for everybody", () => {
  it("is walked through with Tab, and everything has a name", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await tab.getByRole("button", { name: "Open another …" }).focus(); // the first of the page
      const seen: string[] = [];
      for (let i = 0; i < 60; i++) {
        if (i) await tab.keyboard.press("Tab");
        const name = await tab.evaluate(() => {
          const at = document.activeElement as HTMLInputElement;
          if (at === document.body) return "";
          const box = at.getBoundingClientRect();
          if (box.height < 27.5 || box.width < 27.5) return `too small: ${at.outerHTML.slice(0, 80)}`;
          return at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent ?? "";
        });
        if (!name || seen.includes(name)) break;
        seen.push(name);
      }
      expect(seen.filter((name) => name.startsWith("too small"))).toEqual([]);
      const wanted = ["Open another …", "Panels", /^The world toys:Walkers/, "Zoom in", "Fit", "Agent", "Time line", "One tick back", "Play", "One tick on", "Tick", "Events", "Slower", "Faster", "Keys"];
      const places = wanted.map((name) => seen.findIndex((one) => (typeof name === "string" ? one === name : name.test(one))));
      expect(places).not.toContain(-1);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      const unnamed = await tab.evaluate(() => [...document.querySelectorAll("button")].filter((one) => !(one.getAttribute("aria-label") ?? one.textContent)).length);
      expect(unnamed).toBe(0);
    }));

  it("lists its keys, and closes the list", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await tab.keyboard.press("?");
      await expect.poll(() => tab.locator("dialog[open] dt").count()).toBeGreaterThan(20);
      await tab.keyboard.press("Escape");
      await expect.poll(() => tab.locator("dialog").count()).toBe(0);
      await tab.keyboard.press("g");
      await tab.keyboard.type("77");
      await tab.keyboard.press("Enter");
      await atTick(tab, 77);
      await tab.keyboard.press("]");
      await tab.keyboard.press("f");
      await tab.keyboard.press("h");
      await expect.poll(() => tab.locator("aside").count()).toBe(0);
      expect(await tab.evaluate(() => [window.interplay.player.following, window.interplay.player.selected])).toEqual([true, 0]);
      await tab.keyboard.press("s");
      await expect.poll(() => tab.locator("#aloud").textContent()).toContain("saved");
      await tab.evaluate(() => {
        const region = document.getElementById("aloud")!;
        window.said = [];
        new MutationObserver(() => window.said.push(region.textContent!)).observe(region, { childList: true, characterData: true, subtree: true });
        window.interplay.player.clock.speed = 1e6; // its end is one frame away
      });
      for (const loaded of [249, 150, 10]) await seek(tab, loaded);
      await tab.keyboard.press(" ");
      await atTick(tab, 249);
      const events = await tab.evaluate(() => window.said.join("; ").match(/(birth|death): walker 0, tick \d+/g));
      expect(events).toEqual(["death: walker 0, tick 20", "birth: walker 0, tick 35"]);
      await tab.keyboard.press("z");
      expect(await tab.evaluate(() => window.interplay.player.camera.fitted)).toBe(true);
    }));

  it.each([
    ["zoomed to 200 %", 640, 400],
    ["on a narrow screen", 390, 800],
  ])("loses nothing %s", (_, width, height) =>
    withTab(
      async (tab) => {
        await openMatch(tab);
        const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(wide).toBeLessThanOrEqual(0);
        for (const name of ["Play", "Keys", "One tick on"]) await tab.getByRole("button", { name, exact: true }).scrollIntoViewIfNeeded();
        const canvas = (await tab.locator("canvas[role=img]").boundingBox())!;
        expect(canvas.height).toBeGreaterThan(120);
        await tab.getByRole("tab", { name: "Table" }).click();
        await expect.poll(() => tab.locator(".agents").count()).toBe(1);
      },
      { viewport: { width, height } },
    ),
  );

  it("stands still for who wants no motion", () =>
    withTab(
      async (tab) => {
        await tab.evaluate(() => {
          const found = window.interplay.sources!.recordings.find((one) => one.name.endsWith("match.replay"))!;
          return window.interplay.openMatch(found.id);
        });
        await tab.waitForTimeout(400);
        expect([await tick(tab), await tab.evaluate(() => window.interplay.player.clock.playing)]).toEqual([0, false]);
        await openWorld(tab, "dilemma/fixed"); // which nobody else watches
        await expect.poll(() => tab.evaluate(() => window.interplay.player.live!.status.running)).toBe(false);
      },
      { reducedMotion: "reduce" },
    ));

  it.each(["dark", "light"] as const)("has enough contrast when it is %s", (colorScheme) =>
    withTab(
      async (tab) => {
        const ratios = await tab.evaluate(() => {
          const style = getComputedStyle(document.documentElement);
          const light = (name: string) => {
            const text = style.getPropertyValue(name).trim();
            const parts = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
            return 0.2126 * parts[0]! + 0.7152 * parts[1]! + 0.0722 * parts[2]!;
          };
          const pairs = [["--text", "--ground"], ["--text", "--panel"], ["--text", "--control"], ["--quiet", "--ground"], ["--quiet", "--panel"], ["--on-accent", "--accent"], ["--low", "--ground"]];
          return pairs.map(([a, b]) => {
            const [x, y] = [light(a!), light(b!)];
            return [`${a} on ${b}`, (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)] as const;
          });
        });
        expect(ratios.filter(([, ratio]) => !(ratio >= 4.5))).toEqual([]);
      },
      { colorScheme },
    ),
  );
});

describe("without the right token", () => {
  it("says what to do", async () => {
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(url.replace(/#token=.*/, "#token=wrong"));
    await expect.poll(() => tab.locator(".error").textContent()).toContain("interplay view");
    await context.close();
  });
});

describe("a session", () => {
  /** Opens a world; it may be the session of the test before, paused. */
  async function live(tab: Tab, name = "dilemma/open-ended"): Promise<void> {
    await openWorld(tab, name);
    await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: true }));
  }
  const status = (tab: Tab) => tab.evaluate(() => ({ ...window.interplay.player.live!.status, held: window.interplay.player.live!.held }));

  it("says what is waited for until its world is there", () =>
    withTab(async (tab) => {
      await tab.routeWebSocket(/api.live/, () => undefined); // a server that does not answer yet
      await tab.evaluate(() => window.interplay.openLive("world:0"));
      await tab.getByText("The world is being prepared").waitFor();
      expect(await tab.getByText("no agents to select").count()).toBe(0);
    }));

  it("is watched, paused, stepped and looked back on", () =>
    withTab(async (tab) => {
      await live(tab);
      await tab.waitForFunction(() => (window.interplay.player.shot?.tick ?? 0) > 4, null, { timeout: 15_000 });
      await tab.keyboard.press(" ");
      await expect.poll(async () => (await status(tab)).running).toBe(false);
      await expect.poll(() => tab.evaluate(() => window.interplay.player.shot!.tick - window.interplay.player.live!.status.tick)).toBe(0);
      await expect.poll(() => tab.locator(".connection").textContent()).toBe("paused");
      await expect.poll(() => tab.evaluate(() => window.interplay.player.framesPerSecond)).toBe(0); // as nothing moves
      const at = await tick(tab);
      await tab.keyboard.press("ArrowRight");
      await atTick(tab, at + 1);
      await tab.keyboard.press("ArrowLeft");
      await tab.keyboard.press("ArrowLeft");
      await atTick(tab, at - 1);
      expect(await tab.evaluate(() => window.interplay.player.atPresent)).toBe(false);
      await tab.keyboard.press("l");
      await atTick(tab, at + 1);
      await tab.keyboard.press("+");
      await expect.poll(async () => (await status(tab)).speed).toBe(20);
    }));

  it("tells of the tick in view, also where the details of an agent come late", () =>
    withTab(async (tab) => {
      await live(tab);
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: false }));
      await expect.poll(async () => (await status(tab)).running).toBe(false);
      await tab.evaluate(() => window.interplay.select(0));
      const apart = () => tab.evaluate(() => window.interplay.player.tick - (window.interplay.details?.tick ?? -1));
      await expect.poll(apart).toBe(0);
      await tab.evaluate(() => {
        const live = window.interplay.player.live!;
        const receive = live["receive"].bind(live);
        live["receive"] = (message) => void (message.type === "agent" ? setTimeout(() => receive(message), 500) : receive(message));
      });
      const at = await tick(tab);
      await tab.keyboard.press("ArrowRight");
      await atTick(tab, at + 1);
      expect(await apart()).toBe(1);
      await expect.poll(apart).toBe(0);
    }));

  it("of tables shows a tick as soon as it comes, as nothing glides", () =>
    withTab(async (tab) => {
      await live(tab);
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "speed", ticks_per_second: 1 }));
      const late = await tab.evaluate(async () => {
        const { player } = window.interplay;
        const drawn = () => new Promise((done) => requestAnimationFrame(done));
        const times: number[] = [];
        while (times.length < 3) {
          const before = player.source!.reel.last;
          while (player.source!.reel.last === before) await drawn();
          const came = performance.now();
          const late = () => performance.now() - came;
          while (player.shot!.tick <= before && late() < 900) await drawn();
          times.push(late());
        }
        return times.sort((a, b) => a - b)[1]!; // the first follows a shorter tick
      });
      expect(late).toBeLessThan(400); // with the glide of a world with places a second
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: false }));
    }));

  it("comes back when the line was cut", () =>
    withTab(async (tab) => {
      await live(tab);
      await tab.evaluate(() => (window.interplay.player.live as unknown as { socket: WebSocket }).socket.close());
      await tab.waitForFunction(() => window.interplay.player.live!.connection === "again");
      await tab.waitForFunction(() => window.interplay.player.live!.connection === "open");
      const before = await tick(tab);
      await tab.evaluate(() => window.interplay.player.live!.say({ type: "run", on: true }));
      await tab.waitForFunction((before) => window.interplay.player.shot && window.interplay.player.shot.tick !== before, before);
    }));

  it("is played: taken over, acted in, given back", () =>
    withTab(async (tab) => {
      await live(tab);
      await tab.locator("aside select").selectOption("0");
      await tab.getByRole("button", { name: "Take over" }).click();
      await expect.poll(async () => (await status(tab)).held).toBe(0);
      await tab.getByRole("button", { name: "defect" }).click();
      await expect.poll(() => tab.evaluate(() => Object.values(window.interplay.details?.chosen ?? {})), { timeout: 5000 }).toEqual([1]);
      await tab.keyboard.press("0");
      await expect.poll(() => tab.evaluate(() => Object.values(window.interplay.details?.chosen ?? {})), { timeout: 5000 }).toEqual([0]);
      await tab.getByRole("button", { name: "Give back" }).click();
      await expect.poll(async () => (await status(tab)).held).toBeNull();
    }));

  it("waits for the person whose turn it is", () =>
    withTab(async (tab) => {
      await live(tab, "simulation/multi-corridor-turns");
      await tab.evaluate(() => window.interplay.select(0));
      await tab.evaluate(() => window.interplay.run("take"));
      await expect.poll(async () => (await status(tab)).waiting, { timeout: 10_000 }).toBe(0);
      await expect.poll(() => tab.locator(".turn").textContent()).toContain("your turn");
      const at = (await status(tab)).tick;
      await tab.waitForTimeout(500);
      expect((await status(tab)).tick).toBe(at);
      await tab.getByRole("button", { name: "Do nothing this tick" }).click();
      await expect.poll(async () => (await status(tab)).tick).toBeGreaterThan(at);
    }));
});
