/** Raw deflate, limited to the declared size. */

import { Refused } from "./schema";

export const MAX_RAW = 64 * 2 ** 20; // bytes of a chunk

/** The raw bytes of a chunk, exactly `size` of them. */
export async function inflate(stored: Uint8Array, size: number): Promise<Uint8Array> {
  if (size > MAX_RAW) throw new Refused(`a chunk claims ${size} bytes; ${MAX_RAW} are read at most`);
  const stream = new Blob([stored as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const raw = new Uint8Array(size);
  let at = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (at + value.length > size) throw new Refused("a chunk is longer than declared");
      raw.set(value, at);
      at += value.length;
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    throw error instanceof Refused ? error : new Refused("a chunk is damaged");
  }
  if (at !== size) throw new Refused("a chunk is shorter than declared");
  return raw;
}

const TABLE = new Uint32Array(256).map((_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32, as of zlib. */
export function crc32(data: Uint8Array, before = 0): number {
  let value = ~before;
  for (let i = 0; i < data.length; i++) value = (value >>> 8) ^ TABLE[(value ^ data[i]!) & 255]!;
  return ~value >>> 0;
}
