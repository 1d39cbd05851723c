import { describe, expect, it } from "vitest";
import { Clock, SPEEDS } from "../src/clock";

function playing(first: number, last: number, speed: number): Clock {
  const clock = new Clock(first, last);
  clock.speed = speed;
  clock.toggle();
  return clock;
}

describe("the clock", () => {
  it("goes as fast as it says, whatever the pictures do", () => {
    const clock = playing(0, 1000, 20);
    for (const past of [16, 17, 250, 3, 14]) clock.advance(past);
    expect(clock.tick).toBe(6);
    expect(clock.share).toBeCloseTo(0, 6);
    clock.advance(25);
    expect(clock.tick).toBe(6);
    expect(clock.share).toBeCloseTo(0.5, 6);
  });

  it("waits for what is not loaded and does not lose its place", () => {
    const clock = playing(0, 1000, 100);
    clock.advance(1000, 40.999);
    expect(clock.tick).toBe(40);
    expect(clock.playing).toBe(true);
    clock.advance(10);
    expect(clock.tick).toBe(41);
  });

  it("stops at the end and begins anew from there", () => {
    const clock = playing(5, 10, 100);
    clock.advance(10_000);
    expect([clock.tick, clock.playing, clock.atEnd]).toEqual([10, false, true]);
    clock.toggle();
    expect([clock.tick, clock.playing]).toEqual([5, true]);
  });

  it("stays where it is while paused, and steps pause it", () => {
    const clock = playing(0, 100, 10);
    clock.step(1);
    clock.advance(5000);
    expect([clock.tick, clock.playing]).toEqual([1, false]);
    clock.step(-5);
    expect(clock.tick).toBe(0);
    clock.step(1000);
    expect(clock.tick).toBe(100);
  });

  it("seeks to whole ticks within its range", () => {
    const clock = new Clock(3, 9);
    clock.seek(6.6);
    expect([clock.tick, clock.share]).toEqual([7, 0]);
    clock.seek(-50);
    expect(clock.tick).toBe(3);
    clock.seek(1e9);
    clock.range(3, 5);
    expect(clock.tick).toBe(5);
  });

  it("has speeds up to both ends", () => {
    const clock = new Clock(0, 1);
    for (let i = 0; i < 30; i++) clock.faster(1);
    expect(clock.speed).toBe(SPEEDS[SPEEDS.length - 1]);
    clock.speed = 7;
    clock.faster(-1);
    expect(clock.speed).toBe(5);
    for (let i = 0; i < 30; i++) clock.faster(-1);
    expect(clock.speed).toBe(SPEEDS[0]);
  });

  it("does not play where there is one tick", () => {
    expect(playing(0, 0, 10).playing).toBe(false);
  });
});
