/** A short run of the linearizability test; `npm run linearizability` runs it longer. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runLinearizability } from '../../linearizability/linearizability.js';
import { buildProgram } from '../node/built-program.js';
import { hasEtcd } from './etcd-server.js';

// `.ci/run` installs etcd; without it this test is skipped.
test.skipIf(!hasEtcd)(
  'servers that share etcd are linearizable while processes are killed and stopped',
  async () => {
    const { folder, program } = await buildProgram('orchplane-linearizability-');
    try {
      const log: string[] = [];
      const result = await runLinearizability({ program, seconds: 8, seed: 1, log: (line) => log.push(line) });
      expect(result.violations, log.join('\n')).toEqual([]);
      expect(result.operations).toBeGreaterThan(100);
      expect(result.counts['replace: status 200']).toBeGreaterThan(0);
      expect(result.counts['checks: watches']).toBeGreaterThan(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  200_000,
);
