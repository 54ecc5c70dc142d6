/**
 * Every example runs to its end with plain node on the built package. Examples assert their results, so the exit code
 * shows whether they are correct.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { requireBuild, root } from '../package/manifest.js';

/** A line that each example prints. */
const EXPECTED: Readonly<Record<string, string>> = {
  '01-quickstart.mjs': '404 NotFound: namespaces "nowhere" not found',
  '02-apply-and-conflicts.mjs': 'Apply failed with 1 conflict: conflict with "autoscaler": .spec.replicas',
  '03-watch.mjs': '410 Expired: The resourceVersion for the provided watch is too old.',
  '04-informer.mjs': 'told: ADDED cart',
  '05-custom-kind.mjs': 'warnings unknown field "spec.color"',
  '06-crd-from-yaml.mjs': 'refused: spec.size: Invalid value: "object": a cache has less than 64Gi',
  '07-controller-with-settle.mjs': 'shop has 3 replicas behind 3 addresses',
  '08-rbac.mjs': 'it lacks: list pods in namespace "default"',
  '09-admission.mjs': 'the plugin: pods "web" is forbidden: it is to be kept',
  '10-http-with-node.mjs': 'the server is closed',
  '11-hono.mjs': 'DELETE /cluster/api/v1/namespaces/default/configmaps/dark-mode → 403',
  '12-official-client.mjs': '404 deployments.apps "nothing" not found',
  '13-worker/main.mjs': 'web has 3 ready replicas',
  '16-express.mjs': 'ADDED theme: {"colour":"green"}',
  '17-serve.mjs': 'MODIFIED web: 3 replicas',
  '18-paging-and-history.mjs': 'version 9: c d, 1 to come',
  '19-pods-and-budgets.mjs': 'web-2 stays: The disruption budget web needs 2 healthy pods and has 3 currently',
  '20-rollout.mjs': 'stuck: ProgressDeadlineExceeded; CrashLoopBackOff after 6 restarts',
  '21-testing-a-controller.mjs': 'ok  a write that loses a race is made again',
  '22-shop/main.mjs': 'admission webhook "policy.shop.example.com" denied the request: container ads requests no CPU',
  '23-tenants/main.mjs': 'after a restart red has its object; 1 of 3 tenants are open',
};

/** Examples that do not end by themselves or need more than node, and the tests that run them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  '14-service-worker': 'test/browser/example.test.ts',
  '15-vitest-project': 'test/docs/vitest-project.test.ts',
  '24-container': 'test/e2e/node/start-scripts.test.ts',
};

/** Folders that are not numbered examples. */
const OTHERS: readonly string[] = ['README.md', 'playground'];

const folder = join(root, 'examples');
const present = readdirSync(folder).filter((name) => !OTHERS.includes(name));
const run = promisify(execFile);

beforeAll(requireBuild);

describe('the examples', () => {
  test('tests all examples', () => {
    const known = [...Object.keys(EXPECTED).map((file) => file.replace(/\/.*/, '')), ...Object.keys(ELSEWHERE)];
    expect(known.sort()).toEqual(present.sort());
    expect(Object.values(ELSEWHERE).filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test('numbers the examples without gaps and lists them in order in the index', () => {
    const index = readFileSync(join(folder, 'README.md'), 'utf8');
    const rows = [...index.matchAll(/^\| \[(\d\d-[^\]]+?)\/?\]\(([^)]+)\) +\| \S/gm)];
    expect(rows.map(([, name]) => name)).toEqual(present);
    expect(present.map((name) => Number(name.slice(0, 2)))).toEqual(present.map((_, index) => index + 1));
    expect(rows.filter(([, , link]) => !existsSync(join(folder, link ?? ''))).map(([row]) => row)).toEqual([]);
  });

  for (const [file, line] of Object.entries(EXPECTED)) {
    test(`runs ${file} to its end and prints its expected line`, async () => {
      // A failing example rejects with its output.
      const { stdout, stderr } = await run(process.execPath, [join(folder, file)], { timeout: 50_000 });
      expect(stdout).toContain(line);
      expect(stderr).toBe('');
    });
  }
});
