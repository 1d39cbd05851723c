/** The solid view, drawn by software. */

import { Page as Tab } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Overlay } from "../src/overlay";
import type { Page } from "../src/page";
import { atTick, openMatch, seek, withTab } from "./tab";

declare const window: Window & { interplay: Page };

const VIEW = "canvas[role=img]";
const button = (tab: Tab) => tab.getByRole("button", { name: "Solid view" });
const solid = (tab: Tab) => tab.waitForFunction(() => window.interplay.player.solid);
const flat = (tab: Tab) => tab.waitForFunction((view) => !window.interplay.player.solid && document.querySelector<HTMLCanvasElement>(view)!.getContext("2d"), VIEW);

/** How many pixels have each of these colours, "r,g,b". */
function count(tab: Tab, colours: string[]): Promise<number[]> {
  return tab.evaluate(
    ([view, colours]) => {
      const { player } = window.interplay;
      player.redraw();
      (player as unknown as { paint(now: number): void }).paint(performance.now());
      const pen = document.querySelector<HTMLCanvasElement>(view)!.getContext("webgl2")!;
      const { drawingBufferWidth: wide, drawingBufferHeight: high } = pen;
      const pixels = new Uint8Array(4 * wide * high);
      pen.readPixels(0, 0, wide, high, pen.RGBA, pen.UNSIGNED_BYTE, pixels);
      const found = new Map<string, number>();
      for (let i = 0; i < pixels.length; i += 4) {
        const colour = pixels.slice(i, i + 3).join();
        found.set(colour, (found.get(colour) ?? 0) + 1);
      }
      return colours.map((colour) => found.get(colour) ?? 0);
    },
    [VIEW, colours] as const,
  );
}

