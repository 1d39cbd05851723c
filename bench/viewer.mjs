// What bench/viewer.py asks of a browser. Takes one argument, JSON, and prints what it measured, name to numbers, as JSON.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../interplay/view/web/package.json", import.meta.url))("playwright-core");
const asked = JSON.parse(process.argv[2]);
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const WAITED = "frames that waited at 20 ticks/s, %";
const TICK = 100; // of Linux's clock in a second
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const found = {};
const browser = await chromium.launch({ executablePath: asked.browser, args: FLAGS });

/** A tab on the page, and what it loads. */
async function withTab(url, use) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const tab = await context.newPage();
    tab.on("pageerror", (error) => console.error(error));
    await tab.goto(url);
    await tab.waitForFunction(() => window.interplay?.player.shot, null, { timeout: 300_000 });
    await tab.waitForSelector("canvas[role=img]"); // the panels are drawn a moment later
    await use(tab);
  } finally {
    await context.close();
  }
}

/** Processes by number: what started each, and the seconds of processor time that it has used. */
function processes() {
  const told = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const said = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop().split(" ");
      told.set(Number(pid), { parent: Number(said[1]), used: (Number(said[11]) + Number(said[12])) / TICK });
    } catch {
      // It has ended meanwhile.
    }
  }
  return told;
}

/** A process and all that it started. */
function family(root, told = processes()) {
  const belongs = (pid) => pid === root || (told.has(pid) && belongs(told.get(pid).parent));
  return [...told.keys()].filter(belongs);
}

/** Processor seconds of a family. */
function processor(root) {
  const told = processes();
  return family(root, told).reduce((sum, pid) => sum + told.get(pid).used, 0);
}

/** MB that no other process has, of the largest of a family that draws a page. */
function memoryOfPage(root) {
  const sizes = family(root).map((pid) => {
    if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer")) return 0;
    const told = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return [...told.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gm)].reduce((sum, [, kb]) => sum + Number(kb) / 1000, 0);
  });
  return Math.max(...sizes);
}

// -- in the page ------------------------------------------------------------------------------------------------------

/** Milliseconds of each of `count` frames, halfway between two ticks as well as on them, drawn to the last pixel. */
async function costs(count) {
  const { player } = window.interplay;
  const { reel } = player.source;
  const at = reel.first + Math.floor((reel.last - reel.first) / 2);
  player.clock.playing = false;
  player.seek(at);
  await Promise.all([reel.fetch(at), reel.fetch(at + 1)]);
  const [scene, next] = [reel.at(at).scene, reel.at(at + 1).scene];
  const canvas = document.querySelector("canvas[role=img]");
  const pen = player.solid ? canvas.getContext("webgl2") : canvas.getContext("2d");
  const times = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    (player.solid ?? player.flat).draw({ scene, next, share: (i % 10) / 10, selected: 0, thick: false }, player.camera);
    // Reading a pixel waits for all others.
    if (player.solid) pen.readPixels(0, 0, 1, 1, pen.RGBA, pen.UNSIGNED_BYTE, new Uint8Array(4));
    else pen.getImageData(0, 0, 1, 1);
    times.push(performance.now() - began);
  }
  return times.slice(Math.floor(count / 10)); // sprites and shaders are made in the first ones
}

/** Milliseconds from the wish to see a tick to its picture. */
async function seeks(count) {
  const { player } = window.interplay;
  const { reel } = player.source;
  const times = [];
  for (let i = 0; i < count; i++) {
    const wanted = reel.first + Math.floor(Math.random() * (reel.last - reel.first));
    for (const chunk of reel.chunks) chunk.frames = null;
    reel.cursor = null;
    reel.shots.clear();
    player.shot = null;
    const began = performance.now();
    player.seek(wanted);
    while (player.shot?.tick !== wanted) await new Promise((done) => setTimeout(done));
    times.push(performance.now() - began);
  }
  return times;
}

/** Milliseconds of decoding the next tick. */
async function steps(count) {
  const { reel } = window.interplay.player.source;
  const { first } = reel.chunks[0];
  await reel.fetch(first);
  reel.at(first);
  return Array.from({ length: Math.min(count, reel.chunks[0].ticks - 1) }, (_, i) => {
    const began = performance.now();
    reel.at(first + i + 1);
    return performance.now() - began;
  });
}

/** Ticks a second that playing comes to. */
async function plays(speed, seconds = 1.8) {
  const { player } = window.interplay;
  player.seek(player.source.reel.first);
  await new Promise((done) => setTimeout(done, 500));
  player.clock.speed = speed;
  player.clock.playing = true;
  const [began, from] = [performance.now(), player.clock.tick];
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  const rate = (1000 * (player.clock.tick - from)) / (performance.now() - began);
  player.clock.playing = false;
  return rate;
}

function near() {
  const { player } = window.interplay;
  const { agents, camera } = player;
  camera.centre(agents.columns.get("x")[0], agents.columns.get("y")[0]);
  camera.scale = 24; // about forty tiles from side to side
}

