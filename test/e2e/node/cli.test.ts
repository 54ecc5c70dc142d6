/**
 * The command as a process: bundled from the sources into a folder like the package, so that no build is
 * needed. Tests its output, its exit, and that it leaves nothing behind.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from './built-program.js';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

let folder: string;
let program: string;
const running = new Set<Child>();

beforeAll(async () => {
  ({ folder, program } = await buildProgram('orchplane-cli-'));
}, 60_000);

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

describe('the orchplane command', () => {
  test('prints the version and help', async () => {
    expect(await finished(start('--version'))).toEqual({ code: 0, out: '0.1.0\n', err: '' });
    const help = await finished(start('--help'));
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toContain('serve a cluster until Ctrl-C');
  });

  test.each([
    [['serve', '--port', 'x'], '--port takes a number'],
    [['serve', '--feature-gates', 'Nonsense=true'], 'unrecognized feature gate: Nonsense'],
    [['serve', '--runtime-config', 'api/some=true'], 'unknown key "api/some"'],
    [['serve', '--apply', 'nowhere.yaml'], '--apply nowhere.yaml: no such file or directory'],
    [['serve', '--max-heap', '1Mi'], '--max-heap takes a size of at least 64Mi'],
    [['serve', '--max-heap', '900Gi'], '--max-heap 900Gi is more than Node allows this process'],
    [['serve', '--host', '256.0.0.1', '--no-tls'], '256.0.0.1'],
  ])('fails with a one-line error for the arguments %j', async (args, problem) => {
    const { code, out, err } = await finished(start(...args));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^orchplane: [^\n]+\n$/);
    expect(err).toContain(problem);
  });

  test('reports a port that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { code, err } = await finished(start('serve', '--port', String(port)));
    taken.close();
    expect({ code, err }).toEqual({
      code: 2,
      err: `orchplane: port ${port} is in use; --port 0 takes a free one\n`,
    });
  });

  test('serves until a signal arrives and then ends watches cleanly', async () => {
    const child = start('serve', '--no-tls', '--anonymous', '--log', '--apply', '-');
    child.stdin.end('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n');
    const text = await printed(child, /Ctrl-C/);
    expect(text).toMatch(/dialect +kubernetes/);
    expect(text).toMatch(/token +none is required/);
    expect(text).toMatch(/loaded +1 object from -/);
    expect(text).toMatch(/^Nothing runs behind the API \(--controllers\): /m);
    const url = /address +(\S+)/.exec(text)?.[1] ?? '';
    const kubeconfig = /KUBECONFIG='([^']+)'/.exec(text)?.[1] ?? '';
    expect(existsSync(kubeconfig)).toBe(true);
    const found = await fetch(`${url}/api/v1/namespaces/default/configmaps/web`);
    expect(found.status).toBe(200);
    await found.text();
    await printed(child, /GET \/api\/v1\/namespaces\/default\/configmaps\/web 200 \d+B/);
    const watching = await fetch(`${url}/api/v1/configmaps?watch=true`);
    const events = watching.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await events?.read())?.value).toContain('"name":"web"');
    child.kill('SIGINT');
    expect(await events?.read()).toEqual({ done: true, value: undefined });
    expect(await finished(child)).toMatchObject({ code: 0, err: '' });
    expect(existsSync(kubeconfig)).toBe(false);
  });

  test('writes the requested kubeconfig and serves HTTPS', async () => {
    const kubeconfig = join(folder, 'config');
    const child = start('serve', '--token', 'secret', '--kubeconfig', kubeconfig);
    const text = await printed(child, /Ctrl-C/);
    expect(text).toMatch(/address +https:\/\/127\.0\.0\.1:\d+/);
    expect(text).toMatch(/token +secret/);
    child.kill('SIGTERM');
    expect(await finished(child)).toMatchObject({ code: 0 });
    expect(existsSync(kubeconfig)).toBe(true);
  });

  test.each([
    ['ends its command and removes its files when the terminal is closed', '0', ['SIGHUP'], 128 + 15],
    ['ends a command that ignores signals after the second one', '1', ['SIGTERM', 'SIGTERM'], 128 + 15],
  ] as const)('run %s', async (_, ignores, signals, expected) => {
    const child = startNode(
      [],
      'run',
      '--',
      'sh',
      '-c',
      `[ ${ignores} = 1 ] && trap "" TERM; echo $KUBECONFIG end; while :; do sleep 1; done`,
    );
    const [, kubeconfig] = /(\S+) end/.exec(await printed(child, / end/)) ?? [];
    for (const signal of signals) {
      child.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    // Its output ends with the command.
    expect((await finished(child)).code).toBe(expected);
    if (ignores === '0') expect(existsSync(String(kubeconfig))).toBe(false);
  });

  test('refuses writes instead of running out of memory', async () => {
    const child = startNode(['--max-old-space-size=144'], 'serve', '--no-tls', '--anonymous', '--max-heap', '112Mi');
    const address = /address +(\S+)/.exec(await printed(child, /Ctrl-C/))?.[1] ?? '';
    const collection = `${address}/api/v1/namespaces/default/configmaps`;
    const send = async (method: string, url: string, name: string, text = ''): Promise<Response> => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } };
      const headers = { 'content-type': 'application/json' };
      return fetch(url, method === 'DELETE' ? { method } : { method, headers, body: JSON.stringify(object) });
    };
    const megabyte = (count: number): string => `${count}`.padEnd(1_000_000, 'x');
    // 1. Old versions of one object do not fill the memory.
    expect((await send('POST', collection, 'one')).status).toBe(201);
    for (let count = 0; count < 110; count++) {
      const response = await send('PUT', `${collection}/one`, 'one', megabyte(count));
      expect([count, response.status]).toEqual([count, 200]);
      await response.arrayBuffer();
    }
    // 2. New objects do, until they are refused. Everything else continues.
    let status = 201;
    let created = 0;
    for (; status === 201 && created < 400; created++) {
      const response = await send('POST', collection, `of-${created}`, megabyte(created));
      status = response.status;
      if (status !== 201) {
        expect(await response.json()).toMatchObject({
          reason: 'ServiceUnavailable',
          message: expect.stringMatching(/^the memory of the server is exhausted: \d+ of 112 MiB are in use; delete/),
        });
      } else await response.arrayBuffer();
    }
    expect(status).toBe(503);
    expect((await fetch(`${collection}/one`)).status).toBe(200);
    // 3. Deletions make room.
    for (let index = 0; index < created - 1; index++) {
      expect((await send('DELETE', `${collection}/of-${index}`, '')).status).toBe(200);
    }
    await expect
      .poll(async () => (await send('POST', collection, 'new')).status, { timeout: 20_000, interval: 1_000 })
      .toBe(201);
    child.kill('SIGTERM');
    expect(await finished(child)).toMatchObject({
      code: 0,
      err: expect.stringContaining('memory is available; writes are allowed again'),
    });
  }, 120_000);

  describe('standard output that cannot be written', () => {
    /** Runs a line of a shell; `orchplane` is the program. */
    async function shell(line: string): Promise<{ code: number | null; out: string; err: string }> {
      const child = spawn('bash', ['-c', `orchplane() { "$NODE" "$PROGRAM" "$@"; }; set -o pipefail; ${line}`], {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { ...process.env, NODE: process.execPath, PROGRAM: program },
      });
      return finished(observed(child));
    }

    test.skipIf(!existsSync('/dev/full'))('reports a full disk in one sentence and ends with exit code 2', async () => {
      const { code, err } = await shell('orchplane --help > /dev/full');
      expect({ code, err }).toEqual({
        code: 2,
        err: 'orchplane: standard output cannot be written: ENOSPC: no space left on device, write\n',
      });
    });

    test('reports a file that is too large in one sentence and ends with exit code 2', async () => {
      const { code, err } = await shell(`ulimit -f 1; orchplane completion bash > ${join(folder, 'part')}`);
      expect({ code, err }).toEqual({
        code: 2,
        err: 'orchplane: standard output cannot be written: EFBIG: file too large, write\n',
      });
    });

    test('ends a command quietly when its reader exits', async () => {
      expect(await shell('(sleep 0.5; orchplane completion bash) | true')).toEqual({ code: 141, out: '', err: '' });
    });

    test('ends a watch when its reader exits, but not a server', async () => {
      const kubeconfig = join(folder, 'unread.kubeconfig');
      const server = start('serve', '--no-tls', '--anonymous', '--log', '--kubeconfig', kubeconfig);
      const address = /address +(\S+)/.exec(await printed(server, /Ctrl-C/))?.[1] ?? '';
      server.stdout.destroy();
      const create = (name: string): Promise<Response> =>
        fetch(`${address}/api/v1/namespaces/default/configmaps`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }),
        });
      expect((await create('first')).status).toBe(201);
      const watch = start('get', 'configmaps', '-w', '-o', 'name', '--kubeconfig', kubeconfig);
      await printed(watch, /first/);
      watch.stdout.destroy();
      const ended = once(watch, 'exit');
      expect((await create('second')).status).toBe(201);
      expect((await ended)[0]).toBe(141);
      expect(outputs.get(watch)?.err).toBe('');
      running.delete(watch);
      const stopped = once(server, 'exit');
      server.kill('SIGTERM');
      expect((await stopped)[0]).toBe(0);
      running.delete(server);
    });
  });

  test('reports every rejected manifest and does not start', async () => {
    const file = join(folder, 'bad.yaml');
    writeFileSync(
      file,
      ['A', 'B'].map((name) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`).join('---\n'),
    );
    const { code, err, out } = await finished(start('serve', '--apply', file));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.trim().split('\n')).toEqual([
      expect.stringContaining(`${file}:1 (document 1): ConfigMap default/A: `),
      expect.stringContaining(`${file}:5 (document 2): ConfigMap default/B: `),
    ]);
  });
});

function start(...args: string[]): Child {
  return startNode([], ...args);
}

function startNode(nodeArgs: readonly string[], ...args: string[]): Child {
  return observed(spawn(process.execPath, [...nodeArgs, program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] }));
}

/** Keeps the output of a process. */
function observed(child: Child): Child {
  running.add(child);
  const seen = { out: '', err: '' };
  outputs.set(child, seen);
  child.stdout.on('data', (chunk) => {
    seen.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    seen.err += chunk;
  });
  return child;
}

const outputs = new WeakMap<Child, { out: string; err: string }>();

async function finished(child: Child): Promise<{ code: number | null; out: string; err: string }> {
  if (child.exitCode === null || !child.stdout.closed) await once(child, 'close');
  running.delete(child);
  return { code: child.exitCode, ...(outputs.get(child) ?? { out: '', err: '' }) };
}

/** Resolves with the output as soon as it matches. */
async function printed(child: Child, pattern: RegExp): Promise<string> {
  const text = (): string => outputs.get(child)?.out ?? '';
  const closed = once(child, 'close');
  while (!pattern.test(text())) {
    const [code] = await Promise.race([once(child.stdout, 'data'), closed]);
    if (child.exitCode !== null) throw new Error(`ended with ${code}: ${JSON.stringify(outputs.get(child))}`);
  }
  return text();
}
