/** What Python wrote for these tests: `make test-page` says where. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.PAGE_FIXTURES;

export function pathOf(name: string): string {
  if (!folder) throw new Error("PAGE_FIXTURES is not set; run `make test-page`");
  return join(folder, name);
}

export function bytes(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(pathOf(name)));
}

export function json<Value>(name: string): Value {
  return JSON.parse(readFileSync(pathOf(name), "utf8")) as Value;
}
