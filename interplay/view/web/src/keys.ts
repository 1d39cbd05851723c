/** Keys and commands; while a slot is played, keys go to the world, and those of the page need Alt. */

export interface Pressed {
  key: string;
  shiftKey: boolean;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  code?: string;
}

/** Keys in the order of the list that `?` shows, which names the first one of each command. */
const COMMANDS = {
  " ": "play",
  ArrowLeft: "back",
  ArrowRight: "forward",
  "shift ArrowLeft": "backFar",
  "shift ArrowRight": "forwardFar",
  Home: "start",
  End: "end",
  ",": "previousEvent",
  ".": "nextEvent",
  e: "eventKind",
  "+": "faster",
  "=": "faster",
  "−": "slower",
  "-": "slower",
  g: "goTo",
  l: "live",
  "[": "previousAgent",
  "]": "nextAgent",
  f: "follow",
  z: "fit",
  i: "zoomIn",
  u: "zoomOut",
  a: "moveLeft",
  d: "moveRight",
  w: "moveUp",
  x: "moveDown",
  v: "solid",
  j: "turnLeft",
  k: "turnRight",
  n: "tiltUp",
  m: "tiltDown",
  o: "overlay",
  p: "population",
  t: "take",
  h: "panels",
  s: "picture",
  "?": "help",
  Escape: "close",
} as const;
export type Command = (typeof COMMANDS)[keyof typeof COMMANDS];

const SHOWN: Record<string, string> = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", "shift ArrowLeft": "Shift ←", "shift ArrowRight": "Shift →", Escape: "Esc" };

/** The key of each command, for the list that `?` shows. */
export const KEYS_OF: [Command, string][] = Object.entries(COMMANDS)
  .map(([key, command]): [Command, string] => [command, SHOWN[key] ?? (key.length === 1 ? key.toUpperCase() : key)])
  .filter(([command], place, all) => all.findIndex(([one]) => one === command) === place);

const SIGNS: Record<string, string> = { Comma: ",", Period: ".", BracketLeft: "[", BracketRight: "]", Equal: "+", Minus: "-" };

/** What stands on a key of the usual keyboard; "" for those that write the same with Alt. */
function lettered(code: string): string {
  return /^Key[A-Z]$/.test(code) ? code[3]! : (SIGNS[code] ?? "");
}

/**
 * What a key does to the page.
 *
 * @param pressed the key and what was held with it.
 * @param held whether a slot is played: then Alt is needed.
 */
export function commandOf(pressed: Pressed, held = false): Command | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey !== held) return null;
  // With Alt some keyboards write another letter (a Mac's † for T): then the place of the key counts.
  const letter = (pressed.altKey && lettered(pressed.code ?? "")) || pressed.key;
  const key = letter.length === 1 ? letter.toLowerCase() : letter;
  const far = pressed.shiftKey && key.startsWith("Arrow") ? "shift " : "";
  return (COMMANDS as Record<string, Command>)[far + key] ?? null;
}

/** Keys that are down, for worlds with keys of their own; sent once per tick. */
export class HeldKeys {
  private readonly down: string[] = [];

  press(key: string): void {
    if (!this.down.includes(key)) this.down.push(key);
  }

  release(key: string): void {
    // If Shift is released first, the released letter differs from the pressed one.
    const place = this.down.findIndex((one) => one.toLowerCase() === key.toLowerCase());
    if (place >= 0) this.down.splice(place, 1);
  }

  clear(): void {
    this.down.length = 0;
  }

  /** The choice of each head by the keys that are down; of two for one head the later one counts. */
  action(keys: Controls["keys"], heads: readonly string[]): Record<string, number> {
    const found: Record<string, number> = {};
    for (const key of this.down) {
      for (const { head, choice } of choicesOf(keys, key)) {
        const name = heads[head];
        if (name !== undefined) found[name] = choice;
      }
    }
    return found;
  }
}

export interface Choice {
  head: number;
  choice: number;
}

/** A world's own keys: what each does, by numbers of heads and choices. */
export interface Controls {
  keys: Record<string, Choice[]>;
}

/** What a key means in a world; letters count alike with Shift. */
export function choicesOf(keys: Controls["keys"], key: string): Choice[] {
  return keys[key] ?? keys[key.length === 1 ? key.toLowerCase() : key] ?? [];
}
