/** The state of the page in the fragment of its address. */

interface Address {
  run: number | null;
  match: number | null;
  live: string | null; // see readLive
  at: number | null;
  agent: number | null;
  tab: string | null;
  overlay: string | null;
  population: number | null; // of the overlay
  with: string | null; // its options, see writeOptions
  view: string | null; // solid
}

const NOWHERE: Address = { run: null, match: null, live: null, at: null, agent: null, tab: null, overlay: null, population: null, with: null, view: null };

interface LiveSource {
  kind: "run" | "world" | "recording";
  id: number;
  players: number[]; // of a run
  at: number | null; // the tick from which a recording goes on
}

/** The source of a world in play: "run:0" or "world:0"; "run:0@3" for a player of a run, "run:0@3,1" for a match; "recording:0@120". */
export function readLive(source: string): LiveSource | null {
  const found = /^(run|world):(\d{1,6})(?:@(\d{1,6})(?:,(\d{1,6}))?)?$/.exec(source);
  const recorded = /^recording:(\d{1,6})@(\d{1,9})$/.exec(source);
  if (recorded) return { kind: "recording", id: Number(recorded[1]), players: [], at: Number(recorded[2]) };
  if (!found || (found[1] === "world" && found[3])) return null;
  return { kind: found[1] as "run" | "world", id: Number(found[2]), players: found.slice(3).filter(Boolean).map(Number), at: null };
}

const OPTIONS = /^[\w.-]{1,40}:[\w.-]{1,40}(,[\w.-]{1,40}:[\w.-]{1,40}){0,9}$/;

/** Options of an overlay as "style:mage,scale:log"; null: there are none, or they cannot be written so. */
export function writeOptions(options: Record<string, string>): string | null {
  const found = Object.entries(options).map((pair) => pair.join(":")).join(",");
  return OPTIONS.test(found) ? found : null;
}

export function readOptions(found: string | null): Record<string, string> {
  return Object.fromEntries((found ?? "").split(",").filter(Boolean).map((pair) => pair.split(":") as [string, string]));
}

export function readAddress(hash: string): Address {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const whole = (key: string) => (/^\d{1,10}$/.test(found.get(key) ?? "") ? Number(found.get(key)) : null);
  const live = found.get("live");
  return {
    ...NOWHERE,
    run: whole("run"),
    match: whole("match"),
    live: live && readLive(live) ? live : null,
    at: whole("at"),
    agent: whole("agent"),
    tab: /^[a-z]{1,20}$/.test(found.get("tab") ?? "") ? found.get("tab") : null,
    overlay: /^[\w-]{1,100}$/.test(found.get("overlay") ?? "") ? found.get("overlay") : null,
    population: whole("population"),
    with: OPTIONS.test(found.get("with") ?? "") ? found.get("with") : null,
    view: found.get("view") === "solid" ? "solid" : null,
  };
}

export function writeAddress(address: Address): string {
  const found = Object.entries(address).filter(([, value]) => value !== null);
  return found.length ? "#" + found.map(([key, value]) => `${key}=${value}`).join("&") : "";
}
