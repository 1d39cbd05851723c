/** Where one is, kept behind the # of the address, so that it can be sent to somebody and found again. */

export interface Address {
  run: number | null;
  match: number | null;
  live: string | null; // "run:0" or "world:0"; of its players "run:0@3", or two who meet "run:0@3,1"
  at: number | null;
  agent: number | null;
  tab: string | null;
  overlay: string | null;
}

const NOWHERE: Address = { run: null, match: null, live: null, at: null, agent: null, tab: null, overlay: null };

export function readAddress(hash: string): Address {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const whole = (key: string) => (/^\d{1,10}$/.test(said.get(key) ?? "") ? Number(said.get(key)) : null);
  const live = said.get("live");
  return {
    ...NOWHERE,
    run: whole("run"),
    match: whole("match"),
    live: live && /^(world:\d{1,6}|run:\d{1,6}(@\d{1,6}(,\d{1,6})?)?)$/.test(live) ? live : null,
    at: whole("at"),
    agent: whole("agent"),
    tab: /^[a-z]{1,20}$/.test(said.get("tab") ?? "") ? said.get("tab") : null,
    overlay: /^[\w-]{1,100}$/.test(said.get("overlay") ?? "") ? said.get("overlay") : null,
  };
}

export function writeAddress(address: Address): string {
  const said = Object.entries(address).filter(([, value]) => value !== null);
  return said.length ? "#" + said.map(([key, value]) => `${key}=${value}`).join("&") : "";
}
