/** Replays the recordings of a real API server on clusters in etcd. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { RECORDINGS } from '../../conformance/recordings.mjs';
import { hasEtcd, startEtcd } from './etcd-server.js';

/**
 * A write and the quotas or disruption budgets that it changes are one transaction with one revision: six responses of the
 * area `kinds` have an earlier resourceVersion.
 */
const DIFFERENCES = { kinds: 6 };
/** The area `lifecycle` has a cluster with a fake clock, in memory. */
const AREAS = readdirSync(RECORDINGS)
  .map((file) => basename(file, '.json.gz'))
  .filter((area) => area !== 'lifecycle');

// `.ci/run` installs etcd; without it this test is skipped.
test.skipIf(!hasEtcd)(
  'answers as the recorded server, with the objects in etcd',
  async () => {
    await using etcd = await startEtcd();
    const program = fileURLToPath(new URL('../../conformance/replay.mjs', import.meta.url));
    const environment = { ...process.env, ETCD: etcd.endpoint };
    const { stdout } = await promisify(execFile)(process.execPath, [program, '--show', '20', '--areas', AREAS.join()], {
      env: environment,
    });
    const figures = [...stdout.matchAll(/^(\w+) +(\d+)\/(\d+) responses identical/gm)];
    const differing = figures.map(([, area, identical, steps]) => [area, Number(steps) - Number(identical)] as const);
    expect(figures.length).toBeGreaterThan(10);
    const found = Object.fromEntries(differing.filter(([area, count]) => area !== 'all' && count > 0));
    expect(found, stdout).toEqual(DIFFERENCES);
  },
  200_000,
);
