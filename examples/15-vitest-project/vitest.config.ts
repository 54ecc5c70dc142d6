import { defineConfig } from 'vitest/config';

// Nothing here waits for time to pass; a busy machine may be slow all the same.
export default defineConfig({ test: { include: ['test/**/*.test.ts'], testTimeout: 20_000 } });
