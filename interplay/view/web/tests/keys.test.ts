import { describe, expect, it } from "vitest";
import { readAddress, readLive, readOptions, writeAddress, writeOptions } from "../src/address";
import { HeldKeys, KEYS_OF, Pressed, commandOf } from "../src/keys";
import { T } from "../src/strings";
import { short, shown } from "../src/words";

function key(name: string, held: Partial<Pressed> = {}): Pressed {
  return { key: name, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, ...held };
}

describe("keys", () => {
  it("do what the list says", () => {
    const written: Record<string, Pressed> = { Space: key(" "), "←": key("ArrowLeft"), "→": key("ArrowRight"), "Shift ←": key("ArrowLeft", { shiftKey: true }), "Shift →": key("ArrowRight", { shiftKey: true }), Esc: key("Escape"), "?": key("?", { shiftKey: true }) };
    for (const [command, name] of KEYS_OF) expect([name, commandOf(written[name] ?? key(name))]).toEqual([name, command]);
    expect(KEYS_OF.map(([command]) => command).sort()).toEqual(Object.keys(T.commands).sort());
  });

  it("leave the browser's own alone", () => {
    expect(commandOf(key("s", { ctrlKey: true }))).toBeNull();
    expect(commandOf(key("f", { metaKey: true }))).toBeNull();
    expect(commandOf(key("ArrowLeft", { altKey: true }))).toBeNull();
    expect(commandOf(key("Tab"))).toBeNull();
  });

  it("need Alt while somebody plays", () => {
    expect(commandOf(key(" "), true)).toBeNull();
    expect(commandOf(key(" ", { altKey: true }), true)).toBe("play");
  });

  it("are known by their place where Alt writes another letter", () => {
    expect(commandOf(key("†", { altKey: true, code: "KeyT" }), true)).toBe("take");
    expect(commandOf(key("“", { altKey: true, code: "BracketLeft" }), true)).toBe("previousAgent");
    expect(commandOf(key("†", { code: "KeyT" }))).toBeNull();
  });
});

describe("keys that are down", () => {
  const controls = { ArrowUp: [{ head: 0, choice: 4 }], ArrowLeft: [{ head: 0, choice: 1 }], " ": [{ head: 1, choice: 1 }] };
  it("are sent together, the later one of a head", () => {
    const held = new HeldKeys();
    held.press("ArrowUp");
    held.press(" ");
    held.press("ArrowLeft");
    held.press("x");
    expect(held.action(controls, ["move", "attack"])).toEqual({ move: 1, attack: 1 });
    held.release("ArrowLeft");
    expect(held.action(controls, ["move", "attack"])).toEqual({ move: 4, attack: 1 });
    held.clear();
    expect(held.action(controls, ["move", "attack"])).toEqual({});
  });
});

it("letters count alike with Shift, and end whichever way they went down", () => {
  const held = new HeldKeys();
  held.press("W");
  expect(held.action({ w: [{ head: 0, choice: 2 }] }, ["move"])).toEqual({ move: 2 });
  held.release("w");
  expect(held.action({ w: [{ head: 0, choice: 2 }] }, ["move"])).toEqual({});
});

describe("the address", () => {
  const nowhere = { run: null, match: null, live: null, at: null, agent: null, tab: null, overlay: null, population: null, with: null, view: null };
  it("comes back", () => {
    const address = { ...nowhere, match: 3, at: 1234, agent: 17, tab: "table", overlay: "combat", population: 0, with: writeOptions({ style: "mage", scale: "log" }), view: "solid" };
    expect(readAddress(writeAddress(address))).toEqual(address);
    expect(readAddress(writeAddress({ ...nowhere, live: "run:0" }))).toEqual({ ...nowhere, live: "run:0" });
    expect(readOptions(address.with)).toEqual({ style: "mage", scale: "log" });
    expect([readOptions(null), writeOptions({}), writeOptions({ style: "a&b" })]).toEqual([{}, null, null]);
    expect(writeAddress(nowhere)).toBe("");
  });
  it("says nothing else", () => {
    expect(readAddress("#match=-1&at=1e9&live=javascript:1&tab=<b>&agent=%00&overlay=a b&population=-1&with=style:&view=flat")).toEqual(nowhere);
  });
  it("tells what is in play, and by whom", () => {
    expect(["world:7", "run:0", "run:0@3", "run:0@3,1"].map(readLive)).toEqual([["world", 7, []], ["run", 0, []], ["run", 0, [3]], ["run", 0, [3, 1]]].map(([kind, id, players]) => ({ kind, id, players, at: null })));
    expect(readLive("recording:2@120")).toEqual({ kind: "recording", id: 2, players: [], at: 120 });
    expect(["world:0@1", "run:0@", "run:0@1,", "run:0@1,2,3", "run:1234567", " run:0", "recording:0", "recording:0@1,2"].map((live) => readAddress(`#live=${live}`).live)).toEqual(Array(8).fill(null));
  });
});

it("cells and numbers read as in pictures", () => {
  expect([true, false, null, 7, "x", 0.123456, 1234567, NaN].map((cell) => shown(cell))).toEqual(["yes", "no", "-", "7", "x", "0.1235", "1,234,567", "nan"]);
  expect([0.5, 1.1, -0.0001234, 12345.678, undefined, 4.441e-16].map(short)).toEqual(["0.5", "1.1", "-0.0001234", "12350", "-", "0"]);
});
