/** The scripts that start a cluster in CI: of the GitHub action, and of the container file. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { Namespace } from '../../../src/kinds/index.js';
import { kubeconfigTransport } from '../../../src/node/index.js';
import { eventually } from '../../../src/testing/index.js';
import { requireBuild, root } from '../../package/manifest.js';

const run = promisify(execFile);
const cli = `${process.execPath} ${join(root, 'dist/node/cli.js')}`;
let folder: string;

beforeAll(() => {
  requireBuild();
  folder = mkdtempSync(join(tmpdir(), 'orchplane-start-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function namesIn(kubeconfig: string): Promise<string[]> {
  const transport = kubeconfigTransport(kubeconfig);
  const { items } = await createClient({ transport }).api(Namespace).list();
  return items.map(({ metadata }) => metadata.name);
}

function actionEnvironment(options: string): NodeJS.ProcessEnv {
  for (const name of ['env', 'output']) writeFileSync(join(folder, name), '');
  return {
    ...process.env,
    ORCHPLANE: cli,
    OPTIONS: options,
    RUNNER_TEMP: folder,
    GITHUB_ENV: join(folder, 'env'),
    GITHUB_OUTPUT: join(folder, 'output'),
  };
}

const ACTION = join(root, '.github/actions/cluster/start.sh');

test('the action starts a cluster and names its kubeconfig', { timeout: 60_000 }, async () => {
  const manifest = join(folder, 'team.yaml');
  const pid = join(folder, 'pid');
  writeFileSync(manifest, 'apiVersion: v1\nkind: Namespace\nmetadata: { name: team }\n');
  // The server outlives the step, so the test needs its number.
  const env = { ...actionEnvironment(`--apply ${manifest}`), ORCHPLANE: join(folder, 'program') };
  writeFileSync(join(folder, 'program'), `#!/bin/sh\necho $$ > ${pid}\nexec ${cli} "$@"\n`, { mode: 0o755 });
  await run('bash', [ACTION], { env });
  try {
    const [, kubeconfig = ''] = /^KUBECONFIG=(.+)$/m.exec(readFileSync(join(folder, 'env'), 'utf8')) ?? [];
    expect(readFileSync(join(folder, 'output'), 'utf8')).toBe(`kubeconfig=${kubeconfig}\n`);
    expect(await namesIn(kubeconfig)).toContain('team');
  } finally {
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGTERM');
  }
});

test('the action shows why a cluster does not start', { timeout: 60_000 }, async () => {
  const failed = run('bash', [ACTION], { env: actionEnvironment('--port none') });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--port takes a number from 0 to 65535, got "none"'),
  });
});

test('the script of the container serves a cluster', { timeout: 60_000 }, async () => {
  const bin = join(folder, 'orchplane');
  // Another test may use the port of the container.
  writeFileSync(bin, `#!/bin/sh\nexec ${cli} "$@" --port 0\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, HOST: '127.0.0.1', KUBE: folder };
  const server = spawn('/bin/sh', [join(root, 'examples/24-container/start.sh'), '--controllers', 'ready'], { env });
  try {
    const names = await eventually(() => namesIn(join(folder, 'config')), { timeoutMs: 40_000 });
    expect(names).toContain('default');
  } finally {
    server.kill('SIGTERM');
  }
});
