/**
 * `orchplane serve --data` on a real file system that is full, whose files have a size limit, or whose folder is removed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, createClient, StatusError } from '../../../src/index.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { kubeconfigTransport } from '../../../src/node/index.js';
import { buildProgram } from './built-program.js';

let folder: string;
let program: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  ({ folder, program } = await buildProgram('orchplane-faults-'));
}, 60_000);

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Server {
  readonly client: Client;
  kill(): Promise<void>;
}

/** Starts a server; `prefix` is a command that runs it. The kubeconfig is on another disk than the data. */
async function serve(data: string, prefix: readonly string[] = []): Promise<Server> {
  const kubeconfig = join(folder, 'config');
  const words = [process.execPath, program, 'serve', '--data', data, '--kubeconfig', kubeconfig];
  const [command = '', ...args] = [...prefix, ...words];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const closed = once(child, 'close').then(() => running.delete(child));
  let [text, errors] = ['', ''];
  child.stderr.on('data', (bytes) => {
    errors += bytes;
  });
  child.stdout.on('data', (bytes) => {
    text += bytes;
  });
  while (!text.includes('Ctrl-C')) {
    await Promise.race([once(child.stdout, 'data'), closed]);
    if (!running.has(child)) throw new Error(errors);
  }
  return {
    client: createClient({ transport: kubeconfigTransport(readFileSync(kubeconfig, 'utf8')) }),
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

async function refusal(result: Promise<unknown>): Promise<unknown> {
  const error = await result.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  return StatusError.is(error, 'ServiceUnavailable') ? error.message : error;
}

const namesIn = async (client: Client): Promise<readonly string[]> =>
  (await client.api(ConfigMap).list()).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt');

/** Linux lets users mount a file system in memory in a namespace of their own. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', '/mnt'], { stdio: 'ignore' });
    execFileSync('nsenter', ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

describe('orchplane serve --data', () => {
  test.skipIf(!canMount())(
    'survives a full disk, also across a restart',
    async () => {
      const disk = join(folder, 'disk');
      mkdirSync(disk);
      const holder = spawn('unshare', [
        '-rm',
        'sh',
        '-c',
        `mount -t tmpfs -o size=16m none ${disk} && echo ready && cat`,
      ]);
      running.add(holder);
      await once(holder.stdout, 'data');
      const enter = ['nsenter', '-t', `${holder.pid}`, '-U', '-m', '--preserve-credentials'];
      const filler = join(`/proc/${holder.pid}/root`, disk, 'filler');
      const fill = (): void => {
        for (const size of [65_536, 4_096]) {
          for (let count = 0; count < 10_000; count++) {
            try {
              appendFileSync(filler, Buffer.alloc(size, 1));
            } catch (error) {
              expect(String(error)).toContain('ENOSPC');
              break;
            }
          }
        }
      };

      const first = await serve(join(disk, 'data'), enter);
      const maps = first.client.api(ConfigMap);
      for (const name of ['a', 'b', 'c']) await maps.create({ metadata: { name }, data: { text: 'x'.repeat(3_000) } });
      fill();
      const create = (client: Client) =>
        client.api(ConfigMap).create({ metadata: { name: 'new' }, data: { text: 'x'.repeat(9_000) } });
      expect(await refusal(create(first.client))).toMatch(/the disk is full.*ENOSPC/);
      await maps.delete('a');
      expect(await refusal(create(first.client))).toMatch(/the disk is full.*ENOSPC/);
      expect(await namesIn(first.client)).toEqual(['b', 'c']);
      await first.kill();

      fill();
      const second = await serve(join(disk, 'data'), enter);
      expect(await namesIn(second.client)).toEqual(['b', 'c']);
      expect(await refusal(create(second.client))).toMatch(/the disk is full.*ENOSPC/);
      await second.client.api(ConfigMap).delete('b');
      expect(await namesIn(second.client)).toEqual(['c']);
      rmSync(filler);
      await create(second.client);
      await second.kill();

      const third = await serve(join(disk, 'data'), enter);
      expect(await namesIn(third.client)).toEqual(['c', 'new']);
      await third.kill();
      holder.kill('SIGKILL');
    },
    60_000,
  );

  test.skipIf(process.platform === 'win32')(
    'refuses writes to a file that must not be larger',
    async () => {
      const data = join(folder, 'limited');
      const limited = await serve(data, ['bash', '-c', 'ulimit -f 2000 && exec "$@"', 'bash']);
      const maps = limited.client.api(ConfigMap);
      const written: string[] = [];
      let message: unknown;
      for (let index = 0; index < 10 && message === undefined; index++) {
        const name = `m${index}`;
        message = await refusal(maps.create({ metadata: { name }, data: { text: 'x'.repeat(900_000) } }));
        if (message === undefined) written.push(name);
      }
      expect(message).toMatch(/the journal could not be written: EFBIG/);
      expect(written.length).toBeGreaterThan(0);
      expect(await namesIn(limited.client)).toEqual(written);
      await limited.kill();
      const again = await serve(data);
      expect(await namesIn(again.client)).toEqual(written);
      await again.client.api(ConfigMap).create({ metadata: { name: 'new' } });
      await again.kill();
    },
    60_000,
  );

  test('refuses writes when its folder is removed', async () => {
    const data = join(folder, 'removed');
    const { client, kill } = await serve(data);
    await client.api(ConfigMap).create({ metadata: { name: 'a' } });
    rmSync(data, { recursive: true });
    expect(await refusal(client.api(ConfigMap).create({ metadata: { name: 'b' } }))).toMatch(/was removed or replaced/);
    expect(await namesIn(client)).toEqual(['a']);
    await kill();
  }, 60_000);

  test('rejects credentials that are a symbolic link', async () => {
    const data = join(folder, 'linked');
    mkdirSync(data);
    const target = join(folder, 'target');
    writeFileSync(target, '{}');
    symlinkSync(target, join(data, 'credentials.json'));
    await expect(serve(data)).rejects.toThrow(/credentials.json cannot be read: .* is a symbolic link/);
    expect(readFileSync(target, 'utf8')).toBe('{}');
  }, 60_000);
});
