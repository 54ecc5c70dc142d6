/** Runs in the worker before each test file: tells the worker's process id, and records which blocks a test file runs. */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, beforeAll, expect, inject } from 'vitest';

const { folder, blocks } = inject('mutants');
writeFileSync(`${folder}/worker.pid`, String(process.pid));

if (blocks > 0) {
  globalThis.__blocks ??= new Uint8Array(blocks);
  const take = () => {
    const ids = [...globalThis.__blocks.keys()].filter((id) => globalThis.__blocks[id] === 1);
    globalThis.__blocks.fill(0);
    return ids;
  };
  take();
  let loading = [];
  beforeAll(() => {
    loading = take();
  });
  afterAll(() => {
    const { testPath } = expect.getState();
    const name = Buffer.from(testPath).toString('base64url').slice(-120);
    writeFileSync(`${folder}/blocks-${name}.json`, JSON.stringify({ testPath, loading, running: take() }));
  });
}
