import { describe, expect, it } from "vitest";
import { Agent, HeadInfo, rangeOf, restOf } from "../src/api";
import { Hands } from "../src/hands";
import { Controls } from "../src/keys";
import { Live, PageMessage } from "../src/live";

/** A session that keeps what it is told. */
function session(heads: HeadInfo[], controls: Controls | null = null, turnBased = false, details: () => Agent | null = () => null) {
  const sent: PageMessage[] = [];
  const live = { held: 3, heads, controls, turnBased, status: { tick: 9 }, say: (message: PageMessage) => sent.push(message) };
  const hands = new Hands(() => undefined, details);
  return { live: live as unknown as Live, sent, hands };
}

const key = (name: string) => ({ key: name, repeat: false }) as KeyboardEvent;
const move: HeadInfo = { name: "move", kind: "discrete", n: 3, legal: [false, true, true] };
const thrust: HeadInfo = { name: "thrust", kind: "box", low: [-1, 2, null], high: [1, 5, null] };
const act = (action: Record<string, number | number[]>) => ({ type: "act", slot: 3, tick: 9, action });

describe("a form", () => {
  it("says what was chosen and leaves the rest to the server, which knows what the world does without a word", () => {
    const { live, sent, hands } = session([move, thrust]);
    hands.choose("thrust", [0.5, 3, 0]);
    hands.act(live, 3);
    expect(sent).toEqual([act({ thrust: [0.5, 3, 0] })]);
    expect([restOf(thrust as never), rangeOf(thrust as never, 2)]).toEqual([[0, 2, 0], [-1, 1]]);
  });

  it("of one row of choices lets a tick pass with Enter where the world waits, and in turns asks for a choice", () => {
    const { live, sent, hands } = session([move]);
    expect(hands.press(key("Enter"), live, 3)).toBe(false);
    live.status.waits = true;
    expect(hands.press(key("Enter"), live, 3)).toBe(true);
    hands.tick(live);
    expect(sent).toEqual([act({})]);
  });

  it("goes on at every tick until it is told otherwise", () => {
    const { live, sent, hands } = session([move]);
    expect(hands.press(key("2"), live, 3)).toBe(true);
    hands.tick(live);
    expect(sent).toEqual([act({ move: 2 }), act({ move: 2 })]);
    hands.setRepeat(false);
    hands.tick(live);
    expect(sent.length).toBe(2);
  });

  it("chooses nothing by itself once one is waited for", () => {
    const { live, sent, hands } = session([move]);
    hands.press(key("2"), live, 3);
    live.status.waits = true;
    hands.tick(live);
    live.status.waits = false; // what was chosen before is over
    hands.tick(live);
    expect(sent).toEqual([act({ move: 2 })]);
  });

  it("says nothing for who is gone, and goes on once it is back", () => {
    const details = { slot: 3, present: false, heads: [] as HeadInfo[] } as Agent;
    const { live, sent, hands } = session([move], null, false, () => details);
    hands.press(key("2"), live, 3);
    hands.tick(live);
    expect(sent.length).toBe(1);
    details.present = true;
    hands.tick(live);
    expect(sent.length).toBe(2);
  });

  it("counts once where there are turns, and takes nothing illegal", () => {
    const { live, sent, hands } = session([move], null, true);
    expect(hands.press(key("0"), live, 3)).toBe(false);
    expect(hands.press(key("7"), live, 3)).toBe(false);
    hands.press(key("1"), live, 3);
    hands.tick(live);
    expect(sent).toEqual([act({ move: 1 })]);
  });
});

describe("several heads", () => {
  const word: HeadInfo = { name: "word", kind: "discrete", n: 12 };

  it("are chosen one after another by keys, also beyond the tenth, and sent together", () => {
    const { live, sent, hands } = session([move, word], null, true);
    expect(hands.press(key("2"), live, 3)).toBe(true);
    expect(hands.place).toBe(1);
    expect([hands.press(key("c"), live, 3), hands.press(key("b"), live, 3)]).toEqual([false, true]);
    expect(sent).toEqual([]);
    expect(hands.press(key("Enter"), live, 3)).toBe(true);
    expect(sent).toEqual([act({ move: 2, word: 11 })]);
  });

  it("without keys of their own stay in the form beside the world's keys", () => {
    const { live, sent, hands } = session([move, word], { keys: { ArrowUp: [{ head: 0, choice: 2 }] } });
    expect(hands.formOf(live, 3)).toEqual([word]);
    hands.press(key("4"), live, 3);
    hands.press(key("ArrowUp"), live, 3);
    hands.tick(live);
    expect(sent).toEqual([act({ word: 4 }), act({ word: 4, move: 2 }), act({ word: 4, move: 2 })]);
  });

  it("that all have keys let a tick pass with Enter", () => {
    const { live, sent, hands } = session([move], { keys: { ArrowUp: [{ head: 0, choice: 2 }] } });
    expect(hands.press(key("Enter"), live, 3)).toBe(true);
    expect(sent).toEqual([act({})]);
  });
});

describe("keys of a world", () => {
  it("are sent while they are down", () => {
    const { live, sent, hands } = session([move], { keys: { ArrowUp: [{ head: 0, choice: 2 }] } });
    expect([hands.press(key("ArrowUp"), live, 3), hands.press(key("x"), live, 3)]).toEqual([true, false]);
    hands.tick(live);
    hands.release("ArrowUp");
    hands.tick(live);
    expect(sent).toEqual([act({ move: 2 }), act({ move: 2 })]);
  });
});
