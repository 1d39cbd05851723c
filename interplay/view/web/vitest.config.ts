import { defineConfig } from "vitest/config";

// One process: the machine is shared, and the browser has work of its own; what is waited for has time on a busy one.
export default defineConfig({ test: { include: ["tests/**/*.test.ts"], fileParallelism: false, testTimeout: 40_000, hookTimeout: 60_000, expect: { poll: { timeout: 6000 } } } });
