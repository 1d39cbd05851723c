/** The pictures of docs/watching.md, docs/images/watching-*.png, taken from the page as it is; that of ratings is not among them.
 *
 * Run from the repository root, after `make page`; needs Node 20 and Chromium:
 *
 *     node bench/guide_pictures.mjs                       # makes what is shown, a run of pong among it: a few minutes
 *     node bench/guide_pictures.mjs --kept shown mmo run  # keeps in a folder what was made; these two alone
 *
 * PYTHON names the interpreter, .venv/bin/python unless it is set.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { chromium } = createRequire(new URL("../interplay/view/web/package.json", import.meta.url))("playwright-core");
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const PYTHON = process.env.PYTHON ?? join(ROOT, ".venv/bin/python");
const MADE = {
  "survival-1v1-all-high.replay": ["record", "random", "--world", "survival/1v1-all-high"],
  "mmo-combat.replay": ["record", "fighter", "--world", "mmo/combat", "--max-steps", "600"],
  "werewolf-9.replay": ["record", "random", "--world", "werewolf/9"],
  first: ["train", "pong/2p", "--steps", "300000"],
};
// Name -> colours, what is opened, the part of the address behind #, and what is done: keys, [role, name] to click, [role, name, choice].
const PICTURES = {
  survival: ["dark", ["survival-1v1-all-high.replay"], "match=0&at=60&agent=1", []],
  mmo: ["light", ["mmo-combat.replay"], "match=0&at=200&agent=3", []],
  werewolf: ["light", ["werewolf-9.replay"], "match=0&at=4", [["tab", "Table"]]],
  run: ["dark", ["first"], "", [["tab", "Curves"], ["combobox", "Curve", "entropy"]]],
  agent: ["dark", ["first"], "", ["]", ["tab", "Agent"]]],
  "solid-mmo": ["light", ["mmo-combat.replay"], "match=0&at=300&agent=0", ["v", "f", "i", "i", "i", "i", "m"]],
  "solid-survival": ["light", ["survival/2v2-all-low", "--policy", "hunter"], "", ["v", "k", "m"]],
};

const { values, positionals } = parseArgs({ options: { kept: { type: "string" } }, allowPositionals: true });
const folder = values.kept ? resolve(values.kept) : mkdtempSync(join(tmpdir(), "interplay-pictures-"));
mkdirSync(folder, { recursive: true });
const options = { cwd: folder, env: { ...process.env, PYTHONPATH: ROOT } };
const wanted = Object.entries(PICTURES).filter(([name]) => !positionals.length || positionals.includes(name));
for (const [name, command] of Object.entries(MADE)) {
  if (existsSync(join(folder, name)) || !wanted.some(([, [, opened]]) => opened[0] === name)) continue;
  const made = spawnSync(PYTHON, ["-m", "interplay", ...command, "--out", name], { ...options, stdio: "inherit" });
  if (made.status) process.exit(1);
}

const browser = await chromium.launch({ executablePath: BROWSERS.find(existsSync), args: ["--no-sandbox", "--disable-gpu"] });
for (const [name, [colorScheme, opened, place, deeds]] of wanted) {
  const server = spawn(PYTHON, ["-m", "interplay", "view", ...opened, "--no-browser"], options);
  const url = await new Promise((found, failed) => {
    let said = "";
    server.stdout.on("data", (data) => {
      said += data;
      const address = /http:\S+#token=\S+\n/.exec(said);
      if (address) found(address[0].trim());
    });
    server.on("exit", () => failed(new Error(`interplay view ${opened[0]} ended: ${said}`)));
  });
  const page = await browser.newPage({ viewport: { width: 1120, height: 700 }, colorScheme });
  await page.goto(place ? `${url}&${place}` : url);
  await page.waitForSelector("canvas[role=img]", { timeout: 60_000 });
  await page.waitForTimeout(8_000); // networks and kernels are compiled by their first step
  for (const deed of deeds) {
    if (typeof deed === "string") await page.keyboard.press(deed);
    else if (deed.length === 3) await page.getByRole(deed[0], { name: deed[1], exact: true }).selectOption(deed[2]);
    else await page.getByRole(deed[0], { name: deed[1] }).click();
    await page.waitForTimeout(deed === "v" ? 4_000 : 1_000);
  }
  await page.waitForTimeout(3_000);
  await page.screenshot({ path: join(ROOT, "docs/images", `watching-${name}.png`) });
  await page.close();
  server.removeAllListeners("exit");
  server.kill("SIGINT");
}
await browser.close();
if (!values.kept) rmSync(folder, { recursive: true });