/** Seconds from the wish for the solid view to its first picture. */
async function solid() {
  const { player } = window.interplay;
  const began = performance.now();
  await window.interplay.setSolid(true);
  while (!player.solid || player.drawn === "") await new Promise(requestAnimationFrame);
  const pen = document.querySelector("canvas[role=img]").getContext("webgl2");
  pen.readPixels(0, 0, 1, 1, pen.RGBA, pen.UNSIGNED_BYTE, new Uint8Array(4));
  return (performance.now() - began) / 1000;
}

// -- what is asked ----------------------------------------------------------------------------------------------------

const frames = asked.quick ? 40 : 120;

async function recorded() {
  await withTab(asked.recorded, async (tab) => {
    found["flat, whole map, ms a frame"] = await tab.evaluate(costs, frames);
    await tab.evaluate(near);
    found["flat, near, ms a frame"] = await tab.evaluate(costs, frames);
    found["seek, nothing cached, ms"] = await tab.evaluate(seeks, asked.quick ? 10 : 30);
    found["a tick forward, ms"] = await tab.evaluate(steps, 90);
    if (!asked.quick) found["asked 640 ticks/s"] = [await tab.evaluate(plays, 640), await tab.evaluate(plays, 640)];
    const size = () => tab.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js")).reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0) / 1000);
    const page = await size();
    const ready = await tab.evaluate(solid);
    found["page, kB"] = [page];
    found["solid view, kB"] = [(await size()) - page];
    if (!asked.quick) found["solid view ready, s"] = [ready];
    found["solid, ms a frame"] = await tab.evaluate(costs, asked.quick ? 20 : 60);
  });
}

async function first() {
  found["first picture, s"] = [];
  for (let i = 0; i < (asked.quick ? 3 : 5); i++) await withTab(asked.recorded, async (tab) => found["first picture, s"].push(await tab.evaluate(() => performance.now() / 1000)));
}

/** Percent of the frames of some seconds that came together with the one before: it had waited for something on its way. */
function waited(seconds) {
  const { player } = window.interplay;
  const { arrived } = player;
  const came = [];
  player.arrived = () => (came.push(performance.now()), arrived.call(player));
  return new Promise((done) =>
    setTimeout(() => {
      player.arrived = arrived;
      done((100 * came.filter((at, i) => i && at - came[i - 1] < 10).length) / came.length);
    }, 1000 * seconds),
  );
}

/** Pictures a second of a world in play, and whether its frames come one by one. */
async function quickFrames() {
  await withTab(asked.live, async (tab) => {
    await tab.evaluate(() => window.interplay.player.live.say({ type: "speed", ticks_per_second: 20 }));
    await wait(2);
    const fps = (found["frames a second at 20 ticks/s"] = []);
    for (let i = 0; i < 4; i++) {
      await wait(1);
      fps.push(await tab.evaluate(() => window.interplay.player.framesPerSecond));
    }
    found[WAITED] = [await tab.evaluate(waited, 2), await tab.evaluate(waited, 2)];
  });
}

/** Frames a second, and shares of a core of browser and server, while a world is in play at each of some speeds. */
async function shares(tab, pid, server, speeds, told) {
  for (const speed of speeds) {
    await tab.evaluate((speed) => window.interplay.player.live.say({ type: "speed", ticks_per_second: speed }), speed);
    await wait(2);
    const [fps, page, own] = [[], [], []];
    for (let i = 0; i < 5; i++) {
      const [began, ours, theirs] = [performance.now(), processor(pid), processor(server)];
      await wait(2);
      const seconds = (performance.now() - began) / 1000;
      page.push((100 * (processor(pid) - ours)) / seconds);
      own.push((100 * (processor(server) - theirs)) / seconds);
      fps.push(await tab.evaluate(() => window.interplay.player.framesPerSecond));
    }
    found[`frames a second at ${speed} ticks/s${told}`] = fps;
    found[`browser at ${speed} ticks/s, % of a core${told}`] = page;
    found[`server at ${speed} ticks/s, % of a core${told}`] = own;
    if (speed === 20) found[WAITED] = [await tab.evaluate(waited, 5)];
  }
}

async function live(pid) {
  await withTab(asked.live, async (tab) => {
    await shares(tab, pid, asked.server, [10, 20, 60], "");
    await tab.evaluate(() => window.interplay.player.live.say({ type: "speed", ticks_per_second: 10 }));
    await wait(60 * asked.minutes);
    found["memory of the page, MB"] = [memoryOfPage(pid)];
  });
  await withTab(asked.walkers, (tab) => shares(tab, pid, asked.walkersServer, [10, 60], ", walkers"));
}

/** The browser's own process: the one started here. */
function browserProcess() {
  const told = processes();
  return [...told.keys()].find((pid) => told.get(pid).parent === process.pid);
}

try {
  await recorded();
  await first();
  if (asked.quick) await quickFrames();
  else await live(browserProcess());
  console.log(JSON.stringify(found));
} finally {
  await browser.close();
}