describe("the solid view", () => {
  it("shows the same world, selects who stands at the pointer, and goes again", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await seek(tab, 30);
      expect(await button(tab).getAttribute("aria-pressed")).toBe("false");
      await tab.keyboard.press("v");
      await solid(tab);
      await expect.poll(() => button(tab).getAttribute("aria-pressed")).toBe("true");
      // Tops have the colours of the palette: two populations, grass and stone.
      const [blue, orange, grass, stone] = await count(tab, ["0,114,178", "230,159,0", "201,218,189", "88,81,78"]);
      expect(Math.min(blue!, orange!)).toBeGreaterThan(100);
      expect(Math.min(grass!, stone!)).toBeGreaterThan(2000);
      const places = await tab.evaluate(() => {
        const { agents, solid } = window.interplay.player;
        const { columns, rows } = agents!;
        const there = Array.from({ length: rows }, (_, row) => row).filter((row) => !columns.get("absent")![row]);
        return there.map((row) => [row, ...solid!.project(columns.get("x")![row]!, columns.get("y")![row]!, 0.45)] as const);
      });
      const hits = await tab.evaluate((places) => places.map(([, x, y]) => window.interplay.player.hit(x, y)), places);
      expect(hits).toEqual(places.map(([row]) => row));
      const [row, x, y] = places.find(([row]) => row === 7)!;
      await tab.locator(VIEW).click({ position: { x, y } });
      await expect.poll(() => tab.locator("aside h2").textContent()).toContain(`walker ${row}`);
      await tab.keyboard.press("v");
      await flat(tab);
      expect(await tab.evaluate(() => window.interplay.player.selected)).toBe(7);
    }));

  it("marks who is pointed at elsewhere", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await seek(tab, 30);
      await tab.keyboard.press("v");
      await solid(tab);
      const other = await tab.evaluate((view) => {
        const { player } = window.interplay;
        const pen = document.querySelector<HTMLCanvasElement>(view)!.getContext("webgl2")!;
        const { drawingBufferWidth: wide, drawingBufferHeight: high } = pen;
        const [plain, ringed] = [null, 7].map((marked) => {
          const pixels = new Uint8Array(4 * wide * high);
          player.solid!.draw({ scene: player.shot!.scene, next: null, share: 0, selected: null, thick: false, marked });
          pen.readPixels(0, 0, wide, high, pen.RGBA, pen.UNSIGNED_BYTE, pixels);
          return pixels;
        });
        return ringed!.filter((part, i) => part !== plain![i]).length;
      }, VIEW);
      expect(other).toBeGreaterThan(100);
    }));

  it("shows an overlay on level ground", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await seek(tab, 30);
      await tab.keyboard.press("v");
      await solid(tab);
      const drawn = await tab.evaluate((view) => {
        const { player } = window.interplay;
        const overlay = { form: "map", origin: [0, 0], cell: 1, width: 24, height: 24, cells: new Uint8Array(576).fill(255), diverging: false } as unknown as Overlay;
        const pen = document.querySelector<HTMLCanvasElement>(view)!.getContext("webgl2")!;
        const { drawingBufferWidth: wide, drawingBufferHeight: high } = pen;
        const pixels = new Uint8Array(4 * wide * high);
        return [null, overlay, null].map((overlay) => {
          player.solid!.draw({ scene: player.shot!.scene, next: null, share: 0, selected: null, thick: false, overlay });
          pen.readPixels(0, 0, wide, high, pen.RGBA, pen.UNSIGNED_BYTE, pixels);
          let [stone, yellow] = [0, 0];
          for (let i = 0; i < pixels.length; i += 4) {
            const [red, green, blue] = pixels.subarray(i, i + 3) as unknown as [number, number, number];
            if (red === 88 && green === 81 && blue === 78) stone++;
            if (red > 240 && green > 215 && blue < 110) yellow++;
          }
          return [stone > 2000, yellow > 20_000];
        });
      }, VIEW);
      expect(drawn).toEqual([[true, false], [false, true], [true, false]]);
    }));

  it("is moved, turned, tilted and followed by keys and by the pointer", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await seek(tab, 10);
      await button(tab).click();
      await solid(tab);
      const look = () =>
        tab.evaluate(() => {
          const { camera, solid } = window.interplay.player;
          solid!.lens.aim();
          return [camera.x, camera.y, camera.scale, ...solid!.lens.eye.position.toArray()] as const;
        });
      const drag = async (by: [number, number], button: "left" | "right") => {
        await tab.mouse.move(400, 400);
        await tab.mouse.down({ button });
        await tab.mouse.move(400 + by[0], 400 + by[1], { steps: 4 });
        await tab.mouse.up({ button });
      };
      const began = await look();
      await drag([120, 0], "right");
      await tab.keyboard.press("n");
      const turned = await look();
      expect(turned.slice(0, 3)).toEqual(began.slice(0, 3));
      expect(Math.abs(turned[3] - began[3])).toBeGreaterThan(1);
      expect(turned[4]).toBeGreaterThan(began[4]);
      await tab.keyboard.press("i");
      // What lies below the pointer stays there while the wheel turns, and goes where it is dragged.
      const below = (x: number, y: number) => tab.evaluate(([x, y]) => window.interplay.player.solid!.lens.worldAt(x, y)!, [x, y] as const);
      const box = (await tab.locator(VIEW).boundingBox())!;
      await tab.mouse.move(box.x + 300, box.y + 300);
      const before = await below(300, 300);
      await tab.mouse.wheel(0, -300);
      await expect.poll(async () => (await look())[2]).toBeGreaterThan(turned[2] * 1.8);
      const after = await below(300, 300);
      expect(Math.hypot(after[0] - before[0], after[1] - before[1])).toBeLessThan(0.1);
      const centre = await below(box.width / 2, box.height / 2);
      await drag([0, 150], "left");
      const moved = await below(box.width / 2, box.height / 2 + 150);
      expect(Math.hypot(moved[0] - centre[0], moved[1] - centre[1])).toBeLessThan(1);
      await tab.keyboard.press("]");
      await tab.keyboard.press("f");
      await seek(tab, 40);
      const followed = await tab.evaluate(() => {
        const { agents, solid, camera } = window.interplay.player;
        const [x, y] = solid!.project(agents!.columns.get("x")![0]!, agents!.columns.get("y")![0]!, 0);
        return Math.hypot(x - camera.width / 2, y - camera.height / 2);
      });
      expect(followed).toBeLessThan(60);
    }));

  it("that loses its graphics gives way to the flat one and says so", () =>
    withTab(async (tab) => {
      await openMatch(tab);
      await seek(tab, 10);
      await tab.keyboard.press("v");
      await solid(tab);
      await tab.evaluate((view) => document.querySelector<HTMLCanvasElement>(view)!.getContext("webgl2")!.getExtension("WEBGL_lose_context")!.loseContext(), VIEW);
      await flat(tab);
      await expect.poll(() => tab.locator(".toast").textContent()).toContain("stopped the solid view's graphics");
      await tab.keyboard.press("ArrowRight");
      await atTick(tab, 11);
      await tab.keyboard.press("v");
      await solid(tab);
    }));

  it("is not there without WebGL 2, and where nothing has a place", () =>
    withTab(
      async (tab) => {
        await openMatch(tab);
        await tab.evaluate(() => {
          const get = HTMLCanvasElement.prototype.getContext as (kind: string, ...more: unknown[]) => RenderingContext | null;
          HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...more: unknown[]) {
            return kind === "2d" ? get.call(this, kind, ...more) : null;
          } as typeof HTMLCanvasElement.prototype.getContext;
        });
        await tab.keyboard.press("v");
        await expect.poll(() => tab.locator(".toast").textContent()).toContain("has no WebGL 2");
        await flat(tab);
        await openMatch(tab, "tables.replay");
        await expect.poll(() => button(tab).count()).toBe(0);
        await tab.keyboard.press("v");
        expect(await tab.evaluate(() => window.interplay.player.makeSolid)).toBe(null);
      },
      { expected: /THREE.WebGLRenderer/ },
    ));

  it("that is slow offers the flat one, and stands still for who wants no motion", () =>
    withTab(
      async (tab) => {
        await openMatch(tab);
        await tab.keyboard.press("v");
        await solid(tab);
        const shares = await tab.evaluate(async () => {
          const { player } = window.interplay;
          const found: number[] = [];
          const { solid, clock } = player;
          const draw = solid!.draw.bind(solid);
          solid!.draw = (shown) => {
            found.push(shown.share);
            draw(shown);
            (player as unknown as { before: number }).before -= 105; // as if it had taken so long
          };
          clock.speed = 30;
          clock.playing = true;
          while (found.length < 23) await new Promise((done) => setTimeout(done, 50));
          clock.playing = false;
          return found;
        });
        expect(shares.every((share) => share === 0)).toBe(true);
        await tab.getByRole("button", { name: "Flat view" }).click();
        await flat(tab);
        await expect.poll(() => tab.locator(".notice").count()).toBe(0);
      },
      { reducedMotion: "reduce" },
    ));
});
