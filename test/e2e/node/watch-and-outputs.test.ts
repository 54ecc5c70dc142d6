/** Commands as processes: how watches end, what a signal leaves behind, and modules of TypeScript that the program loads. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../package/manifest.js';
import { buildProgram } from './built-program.js';

let folder: string;
let program: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  ({ folder, program } = await buildProgram('orchplane-commands-'));
}, 60_000);

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Started {
  readonly child: ChildProcess;
  readonly text: { out: string; err: string };
  /** Resolves when standard output matches. */
  readonly printed: (pattern: RegExp) => Promise<void>;
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Runs a line of a shell; `orchplane` is the program. The process is the program itself. */
function shell(line: string): Started {
  const script = line.replace(/^orchplane/, 'exec "$NODE" "$PROGRAM"');
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...process.env, NODE: process.execPath, PROGRAM: program },
  });
  running.add(child);
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.err += chunk;
  });
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const printed = async (pattern: RegExp) => {
    while (!pattern.test(text.out)) {
      if (child.exitCode !== null) throw new Error(`ended: ${text.err}`);
      await Promise.race([once(child.stdout, 'data'), ended]);
    }
  };
  return { child, text, printed, ended };
}

/** A server and a watch of it that has printed a line. */
async function watched(args = '', redirect = '') {
  const server = shell('orchplane serve --no-tls --anonymous --kubeconfig watched.kubeconfig');
  await server.printed(/Ctrl-C/);
  const address = /address +(\S+)/.exec(server.text.out)?.[1] ?? '';
  const watch = shell(`orchplane get namespaces -w --kubeconfig watched.kubeconfig ${args} ${redirect}`);
  if (redirect === '') await watch.printed(/default/);
  return { server, watch, address };
}

describe('a watch', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'ends with one sentence when its server ends by %s',
    async (signal) => {
      const { server, watch, address } = await watched('-o name');
      server.child.kill(signal);
      expect(await watch.ended).toBe(2);
      expect(watch.text.err).toMatch(/^orchplane: the watch of [^\n]+ ended: the connection is broken: [^\n]+\n$/);
      expect(watch.text.err).toContain(address);
    },
    20_000,
  );

  test('ends with exit code 0 by Ctrl-C', async () => {
    const { watch } = await watched('-o name');
    watch.child.kill('SIGINT');
    expect(await watch.ended).toBe(0);
    expect(watch.text.err).toBe('');
  });

  test.skipIf(!existsSync('/dev/full'))('is one sentence and exit code 2 on a full disk', async () => {
    const { watch } = await watched('', '> /dev/full');
    expect(await watch.ended).toBe(2);
    expect(watch.text.err).toBe(
      'orchplane: standard output cannot be written: ENOSPC: no space left on device, write\n',
    );
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)('import leaves no file behind when it is ended by %s', async (signal) => {
  // It does not answer requests for lists.
  const server = createServer((request, response) => {
    const lists = { apiVersion: 'v1', kind: 'APIResourceList', groupVersion: 'v1', resources: [RESOURCE] };
    if (request.url === '/api/v1') response.setHeader('content-type', 'application/json').end(JSON.stringify(lists));
    else if (request.url === '/api') response.end(JSON.stringify({ kind: 'APIVersions', versions: ['v1'] }));
    else if (request.url === '/apis') response.end(JSON.stringify({ kind: 'APIGroupList', groups: [] }));
    else listed();
  });
  let listed: () => void = () => undefined;
  const isListed = new Promise<void>((resolve) => {
    listed = resolve;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  mkdirSync(join(folder, signal));
  writeFileSync(
    join(folder, signal, 'kubeconfig'),
    `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}], clusters: [{name: a, cluster: {server: "http://127.0.0.1:${port}"}}]}\n\n`,
  );
  const command = shell(`orchplane import -o ${signal}/import.yaml --kubeconfig ${signal}/kubeconfig`);
  await Promise.race([isListed, command.ended.then(() => Promise.reject(new Error(command.text.err)))]);
  expect(readdirSync(join(folder, signal))).toHaveLength(2);
  command.child.kill(signal);
  expect(await command.ended).toBe(signal);
  expect(readdirSync(join(folder, signal))).toEqual(['kubeconfig']);
  server.closeAllConnections();
  server.close();
});

const RESOURCE = {
  name: 'configmaps',
  singularName: '',
  namespaced: true,
  kind: 'ConfigMap',
  verbs: ['list', 'create'],
};

test('generate types --check needs only the program tsc of the package typescript', async () => {
  const project = join(folder, 'project');
  const [packages, typescript] = [join(project, 'node_modules'), join(project, 'node_modules/typescript')];
  mkdirSync(typescript, { recursive: true });
  // As release 7, which has no API in its main module.
  const manifest = { name: 'typescript', main: 'main.cjs', bin: { tsc: './tsc.js' } };
  writeFileSync(join(typescript, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(project, 'package.json'), '{ "name": "project" }');
  writeFileSync(join(typescript, 'main.cjs'), "exports.version = '7.0.2';\n");
  symlinkSync(join(root, 'node_modules/typescript/bin/tsc'), join(typescript, 'tsc.js'));
  mkdirSync(join(packages, 'orchplane'));
  writeFileSync(
    join(packages, 'orchplane/package.json'),
    '{ "name": "orchplane", "type": "module", "exports": "./index.js" }',
  );
  writeFileSync(join(packages, 'orchplane/index.js'), 'export const defineKind = (kind) => kind;\n');
  writeFileSync(
    join(project, 'kinds.ts'),
    "import { defineKind, type Missing } from 'orchplane';\nexport type A = Missing;\nexport const kind = defineKind({ representation: 'document', kind: 'A' } as const);\n",
  );
  const script = join(folder, 'load.mjs');
  const { build } = await import('esbuild');
  await build({
    entryPoints: [join(root, 'src/node/load-kinds.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  const load = shell(
    `"$NODE" -e "import('./load.mjs').then((m) => m.loadKinds('project/kinds.ts')).then(console.log)"`,
  );
  expect(await load.ended, load.text.err).toBe(0);
  expect(load.text.out).toContain("kind: 'A'");
  expect(readdirSync(project).sort()).toEqual(['kinds.ts', 'node_modules', 'package.json']);
  expect(readFileSync(join(project, 'kinds.ts'), 'utf8')).toContain('as const');
});
