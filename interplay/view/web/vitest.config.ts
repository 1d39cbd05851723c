import { defineConfig } from "vitest/config";

// One process: the machine is shared, and the browser has work of its own.
export default defineConfig({ test: { include: ["tests/**/*.test.ts"], fileParallelism: false, testTimeout: 20_000, hookTimeout: 40_000 } });
