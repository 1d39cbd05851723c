import { expect, it } from "vitest";
import { lifeOf } from "../src/life";

const mark = (tick: number, kind: string, ...slots: number[]) => ({ tick, kind, slots });
const MARKS = [mark(3, "birth", 1), mark(5, "taken", 1), mark(8, "birth", 0, 1), mark(8, "death", 1, 2), mark(9, "given", 1), mark(12, "death", 1), mark(20, "birth", 1)];

it("a life begins with the last birth, and who died in that tick was the one before", () => {
  expect(lifeOf(MARKS, 1, 7)).toEqual({ born: 3, age: 4, events: [mark(5, "taken", 1)] });
  expect(lifeOf(MARKS, 1, 11)).toEqual({ born: 8, age: 3, events: [mark(9, "given", 1)] });
});

it("who died has the age of its death, until the slot is taken again", () => {
  expect(lifeOf(MARKS, 1, 15)).toEqual({ born: 8, age: 4, events: [mark(9, "given", 1), mark(12, "death", 1)] });
  expect(lifeOf(MARKS, 1, 20)).toEqual({ born: 20, age: 0, events: [] });
});

it("a life belongs to one episode, whose last tick has the end's mark", () => {
  const two = [...MARKS, mark(25, "death", 1), mark(25, "end"), mark(40, "death", 1), mark(40, "end")];
  expect(lifeOf(two, 1, 25)).toEqual({ born: 20, age: 5, events: [mark(25, "death", 1)] });
  expect(lifeOf(two, 1, 26)).toEqual({ born: null, age: null, events: [] });
  expect(lifeOf(two, 1, 40)).toEqual({ born: null, age: null, events: [mark(40, "death", 1)] });
});

it("without a birth that is known there is no age", () => {
  expect(lifeOf(MARKS, 2, 10)).toEqual({ born: null, age: null, events: [mark(8, "death", 1, 2)] });
  expect(lifeOf(MARKS, 7, 10)).toEqual({ born: null, age: null, events: [] });
});
