/** The user stories of the viewer (docs/specs/viewer.md 1), walked through in a real browser, with a picture of each.
 *
 * Run from the repository root, after `make page`; needs Node 20, Chromium and Linux:
 *
 *     make stories                                     # prepares by real commands, walks, writes pictures: about ten minutes
 *     make stories ARGS="--kept stories --only 3,7"    # keeps what was prepared, walks two of them
 *
 * A run of survival and one of the persistent world, a cup, a recorded match of 10,000 ticks and a world in a file are made; then each
 * story is done as a person would, by mouse and keys, and of each step it is said whether what should be there was there. Ends with 1
 * where something was not. Pictures and report.json go to --out (runs/stories).
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { chromium } = createRequire(new URL("../interplay/view/web/package.json", import.meta.url))("playwright-core");
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const OWN = "tests.page.street:Street"; // a world in a file: forty lines, one draw function, no JavaScript
const VIEW = "canvas[role=img]";
const MADE = {
  "runs/survival": ["train", "survival/1v1-heals-low", "--steps", "800000", "record.every=5"],
  "runs/mmo": ["train", "mmo/combat", "--steps", "1500000", "record.every=10", "record.ticks=100"],
  cup: ["tournament", "runs/survival", "hunter", "random", "--matches", "10", "--record", "1"],
  "long.replay": ["record", "random", "--world", "mmo/combat", "--max-steps", "10000"],
  "street.replay": ["record", "random", "--world", OWN, "--max-steps", "200"],
};

const { values: said } = parseArgs({ options: { only: { type: "string" }, kept: { type: "string" }, out: { type: "string", default: "runs/stories" } } });
const folder = said.kept ? resolve(said.kept) : mkdtempSync(join(tmpdir(), "stories-"));
const out = resolve(said.out);
const python = process.env.PYTHON ?? join(ROOT, ".venv/bin/python");
const env = { ...process.env, PYTHONPATH: ROOT, PYTHONUNBUFFERED: "1" };
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// -- commands ---------------------------------------------------------------------------------------------------------

/** What a command of interplay prints; it has to succeed. */
function interplay(...words) {
  const { status, stdout, stderr } = spawnSync(python, ["-m", "interplay", ...words], { cwd: folder, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`interplay ${words.join(" ")}: ${stderr.trim().split("\n").at(-1)}`);
  return stdout;
}

/** Serves while `use` runs, which gets the address. */
async function serving(words, use) {
  const server = spawn(python, ["-m", "interplay", ...words, "--no-browser"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const address = await new Promise((done) => server.stdout.once("data", (data) => done(/http:\S+/.exec(String(data))[0])));
    return await use(address);
  } finally {
    server.kill("SIGINT");
    await new Promise((done) => (server.exitCode === null ? server.once("exit", done) : done()));
  }
}

// -- a person ---------------------------------------------------------------------------------------------------------

let browser;
let steps;

/** Says that something should be there, and whether it was. */
function holds(what, truth, seen = "") {
  steps.push({ what, held: Boolean(truth), seen: String(seen) });
  console.log(`  ${truth ? "ok  " : "FAIL"} ${what}${seen === "" ? "" : `: ${seen}`}`);
}

/** Opens an address; an error in the console is one of the page. */
async function withTab(address, use, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const tab = await context.newPage();
  const wrong = [];
  tab.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  tab.on("pageerror", (error) => wrong.push(String(error)));
  tab.setDefaultTimeout(60_000);
  try {
    await tab.goto(address);
    await tab.waitForFunction(() => window.interplay?.sources || window.interplay?.error);
    await use(tab).catch(async (problem) => {
      await tab.screenshot({ path: join(tmpdir(), `story-failed-${steps.length}.png`) });
      throw problem;
    });
    holds("no error in the console", !wrong.length, wrong.join("; "));
  } finally {
    await context.close();
  }
}

const shown = (tab) => tab.waitForFunction(() => window.interplay.player.shot, null, { timeout: 240_000 });
const tick = (tab) => tab.evaluate(() => window.interplay.player.tick);
const goes = async (tab) => tab.waitForFunction((before) => window.interplay.player.tick > before + 3, await tick(tab));
const list = (tab, name) => tab.locator("aside label", { has: tab.locator("span", { hasText: new RegExp(`^${name}$`) }) }).locator("select");
const choose = (tab, name) => tab.getByRole("tab", { name, exact: true }).click();
const picture = (tab, name) => tab.screenshot({ path: join(out, `${name}.png`) });
const choices = (tab) => tab.locator(".choices .number").allTextContents();
const aloud = (tab) => tab.locator("#aloud").textContent();

/** Clicks an agent that is alive, in the world; its slot. */
async function clickAgent(tab, wanted = null) {
  const [slot, x, y] = await tab.evaluate((wanted) => {
    const { agents, camera } = window.interplay.player;
    const { columns, rows } = agents;
    const there = Array.from({ length: rows }, (_, row) => row).filter((row) => !columns.get("absent")?.[row]);
    const row = wanted ?? there[there.length >> 1];
    return [row, camera.screenX(columns.get("x")[row]), camera.screenY(columns.get("y")[row])];
  }, wanted);
  await tab.locator(VIEW).click({ position: { x, y } });
  return slot;
}

// -- the stories ------------------------------------------------------------------------------------------------------

const STORIES = {
  1: ["It trained all night. What does it do?", async () => {
    await serving(["view", "runs/mmo"], (address) => withTab(address, async (tab) => {
      await shown(tab);
      await tab.waitForFunction(() => window.interplay.player.tick > 30);
      holds("its world is in play, by its newest checkpoint", (await tab.evaluate(() => window.interplay.player.live.policy)).includes("runs/mmo") || (await tab.evaluate(() => window.interplay.player.live.policy)).includes("mmo"), await tab.evaluate(() => window.interplay.player.live.policy));
      await tab.locator(".uplot canvas").first().waitFor();
      const curve = await tab.locator("aside select").first().evaluate((select) => select.value);
      holds("curves are there, first what was learnt", !/per_s$/.test(curve), curve);
      const matches = await tab.getByLabel("Match", { exact: true }).locator("option").count();
      holds("recorded matches are there", matches > 2, `${matches} choices`);
      await picture(tab, "01-run");
    }));
  }],
  2: ["Is it learning now?", async () => {
    rmSync(join(folder, "now"), { recursive: true, force: true });
    const learner = spawn(python, ["-m", "interplay", "train", "survival/1v1-heals-low", "--steps", "3000000", "--out", "now", "record.every=10", "record.ticks=200"], { cwd: folder, env, stdio: "ignore" });
    const ended = new Promise((done) => learner.once("exit", done));
    while (!existsSync(join(folder, "now", "metrics.jsonl"))) await wait(0.2);
    await serving(["view", "now"], (address) => withTab(address, async (tab) => {
      await shown(tab);
      await choose(tab, "Curves");
      await tab.locator(".uplot canvas").first().waitFor();
      const state = () => tab.evaluate(() => ({ policy: window.interplay.player.live?.policy, matches: window.interplay.matches.list.length }));
      const before = await state();
      await tab.waitForFunction((count) => window.interplay.matches.list.length >= count + 2, before.matches, { timeout: 240_000 });
      await tab.waitForFunction((policy) => window.interplay.player.live?.policy !== policy, before.policy, { timeout: 240_000 });
      const after = await state();
      holds("matches come without a reload", after.matches > before.matches, `${before.matches}, then ${after.matches}`);
      holds("the world in play takes up a new checkpoint", after.policy !== before.policy, `${before.policy}, then ${after.policy}`);
      holds("training goes on meanwhile", learner.exitCode === null);
      await picture(tab, "02-learning-now");
    }));
    holds("the viewer is gone, and training ends as if it had never been there", (await ended) === 0, `status ${learner.exitCode}`);
  }],
  3: ["At which moment did it go wrong?", async () => {
    await serving(["view", "long.replay"], async (address) => {
      let link = "";
      await withTab(address, async (tab) => {
        await shown(tab);
        const opened = await tab.evaluate(async () => {
          const { id } = window.interplay.sources.recordings[0];
          const began = performance.now();
          await window.interplay.openMatch(id);
          while (!window.interplay.player.shot) await new Promise(requestAnimationFrame);
          return performance.now() - began;
        });
        const last = await tab.evaluate(() => window.interplay.player.clock.last);
        holds("10,000 ticks open in under a second", last >= 9_999 && opened < 1000, `${last} ticks, ${opened.toFixed(0)} ms`);
        await tab.keyboard.press("Space");
        const line = await tab.getByRole("slider").boundingBox();
        await tab.mouse.move(line.x + 0.2 * line.width, line.y + line.height / 2);
        await tab.mouse.down();
        await tab.mouse.move(line.x + 0.7 * line.width, line.y + line.height / 2, { steps: 8 });
        await tab.mouse.up();
        await tab.waitForFunction(() => !window.interplay.player.loading && Math.abs(window.interplay.player.shot.tick - 7000) < 60);
        holds("the time line is dragged", true, `tick ${await tick(tab)}`);
        const here = await tick(tab);
        await tab.keyboard.press("ArrowRight");
        await tab.waitForFunction((wanted) => window.interplay.player.shot.tick === wanted, here + 1);
        await tab.keyboard.press("ArrowLeft");
        await tab.keyboard.press("ArrowLeft");
        await tab.waitForFunction((wanted) => window.interplay.player.shot.tick === wanted, here - 1);
        holds("it steps both ways", true);
        await tab.getByLabel("Events").selectOption("death");
        await tab.keyboard.press(".");
        await tab.waitForFunction((before) => window.interplay.player.shot.tick > before, here - 1);
        const death = await tick(tab);
        const marked = await tab.evaluate((at) => window.interplay.player.source.marks.some((mark) => mark.kind === "death" && mark.tick === at), death);
        holds("the next death is jumped to", marked, `tick ${death}`);
        await clickAgent(tab);
        await tab.waitForTimeout(500);
        link = await tab.evaluate(() => location.href);
        await picture(tab, "03-which-moment");
      });
      await withTab(address, async (tab) => {
        await shown(tab); // a colleague who has the same viewer open pastes the link over its address
        await tab.goto(link);
        const wanted = Number(/at=(\d+)/.exec(link)[1]);
        await tab.waitForFunction((wanted) => window.interplay?.player.shot?.tick === wanted, wanted);
        holds("the link leads a colleague there", true, link.split("#")[1]);
      });
    });
  }],
  4: ["Why did it do that?", async () => {
    await serving(["view", "runs/mmo"], (address) => withTab(address, async (tab) => {
      await shown(tab);
      for (let i = 0; i < 4; i++) await tab.keyboard.press("+");
      await tab.waitForFunction(() => window.interplay.player.tick > 60);
      await tab.keyboard.press("Space");
      await tab.waitForFunction(() => !window.interplay.player.live.status.running);
      await wait(0.5);
      await clickAgent(tab);
      await choose(tab, "Agent");
      await tab.locator(".choices .number").first().waitFor();
      const told = await tab.evaluate(() => window.interplay.details);
      const sums = told.heads.map((head) => head.probabilities.reduce((sum, one) => sum + one, 0));
      holds("its choices have probabilities that sum to one", sums.every((sum) => Math.abs(sum - 1) < 1e-3), (await choices(tab)).join(" "));
      holds("its value is told", Number.isFinite(told.value), told.value?.toFixed(2));
      holds("what it sees is told", (await tab.getByText("Observation", { exact: true }).count()) > 0, told.observation.map((one) => one.name).join(", "));
      holds("its stores are bars", (await tab.getByRole("meter").count()) >= 3);
      await picture(tab, "04-why");
      await tab.locator("aside").evaluate((panel) => (panel.querySelector("[role=tabpanel]") ?? panel).scrollTo(0, 1e6));
      await wait(0.3);
      await picture(tab, "04-why-seen");
    }));
  }],
  5: ["Can I beat it?", async () => {
    rmSync(join(folder, "mine.replay"), { force: true });
    await serving(["play", "survival/2v2-all-low", "--opponent", "hunter", "--out", "mine.replay"], (address) => withTab(address, async (tab) => {
      await shown(tab);
      holds("time stands still until I begin", (await tab.locator(".note").textContent()).includes("time begins"), await tab.locator(".note").textContent());
      await tab.evaluate(() => window.interplay.select(0));
      await tab.keyboard.press("t");
      await tab.waitForFunction(() => window.interplay.player.live.held === 0);
      holds("I take one over", true, await aloud(tab));
      const place = () => tab.evaluate(() => ["x", "y"].map((one) => window.interplay.player.agents.columns.get(one)[0]));
      const before = await place();
      await tab.keyboard.down("w");
      await wait(1.5);
      await picture(tab, "05-play");
      await tab.keyboard.up("w");
      const after = await place();
      holds("it goes where my key says", Math.hypot(after[0] - before[0], after[1] - before[1]) > 0.2, `${before.map((one) => one.toFixed(2))} to ${after.map((one) => one.toFixed(2))}`);
      holds("under fog I see what it sees", (await tab.locator(".note").textContent()).includes("fog"), await tab.locator(".note").textContent());
      await tab.keyboard.press("Alt+t");
      await tab.waitForFunction(() => window.interplay.player.live.held === null);
      holds("I give it back", true, await aloud(tab));
    }));
    await serving(["view", "mine.replay"], (address) => withTab(address, async (tab) => {
      await shown(tab);
      const marks = await tab.evaluate(() => window.interplay.player.source.marks.map((mark) => mark.kind));
      const who = await tab.evaluate(() => window.interplay.player.source.policy);
      holds("my life was recorded like any other", ["taken", "given"].every((kind) => marks.includes(kind)) && who.includes("people"), `played by ${who}; ${[...new Set(marks)].join(", ")}`);
      await picture(tab, "05-my-life");
    }));
  }],
  6: ["What does it value, where does it go, whom does it fear?", async () => {
    await serving(["view", "runs/mmo"], (address) => withTab(address, async (tab) => {
      await shown(tab);
      for (let i = 0; i < 5; i++) await tab.keyboard.press("+");
      await tab.waitForFunction(() => window.interplay.player.tick > 100);
      await choose(tab, "Overlays");
      const listed = await tab.evaluate(() => window.interplay.player.source.lays.overlays.map((one) => one.name));
      for (const name of listed) {
        await list(tab, "Overlay").selectOption(name);
        await tab.waitForFunction((name) => window.interplay.player.source.lays.overlay?.name === name, name);
        if (name === "values") await list(tab, "Population").selectOption({ index: 2 });
        await wait(3);
        const range = await tab.evaluate(() => [window.interplay.player.source.lays.overlay.lowest, window.interplay.player.source.lays.overlay.highest]);
        holds(`${name} lies over the running world`, range.every(Number.isFinite), range.map((one) => one.toPrecision(3)).join(" to "));
        await picture(tab, `06-${name.replaceAll(" ", "-")}`);
      }
    }));
    await serving(["view", "runs/survival"], (address) => withTab(address, async (tab) => {
      await shown(tab);
      await goes(tab);
      await tab.evaluate(() => window.interplay.select(0));
      await choose(tab, "Overlays");
      const listed = await tab.evaluate(() => window.interplay.player.source.lays.overlays.map((one) => one.name));
      const value = listed.find((name) => name.includes("value"));
      holds("of a world of places without tiles: the value of one agent over the plane", value, listed.join(", "));
      if (!value) return;
      await list(tab, "Overlay").selectOption(value);
      await tab.waitForFunction((name) => window.interplay.player.source.lays.overlay?.name === name, value);
      await wait(1);
      await picture(tab, "06-plane");
    }));
  }],
  7: ["Who is best?", async () => {
    await serving(["view", "cup"], (address) => withTab(address, async (tab) => {
      await tab.locator(".payoff button").first().waitFor();
      const told = await tab.locator(".ratings tbody tr").allInnerTexts();
      holds("a table has ratings, intervals and games", told.length === 3, told.map((row) => row.replace(/\s+/g, " ")).join("; "));
      await tab.locator(".payoff button").first().click();
      await tab.locator(".behind li button").first().waitFor();
      await picture(tab, "07-who-is-best");
      await tab.locator(".behind li button").first().click();
      await shown(tab);
      await tab.waitForFunction(() => window.interplay.player.tick > 20);
      holds("a cell opens the matches behind it", true, await tab.locator("header .policy").textContent());
      await picture(tab, "07-match");
      await tab.getByRole("button", { name: "Play this match" }).click();
      await tab.waitForFunction(() => window.interplay.player.live);
      await shown(tab);
      holds("and lets the two meet live", true, await tab.locator("header .policy").textContent());
    }));
  }],
  8: ["I wrote my own world.", async () => {
    await serving(["play", OWN], (address) => withTab(address, async (tab) => {
      await shown(tab);
      await tab.evaluate(() => window.interplay.select(0));
      await tab.keyboard.press("t");
      await tab.waitForFunction(() => window.interplay.player.live.held === 0);
      await tab.keyboard.press("ArrowRight");
      await wait(0.5);
      holds("it is shown, and played by its own keys", (await tab.locator(".playing .keys dd").allTextContents()).join() === "left,right", await aloud(tab));
      await picture(tab, "08-own-world");
    }));
    await serving(["view", "street.replay"], (address) => withTab(address, async (tab) => {
      await shown(tab);
      await tab.keyboard.press("End");
      await tab.waitForFunction(() => window.interplay.player.shot.tick === window.interplay.player.clock.last);
      holds("it is recorded, and sought in", true, `tick ${await tick(tab)}`);
    }));
  }],
  9: ["Thousands of agents.", async () => {
    const alive = ["mask_lava=true", "respawn=immediate", "cap_draw=fixed", "prefill=8192"].flatMap((option) => ["--option", option]);
    await serving(["view", "mmo/combat-8192", ...alive], (address) => withTab(address, async (tab) => {
      await shown(tab);
      await goes(tab);
      const rows = await tab.evaluate(() => [window.interplay.player.agents.rows, window.interplay.player.source.schema.bounds.join(" ")]);
      holds("8,192 agents on 800 tiles and more are shown", rows[0] === 8192, rows.join("; "));
      await wait(6);
      const frames = await tab.evaluate(() => window.interplay.player.framesPerSecond);
      holds("pictures a second, of the whole map (bar 50)", frames > 0, frames);
      await picture(tab, "09-thousands");
      await clickAgent(tab, 17).catch(() => undefined);
      await tab.evaluate(() => window.interplay.select(17));
      await tab.keyboard.press("f");
      await wait(6);
      holds("pictures a second, following one", (await tab.evaluate(() => window.interplay.player.framesPerSecond)) >= 50, await tab.evaluate(() => window.interplay.player.framesPerSecond));
      await picture(tab, "09-followed");
    }));
  }],
  10: ["I do not see colours as you do, I use no mouse, I read with a screen reader.", async () => {
    await serving(["view", "."], (address) => withTab(address, async (tab) => {
      const focused = () => tab.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);
      const reach = async (name, most = 200) => {
        for (let i = 0; i < most; i++) {
          if ((await focused())?.startsWith(name)) return true;
          await tab.keyboard.press("Tab");
        }
        throw new Error(`Tab does not reach ${name}`);
      };
      await reach("Open long.replay");
      await tab.keyboard.press("Enter");
      await shown(tab);
      holds("a recording is opened by Tab and Enter", true, await aloud(tab));
      for (const key of ["Space", ...Array(5).fill("Shift+ArrowRight"), "ArrowRight", ".", "]", "f"]) await tab.keyboard.press(key);
      await tab.waitForFunction(() => window.interplay.player.following);
      holds("it is stepped, and an agent is selected and followed by keys; commands are told aloud", (await aloud(tab)).includes("Following"), await aloud(tab));
      await reach("Agent");
      while ((await focused()) !== "Table") await tab.keyboard.press("ArrowRight");
      await tab.keyboard.press("Enter");
      await tab.getByRole("grid").getByRole("row").nth(1).waitFor();
      const named = await tab.getByRole("grid").getByRole("row").count();
      holds("who is in view is told in a table", named > 2, `${named} rows`);
      await picture(tab, "10-table");
      const session = await tab.context().newCDPSession(tab);
      const { nodes } = await session.send("Accessibility.getFullAXTree");
      const controls = nodes.filter(({ ignored, role }) => !ignored && ["button", "combobox", "slider", "tab", "textbox", "checkbox", "spinbutton", "img"].includes(role?.value));
      const unnamed = controls.filter(({ name }) => !name?.value);
      holds("every control has a role and a name in the accessibility tree", controls.length > 15 && !unnamed.length, `${controls.length} controls`);
      for (const kind of ["deuteranopia", "protanopia", "tritanopia"]) {
        await session.send("Emulation.setEmulatedVisionDeficiency", { type: kind });
        await picture(tab, `10-${kind}`);
      }
      await session.send("Emulation.setEmulatedVisionDeficiency", { type: "none" });
    }));
  }],
  11: ["I have no screen there.", async () => {
    await serving(["view", "runs/survival"], async (address) => holds("one line has the address", /^http:\/\/127\.0\.0\.1:\d+\/#token=\S{32}$/.test(address), address.replace(/token=.*/, "token=…")));
    const files = { "episode.mp4": 10_000, "episode.gif": 10_000, "episode.png": 1_000 };
    for (const name of Object.keys(files)) {
      rmSync(join(folder, name), { force: true });
      const words = interplay("record", "runs/survival", "--max-steps", "60", "--out", name);
      holds(`interplay record makes a ${name.split(".")[1]} without a browser`, existsSync(join(folder, name)), words.trim().split("\n").at(-1));
    }
  }],
};

// -- all of it --------------------------------------------------------------------------------------------------------

mkdirSync(out, { recursive: true });
mkdirSync(join(folder, "runs"), { recursive: true });
for (const [name, words] of Object.entries(MADE)) {
  if (existsSync(join(folder, name))) continue;
  console.log(`interplay ${words.join(" ")} --out ${name}`);
  interplay(...words, "--out", name);
}
const executable = process.env.CHROMIUM ?? BROWSERS.find(existsSync);
browser = await chromium.launch({ executablePath: executable, args: FLAGS });
const report = {};
for (const number of said.only?.split(",") ?? Object.keys(STORIES)) {
  const [title, walk] = STORIES[number];
  steps = [];
  console.log(`${number}. ${title}`);
  try {
    await walk();
  } catch (problem) {
    holds("it was walked to its end", false, String(problem).split("\n")[0]);
  }
  report[number] = { title, steps };
}
await browser.close();
if (!said.kept) rmSync(folder, { recursive: true });
writeFileSync(join(out, "report.json"), JSON.stringify(report, null, 1) + "\n");
const failed = Object.values(report).flatMap(({ steps }) => steps).filter(({ held }) => !held).length;
console.log(failed ? `${failed} steps did not hold` : "every step held");
process.exit(failed ? 1 : 0);
