/** `orchplane run`: a command with a cluster of its own. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from './run.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orchplane-run-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const node = (script: string) => ['--', process.execPath, '-e', script];

test('runs the command with the kubeconfig of a cluster, and removes both', async () => {
  const file = join(folder, 'seen');
  const script = `
    const { KUBECONFIG, OWN } = process.env;
    const { readFileSync, writeFileSync } = require('fs');
    const [, server] = /server"?: "?(https:[^"\\s,]+)/.exec(readFileSync(KUBECONFIG, 'utf8'));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    fetch(server + '/version').then(({ status }) => {
      writeFileSync(${JSON.stringify(file)}, JSON.stringify({ KUBECONFIG, OWN, status }));
      process.exit(7);
    });`;
  const { code, out } = await run(['run', '--no-http-thread', ...node(script)], {
    variables: { ...process.env, OWN: 'x' },
  });
  expect({ code, out }).toEqual({ code: 7, out: '' });
  const { KUBECONFIG, OWN, status } = JSON.parse(readFileSync(file, 'utf8'));
  expect({ OWN, status }).toEqual({ OWN: 'x', status: 200 });
  expect(existsSync(KUBECONFIG)).toBe(false);
});

test('ends with the signal that ended the command', async () => {
  const { code } = await run(['run', '--no-http-thread', ...node('process.kill(process.pid, "SIGKILL")')], {
    variables: process.env,
  });
  expect(code).toBe(128 + 9);
});

test.each([false, true])('passes on the signal to stop (terminal: %s)', async (out) => {
  const stop = new Promise<void>((resolve) => setTimeout(resolve, 1_000));
  const { code } = await run(['run', '--no-http-thread', ...node('setInterval(() => {}, 1000)')], {
    variables: process.env,
    isTerminal: { out, error: out },
    stop,
  });
  expect(code).toBe(128 + 15);
});

test.each([
  ['run', 'run needs a command: orchplane run -- pytest'],
  ['run --no-http-thread -- no-such-program-here', 'there is no command "no-such-program-here"'],
  ['run --port x -- true', '--port takes a number from 0 to 65535, got "x"'],
])('%s: %s', async (args, message) => {
  expect(await run(args, { variables: process.env })).toEqual({ code: 2, out: '', err: `orchplane: ${message}\n` });
});
