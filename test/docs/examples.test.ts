/**
 * Every example runs to its end by itself, as a user would start it: with plain node, on the built package. Examples
 * assert what they show, so the exit code says whether they are right.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { requireBuild, root } from '../package/manifest.js';

/** A line that the reader of each example should see. */
const EXPECTED: Readonly<Record<string, string>> = {
  '01-first-cluster.mjs': '404 NotFound: namespaces "nowhere" not found',
  '02-watch-and-informer.mjs': 'told: ADDED web',
  '03-own-kind.mjs': 'warnings unknown field "spec.color"',
  '04-testing-a-controller.mjs': 'ok  a write that loses a race is made again',
  '05-http.mjs': 'the server is closed',
  '06-paging-and-history.mjs': 'version 9: c d, 1 to come',
  '07-pods-and-budgets.mjs': 'web-2 stays: The disruption budget web needs 2 healthy pods and has 3 currently',
  '08-applying.mjs': 'Apply failed with 1 conflict: conflict with "autoscaler": .spec.replicas',
  '09-serve.mjs': 'MODIFIED web: 3 replicas',
  '10-definitions.mjs': 'refused: spec.size: Invalid value: "object": a cache has less than 64Gi',
  '11-access.mjs': 'it lacks: list pods in namespace "default"',
  '12-admission.mjs': 'the plugin: pods "web" is forbidden: it is to be kept',
  '13-own-controller.mjs': 'shop has 3 replicas behind 3 addresses',
  '14-rollout.mjs': 'stuck: ProgressDeadlineExceeded; CrashLoopBackOff after 5 restarts',
};

const folder = join(root, 'examples');
const run = promisify(execFile);

beforeAll(requireBuild);

describe('the examples', () => {
  test('are all known here', () => {
    expect(Object.keys(EXPECTED)).toEqual(readdirSync(folder).sort());
  });

  for (const [file, line] of Object.entries(EXPECTED)) {
    test(`${file} ends by itself and shows what it should`, { timeout: 30_000 }, async () => {
      // A failing example rejects, with what it printed.
      const { stdout, stderr } = await run(process.execPath, [join(folder, file)], { timeout: 20_000 });
      expect(stdout).toContain(line);
      expect(stderr).toBe('');
    });
  }
});
