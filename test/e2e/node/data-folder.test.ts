/**
 * `orchplane serve --data`: a process that is killed at any time restarts with everything it has acknowledged and with
 * the same credentials.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, StatusError } from '../../../src/index.js';
import { ConfigMap, Namespace, ServiceAccount } from '../../../src/kinds/index.js';
import { kubeconfigTransport } from '../../../src/node/index.js';
import { valueBody } from '../../../src/protocol/body.js';
import { buildProgram } from './built-program.js';

let folder: string;
let program: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  ({ folder, program } = await buildProgram('orchplane-data-'));
}, 60_000);

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function serve(...words: string[]): Promise<{ child: ChildProcess; text: string }> {
  const child = spawn(process.execPath, [program, 'serve', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let text = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const closed = once(child, 'close').then(() => running.delete(child));
  while (!text.includes('Ctrl-C')) {
    await Promise.race([once(child.stdout, 'data'), closed]);
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(errors);
  }
  return { child, text };
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

describe('orchplane serve --data', () => {
  test('loses no acknowledged write when it is killed repeatedly', async () => {
    const data = join(folder, 'killed');
    let { child, text } = await serve('--data', data);
    expect(text).toContain(`data        ${data}`);
    const kubeconfig = readFileSync(join(data, 'kubeconfig'), 'utf8');
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < 4; round++) {
      const client = createClient({ transport: kubeconfigTransport(kubeconfig) });
      const maps = client.api(ConfigMap);
      let stop = false;
      const writers = Array.from({ length: 6 }, async (_, writer) => {
        for (let i = 0; !stop; i++) {
          const name = `r${round}-w${writer}-${i}`;
          try {
            const made = await maps.create({ metadata: { name }, data: { text: 'x'.repeat(i % 2_000) } });
            acknowledged.set(name, made.metadata.resourceVersion);
          } catch (error) {
            if (StatusError.is(error) && error.code < 500) throw error;
            return;
          }
        }
      });
      await new Promise((resolve) => setTimeout(resolve, 150 + round * 130));
      await kill(child);
      stop = true;
      await Promise.all(writers);
      // The same address, certificate and token: existing kubeconfigs keep working.
      ({ child, text } = await serve('--data', data));
      expect(readFileSync(join(data, 'kubeconfig'), 'utf8')).toBe(kubeconfig);
      const after = createClient({ transport: kubeconfigTransport(kubeconfig) });
      const { items } = await after.api(ConfigMap).list();
      const kept = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
      for (const [name, version] of acknowledged) expect(kept.get(name), name).toBe(version);
      // Every object is complete.
      for (const { metadata, data: content } of items) {
        expect(content?.['text']).toBe('x'.repeat(Number(metadata.name.split('-')[2]) % 2_000));
      }
    }
    expect(acknowledged.size).toBeGreaterThan(0);
    await kill(child);
  }, 120_000);

  test('keeps service account tokens valid and its credentials private', async () => {
    const data = join(folder, 'tokens');
    const first = await serve('--data', data, '--token', 'secret');
    for (const name of ['credentials.json', 'kubeconfig']) expect(statSync(join(data, name)).mode & 0o777).toBe(0o600);
    const text = readFileSync(join(data, 'kubeconfig'), 'utf8');
    const transport = kubeconfigTransport(text);
    const admin = createClient({ transport: transport });
    await admin.api(ServiceAccount).create({ metadata: { name: 'bot' } });
    const { object } = (await transport.send({
      verb: 'create',
      resource: { group: '', version: 'v1', resource: 'serviceaccounts' },
      subresource: 'token',
      namespace: 'default',
      name: 'bot',
      options: {},
      body: valueBody({ kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }),
    })) as unknown as { object: { status: { token: string } } };
    const { status } = object;
    const closed = once(first.child, 'close');
    first.child.kill('SIGTERM');
    await closed;
    const second = await serve('--data', data);
    expect(second.text).toMatch(/token +secret/);
    const bot = createClient({ transport: kubeconfigTransport(text, { token: status.token }) });
    const refused = await bot
      .api(Namespace)
      .list()
      .catch((error: unknown) => error);
    // Authenticated but not authorized; an unknown token would be Unauthorized.
    expect(StatusError.is(refused, 'Forbidden')).toBe(true);
    await kill(second.child);
  }, 60_000);

  test.skipIf(process.getuid?.() !== 0)('rejects credentials and a journal of another user (needs root)', async () => {
    for (const name of ['credentials.json', 'journal']) {
      const data = join(folder, `foreign-${name}`);
      mkdirSync(data);
      if (name === 'journal') mkdirSync(join(data, name));
      else writeFileSync(join(data, name), '{"token":"known"}');
      chownSync(join(data, name), 12_345, 12_345);
      await expect(serve('--data', data)).rejects.toThrow(`${name} belongs to another user`);
    }
  });

  test('rejects a folder with other content, and one that is in use', async () => {
    const manifests = join(folder, 'manifests');
    mkdirSync(manifests);
    writeFileSync(join(manifests, 'a.yaml'), '');
    await expect(serve('--data', manifests)).rejects.toThrow(/contains "a.yaml".*given with --apply/);
    await expect(serve('--data', join(manifests, 'a.yaml'))).rejects.toThrow(/--data takes a folder/);
    const data = join(folder, 'busy');
    const { child } = await serve('--data', data);
    await expect(serve('--data', data, '--port', '0')).rejects.toThrow(`in use by process ${child.pid}`);
    await kill(child);
  }, 60_000);
});
