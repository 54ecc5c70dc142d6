/**
 * Thirty seconds of the soak test; `npm run soak` runs it longer.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSoak } from '../soak/soak.js';
import { buildProgram } from './node/built-program.js';

let folder: string;
let program: string;

beforeAll(async () => {
  ({ folder, program } = await buildProgram('orchplane-soak-'));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

test('violates no promise in thirty seconds with restarts', async () => {
  const log: string[] = [];
  const { counts, violations, memory } = await runSoak({
    program,
    seconds: 30,
    seed: 1,
    heapMegabytes: 512,
    log: (line) => log.push(line),
  });
  expect(violations, log.join('\n')).toEqual([]);
  expect(counts).toMatchObject({ 'restarts after SIGKILL': 1, 'restarts after SIGTERM': 1 });
  expect(memory.end?.heap).toBeLessThan(400);
  // Every driver has worked.
  const checks = Object.keys(counts).filter((what) => what.startsWith('checks: '));
  expect(checks.map((what) => what.slice('checks: '.length))).toEqual(
    expect.arrayContaining([
      ...['acknowledged writes', 'counters', 'watches', 'pages', 'quota', 'policy', 'CRDs', 'apply', 'large objects'],
      ...['counters in process', 'informers', 'forks', 'snapshots', 'past states'],
    ]),
  );
  expect(counts['acknowledged increments']).toBeGreaterThan(0);
}, 300_000);
