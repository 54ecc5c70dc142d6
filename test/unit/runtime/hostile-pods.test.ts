/** Pods whose authors, programs or clients try to use up time or memory, or to see what they must not see. */
import { expect, test, vi } from 'vitest';
import { createFetchHandler } from '../../../src/http/index.js';
import type { Cluster } from '../../../src/index.js';
import {
  ConfigMap,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Service,
} from '../../../src/kinds/index.js';
import {
  type ByteConnection,
  type PortConnection,
  type RuntimeSlot,
  runtimeIn,
} from '../../../src/protocol/connection.js';
import { builtInCommands } from '../../../src/runtime/commands.js';
import { FileTree, MemoryVolume, SharedMemory, SharedVolumes } from '../../../src/runtime/files/file-tree.js';
import type { ProcessExit, ProcessImage, Program, ProgramContainer } from '../../../src/runtime/index.js';
import { ClientOutput } from '../../../src/runtime/kubelet/client-output.js';
import { InputStream } from '../../../src/runtime/kubelet/container-input.js';
import { ContainerLog, LogMemory, type LogReadOptions } from '../../../src/runtime/kubelet/container-log.js';
import { expanded, TextBudget } from '../../../src/runtime/kubelet/expansion.js';
import { bytePipe } from '../../../src/runtime/network/byte-pipe.js';
import { fakeClock } from '../../../src/testing/index.js';
import { realTime, systemClock } from '../../../src/util/clock.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { idle, type RunningCluster, runningCluster } from './fixture.js';

test.each([
  ['$(A)', 'one'],
  ['a$(A)b$(B)', 'aoneb'],
  ['$$(A) $$$(A)', '$(A) $one'],
  ['$(C) $(A', '$(C) $(A'],
  ['$A $ $$', '$A $ $'],
  ['$($(A))', '$($(A))'],
  ['', ''],
])('expands %j to %j', (text, result) => {
  const values: Readonly<Record<string, string>> = { A: 'one', B: '' };
  expect(expanded(text, (name) => values[name], new TextBudget())).toBe(result);
});

test('expands a text of references without an end in time proportional to its length', () => {
  const spentMs = cpuTimer();
  expanded('$('.repeat(500_000), () => undefined, new TextBudget());
  expect(spentMs()).toBeLessThan(1_000);
});

test('refuses variables that grow exponentially', async () => {
  await using running = runningCluster({ idle });
  const env = Array.from({ length: 12 }, (_, at) => ({
    name: `A${at}`,
    value: at === 0 ? 'x'.repeat(1000) : `$(A${at - 1})`.repeat(10),
  }));
  await running.start('laughs', 'idle', { containers: [{ name: 'c', image: 'idle', env }] });
  const [status] = (await running.pod('laughs')).status.containerStatuses ?? [];
  expect(status?.state.waiting).toMatchObject({
    reason: 'CreateContainerConfigError',
    message: expect.stringMatching(/^argument list too long/),
  });
});

test('refuses thousands of variables that refer to a long value, and reads the ConfigMap once', async () => {
  await using running = runningCluster({ idle });
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'long' }, data: { a: '', b: 'x'.repeat(900_000) } });
  const refer = (key: string) =>
    Array.from({ length: 5_000 }, (_, at) => ({
      name: `A${at}`,
      valueFrom: { configMapKeyRef: { name: 'long', key } },
    }));
  await running.start('long', 'idle', { containers: [{ name: 'c', image: 'idle', env: refer('b') }] });
  const [refused] = (await running.pod('long')).status.containerStatuses ?? [];
  expect(refused?.state.waiting?.message).toMatch(/^argument list too long/);
  const spentMs = cpuTimer();
  await running.start('short', 'idle', { containers: [{ name: 'c', image: 'idle', env: refer('a') }] });
  expect(spentMs()).toBeLessThan(2_000);
  expect((await running.pod('short')).status.phase).toBe('Running');
});

const ALL: LogReadOptions = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  sinceMs: undefined,
  limitBytes: undefined,
  stream: 'All',
};

test('refuses millions of variables without values', async () => {
  await using running = runningCluster({ idle });
  const keys = Array.from({ length: 5_000 }, (_, at) => [`k${at}`, '']);
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'many' }, data: Object.fromEntries(keys) });
  const envFrom = Array.from({ length: 200 }, (_, at) => ({ prefix: `A${at}`, configMapRef: { name: 'many' } }));
  const spentMs = cpuTimer();
  await running.start('many', 'idle', { containers: [{ name: 'c', image: 'idle', envFrom }] });
  expect(spentMs()).toBeLessThan(2_000);
  const [status] = (await running.pod('many')).status.containerStatuses ?? [];
  expect(status?.state.waiting?.message).toMatch(/^argument list too long/);
});

test('counts the variables of a ConfigMap once, and refuses too many before it collects them', async () => {
  await using running = runningCluster({ idle });
  const keys = Array.from({ length: 5_000 }, (_, at) => [`k${at}`, 'v']);
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'many' }, data: Object.fromEntries(keys) });
  const envFrom = Array.from({ length: 40 }, (_, at) => ({ prefix: `A${at}`, configMapRef: { name: 'many' } }));
  const containers = Array.from({ length: 200 }, (_, at) => ({ name: `c${at}`, image: 'idle', envFrom }));
  const spentMs = cpuTimer();
  await running.start('many', 'idle', { containers });
  await running.advance(60_000);
  expect(spentMs()).toBeLessThan(5_000);
  for (const { state } of (await running.pod('many')).status.containerStatuses ?? [])
    expect(state.waiting?.message).toMatch(/^argument list too long/);
});

test('a namespace whose containers have long variables leaves room for others, and can use again what ends', async () => {
  await using running = runningCluster({ idle, ends: () => undefined });
  const { cluster } = running;
  await cluster.settle();
  await cluster.api(Namespace).create({ metadata: { name: 'other' } });
  await cluster.settle();
  const start = async (name: string, namespace = 'default', image = 'idle') => {
    // Each of four containers has almost eight million characters.
    const envFrom = Array.from({ length: 9 }, (_, at) => ({ prefix: `A${at}`, configMapRef: { name: 'long' } }));
    const containers = Array.from({ length: 4 }, (_, at) => ({ name: `c${at}`, image, envFrom }));
    const spec = { restartPolicy: 'Never' as const, containers };
    await cluster.api(Pod, namespace).create({ metadata: { name }, spec });
    await cluster.settle();
  };
  const phase = async (name: string, namespace = 'default') =>
    (await cluster.api(Pod, namespace).get(name)).status.phase;
  for (const namespace of ['default', 'other'])
    await cluster.api(ConfigMap, namespace).create({ metadata: { name: 'long' }, data: { a: 'x'.repeat(900_000) } });
  for (let at = 0; at < 5; at++) await start(`p${at}`);
  const phases = async () => Promise.all([0, 1, 2, 3, 4].map((at) => phase(`p${at}`)));
  expect(await phases()).toEqual(['Running', 'Running', 'Running', 'Running', 'Pending']);
  const [, , , refused] = (await running.pod('p4')).status.containerStatuses ?? [];
  expect(refused?.state.waiting?.message).toMatch(/^argument list too long/);
  await start('box', 'other');
  expect(await phase('box', 'other')).toBe('Running');
  // What the other namespace holds makes the share smaller.
  await cluster.api(Pod, 'other').delete('box', { gracePeriodSeconds: 0 });
  await cluster.api(Pod).delete('p0', { gracePeriodSeconds: 0 });
  await cluster.settle();
  for (let at = 0; at < 4; at++) await running.advance(10_000);
  expect(await phase('p4')).toBe('Running');
  await cluster.api(Pod).delete('p1', { gracePeriodSeconds: 0 });
  for (const name of ['e0', 'e1', 'e2']) {
    await start(name, 'default', 'ends');
    expect(await phase(name)).toBe('Succeeded');
  }
});

test('variables of a ConfigMap hide those of services, and are hidden by later ones', async () => {
  const output: Readonly<Record<string, string>>[] = [];
  const show: Program = ({ env }) => void output.push(env);
  await using running = runningCluster({ show });
  const data = { A: 'one', B: '', KUBERNETES_SERVICE_HOST: 'hidden' };
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'texts' }, data });
  const configMapRef = { name: 'texts' };
  await running.start('show', 'show', {
    restartPolicy: 'Never',
    containers: [
      {
        name: 'c',
        image: 'show',
        envFrom: [{ configMapRef }, { prefix: 'P_', configMapRef }],
        env: [
          { name: 'A', value: 'two' },
          { name: 'ALL', value: '$(A)$(B)$(P_A)$(KUBERNETES_SERVICE_HOST)$(PATH)' },
        ],
      },
    ],
  });
  expect(output).toEqual([expect.objectContaining({ A: 'two', B: '', P_A: 'one', P_B: '' })]);
  expect(output[0]?.['ALL']).toBe('twoonehidden$(PATH)');
});

test('refuses volumes in which a ConfigMap has more than 10,000 files together', { timeout: 60_000 }, async () => {
  await using running = runningCluster({ idle });
  const keys = Array.from({ length: 5_000 }, (_, at) => [`k${at}`, 'v']);
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'many' }, data: Object.fromEntries(keys) });
  const configMap = { name: 'many' };
  const volumes = Array.from({ length: 3 }, (_, at) => ({ name: `v${at}`, configMap }));
  await running.start('volumes', 'idle', { volumes });
  const sources = Array.from({ length: 200 }, () => ({ configMap }));
  const spentMs = cpuTimer();
  await running.start('projected', 'idle', { volumes: [{ name: 'v', projected: { sources } }] });
  expect(spentMs()).toBeLessThan(4_000);
  for (const name of ['volumes', 'projected']) expect((await running.pod(name)).status.phase).toBe('Pending');
  const failure = (volume: string) =>
    expect.stringMatching(new RegExp(`^FailedMount .*"${volume}" : .* more than 10000 files$`));
  expect(await running.events('volumes')).toContainEqual(failure('v2'));
  expect(await running.events('projected')).toContainEqual(failure('v'));
});

test('all logs of a runtime have a limit together, which shortens the long ones', () => {
  const memory = new LogMemory(1_000_000);
  const logs = Array.from({ length: 10 }, () => new ContainerLog(fakeClock(), memory));
  const [short] = logs;
  const line = new TextEncoder().encode(`${'x'.repeat(999)}\n`);
  short?.write('stdout', line);
  for (let at = 0; at < 5_000; at++) logs[1 + (at % 9)]?.write('stdout', line);
  const bytes = logs.reduce((sum, log) => sum + log.memory, 0);
  expect(bytes).toBeGreaterThan(300_000);
  expect(bytes).toBeLessThan(1_100_000);
  expect(short?.memory).toBe(1_256);
});

test('a log of empty lines drops the oldest ones, because a line costs more than its bytes', async () => {
  const log = new ContainerLog(fakeClock());
  for (let count = 0; count < 30; count++) log.write('stdout', new Uint8Array(10_000).fill(10));
  const { length } = await new Response(log.read(ALL)).text();
  expect(length).toBeLessThanOrEqual(100_000);
  expect(length).toBeGreaterThanOrEqual(50_000);
});

test('a log is read in chunks, so that a client that does not read takes little memory', async () => {
  const log = new ContainerLog(fakeClock());
  const line = new TextEncoder().encode(`${'x'.repeat(999)}\n`);
  for (let count = 0; count < 2_000; count++) log.write(count % 2 === 0 ? 'stdout' : 'stderr', line);
  const sizes: number[] = [];
  for await (const chunk of log.read({ ...ALL, stream: 'Stderr' })) {
    sizes.push(chunk.length);
    // What is written meanwhile is not part of it.
    log.write('stderr', line);
  }
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000_000);
  expect(Math.max(...sizes)).toBeLessThan(300_000);
});

test('a reader that follows gets what is written later, and its end', async () => {
  const log = new ContainerLog(fakeClock());
  const text = new Response(log.read({ ...ALL, follow: true })).text();
  const cancelled = log.read({ ...ALL, follow: true }).getReader();
  const pending = cancelled.read();
  await Promise.resolve();
  await cancelled.cancel();
  expect((await pending).done).toBe(true);
  log.write('stdout', new TextEncoder().encode('one\ntwo'));
  log.end();
  expect(await text).toBe('one\ntwo');
});

test('a line that is written in single bytes takes time in proportion to its length', async () => {
  const log = new ContainerLog(fakeClock());
  const spentMs = cpuTimer();
  for (let count = 0; count < 500_000; count++) log.write(count % 2 === 0 ? 'stdout' : 'stderr', Uint8Array.of(120));
  log.end();
  expect(spentMs()).toBeLessThan(1_000);
  expect((await new Response(log.read({ ...ALL, stream: 'Stderr' })).text()).length).toBe(250_000);
});

test('output that is written in single bytes is joined for a client that reads slowly', async () => {
  const taken: Uint8Array[] = [];
  let isOverflow = false;
  const output = new ClientOutput(() => {
    isOverflow = true;
  });
  const writerTo = (chunks: Uint8Array[]) =>
    new WritableStream<Uint8Array>({ write: (bytes) => void chunks.push(bytes) }).getWriter();
  const [stdout, stderr] = [writerTo(taken), writerTo(taken)];
  for (let count = 0; count < 100_000; count++) {
    void output.write(count % 2 === 0 ? stdout : stderr, Uint8Array.of(count % 2));
  }
  await output.finished();
  expect(taken.map(({ length, 0: byte }) => [byte, length])).toEqual([
    [0, 1],
    [1, 50_000],
    [0, 49_999],
  ]);
  await output.write(stdout, Uint8Array.of(2));
  expect(taken).toHaveLength(4);
  const unread = new WritableStream<Uint8Array>({ write: () => new Promise(() => undefined) }).getWriter();
  void output.write(unread, new Uint8Array(16 * 1024 * 1024));
  expect(isOverflow).toBe(false);
  void output.write(unread, Uint8Array.of(1));
  expect(isOverflow).toBe(true);
  await output.finished();
});

test('the input of a container that does not read holds its clients back', async () => {
  const input = new InputStream(true);
  const client = new AbortController();
  const gone = new AbortController();
  const written: string[] = [];
  const write = async (name: string, signal: AbortSignal): Promise<void> => {
    await input.write(new Uint8Array(100_000), signal);
    written.push(name);
  };
  await write('first', client.signal);
  const [second, third] = [write('second', gone.signal), write('third', client.signal)];
  await Promise.resolve();
  expect(written).toEqual(['first']);
  // The client has disconnected: what it wanted to send is not kept.
  gone.abort();
  await second;
  const reader = input.stream.getReader();
  expect((await reader.read()).value).toHaveLength(100_000);
  await third;
  expect((await reader.read()).value).toHaveLength(100_000);
  const fourth = write('fourth', client.signal);
  await fourth;
  input.close();
  expect((await reader.read()).value).toHaveLength(100_000);
  expect((await reader.read()).done).toBe(true);
  await input.write(new Uint8Array(1), client.signal);
});

test('clients that wait for the input of a container leave no listener behind', async () => {
  const input = new InputStream(true);
  const client = new AbortController();
  const removed = vi.spyOn(client.signal, 'removeEventListener');
  const added = vi.spyOn(client.signal, 'addEventListener');
  const reader = input.stream.getReader();
  await input.write(new Uint8Array(100_000), client.signal);
  const writes = [1, 2, 3].map(() => input.write(new Uint8Array(100_000), client.signal));
  for (let count = 0; count < 4; count++) await reader.read();
  await Promise.all(writes);
  expect(added.mock.calls.length).toBeGreaterThanOrEqual(3);
  expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
});

test('a volume in memory has a limit', () => {
  const volume = new MemoryVolume();
  const entry = { bytes: new Uint8Array(100 * 1024 * 1024), mode: 0o644 };
  volume.write('a', entry);
  volume.write('b', entry);
  volume.write('b', entry);
  expect(() => volume.write('c', entry)).toThrow('ENOSPC: no space left on device, c');
  volume.write('a', undefined);
  volume.write('c', entry);
});

test('a volume in memory has a limit for files, and counts their paths', () => {
  const empty = { bytes: new Uint8Array(), mode: 0o644 };
  const volume = new MemoryVolume();
  for (let at = 0; at < 100_000; at++) volume.write(`${at}`, empty);
  volume.write('0', empty);
  expect(() => volume.write('one more', empty)).toThrow('ENOSPC: no space left on device, one more');
  volume.write('0', undefined);
  volume.write('one more', empty);
  // Two bytes for each character, and 256 for each file.
  const other = new MemoryVolume({ maxBytes: 2 * (2 * 4_001 + 256) });
  const path = 'x'.repeat(4_000);
  other.write(`${path}1`, empty);
  other.write(`${path}2`, empty);
  expect(() => other.write('3', empty)).toThrow('ENOSPC');
});

test('a volume in memory counts the directories of its files', () => {
  const volume = new MemoryVolume({ maxBytes: 1_000 });
  const empty = { bytes: new Uint8Array(), mode: 0o644 };
  expect(() => volume.write('a/b/c/d/e/f/g/h/i/j/k/l', empty)).toThrow('ENOSPC');
  volume.write('a/b/c', empty);
});

test('a namespace that fills its share of the memory of volumes leaves room for others', async () => {
  await using running = runningCluster({ idle }, { maxVolumeBytes: 16_100 });
  const { cluster } = running;
  await cluster.settle();
  for (const name of ['greedy', 'other', 'third']) await cluster.api(Namespace).create({ metadata: { name } });
  await cluster.settle();
  const containers = [{ name: 'c', image: 'idle' }];
  for (const namespace of ['greedy', 'other', 'third']) {
    await cluster.api(Pod, namespace).create({ metadata: { name: 'box' }, spec: { containers } });
  }
  await cluster.settle();
  const write = async (namespace: string, path: string, length: number) =>
    (await cluster.exec('box', ['tee', path], { namespace, stdin: 'x'.repeat(length) })).exitCode;
  /** Writes files of 500 bytes until one fails, and returns their number. */
  const fill = async (namespace: string) => {
    let count = 0;
    while ((await write(namespace, `/${count}`, 500 - 256 - 2)) === 0) count++;
    return count;
  };
  // A half, a half of what is left, and so on.
  expect([await fill('greedy'), await fill('other')]).toEqual([16, 8]);
  expect(await write('third', '/file', 1_700)).toBe(0);
  expect(await write('other', '/more', 2_000)).toBe(1);
  await cluster.api(Pod, 'greedy').delete('box', { gracePeriodSeconds: 0 });
  await cluster.settle();
  expect(await write('other', '/more', 2_000)).toBe(0);
});

test('a claimed volume takes the memory of the namespace of its claim', () => {
  const memory = new SharedMemory(10_000);
  const volumes = new SharedVolumes(memory);
  const file = { bytes: new Uint8Array(4_000), mode: 0o644 };
  volumes.claimed('uid', 'team').write('file', file);
  expect(volumes.claimed('uid', 'team').entries().size).toBe(1);
  expect(memory.of('team').take(1_000)).toBe(false);
  volumes.remove('uid');
  expect(memory.of('team').take(5_000)).toBe(true);
  // A directory of a node belongs to no namespace.
  volumes.onHost('node-1', '/data').write('file', { ...file, bytes: new Uint8Array(2_000) });
  expect(volumes.onHost('node-1', '/data').hostPath).toBe('/data');
});

test('the volumes of a runtime have a limit together, and give it back when they end', async () => {
  await using running = runningCluster({ idle }, { maxVolumeBytes: 12_000 });
  const { cluster } = running;
  const volumes = [
    { name: 'small', emptyDir: { sizeLimit: '1000' } },
    { name: 'large', emptyDir: {} },
  ];
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const start = (name: string) =>
    running.start(name, 'idle', { volumes, containers: [{ name: 'c', image: 'idle', volumeMounts }] });
  const write = async (pod: string, path: string, length: number) =>
    (await cluster.exec(pod, ['tee', path], { stdin: 'x'.repeat(length) })).stderr;
  await start('one');
  await start('two');
  // A file takes 256 bytes besides its content and its path.
  expect(await write('one', '/small/file', 700)).toBe('');
  expect(await write('one', '/small/file', 750)).toBe('tee: ENOSPC: no space left on device, file\n');
  expect(await write('one', '/large/file', 2_500)).toBe('');
  expect(await write('two', '/large/file', 2_500)).toContain('ENOSPC');
  expect(await write('two', '/file', 2_500)).toContain('ENOSPC');
  await cluster.api(Pod).delete('one', { gracePeriodSeconds: 0 });
  await cluster.settle();
  expect(await write('two', '/file', 2_500)).toBe('');
  // The input is in memory together with the file that it replaces.
  expect(await write('two', '/file', 4_000)).toBe('tee: ENOSPC: no space left on device\n');
  expect(await write('two', '/file', 2_500)).toBe('');
});

test('commands that collect their input share the memory of volumes, and give it back', async () => {
  await using running = runningCluster({ idle }, { maxVolumeBytes: 6_000 });
  const { cluster } = running;
  await running.start('box', 'idle');
  const endless = new TransformStream<Uint8Array, Uint8Array>();
  const input = endless.writable.getWriter();
  const collecting = cluster.exec('box', ['tee', '/one'], { stdin: endless.readable });
  await input.write(new Uint8Array(2_000));
  await cluster.settle();
  const other = () => cluster.exec('box', ['tee', '/two'], { stdin: 'x'.repeat(1_500) });
  expect((await other()).stderr).toBe('tee: ENOSPC: no space left on device\n');
  void input.write(new Uint8Array(1_500));
  expect((await collecting).exitCode).toBe(1);
  expect((await other()).stderr).toBe('');
});

test('a container starts when the memory of volumes is full', async () => {
  await using running = runningCluster({ idle }, { maxVolumeBytes: 0 });
  await running.start('box', 'idle');
  expect((await running.pod('box')).status.phase).toBe('Running');
  expect((await running.cluster.exec('box', ['cat', '/etc/hostname'])).stdout).toBe('box\n');
  expect((await running.cluster.exec('box', ['tee', '/file'], { stdin: 'x' })).stderr).toContain('ENOSPC');
});

test('a container whose start fails leaves no files behind', async () => {
  const release = vi.spyOn(MemoryVolume.prototype, 'release');
  await using running = runningCluster({ idle });
  const fails = {
    path: { terminationMessagePath: `/${'x'.repeat(4_096)}` },
    mount: { volumeMounts: [{ name: 'v', mountPath: '/v', subPathExpr: '$(X)' }] },
  };
  const containers = Object.entries(fails).map(([name, spec]) => ({ name, image: 'idle', ...spec }));
  await running.start('bad', 'idle', { containers, volumes: [{ name: 'v', emptyDir: {} }] });
  const { containerStatuses = [] } = (await running.pod('bad')).status;
  expect(containerStatuses.map(({ state: { waiting } }) => waiting?.message)).toEqual([
    'file name too long: a path has more than 4096 characters',
    'missing value for "X"',
  ]);
  expect(release).toHaveBeenCalledTimes(2);
  vi.restoreAllMocks();
});

test('the files of a container are given back when it ends', async () => {
  const writer: Program = ({ files, args: [file = ''] }) => files.write(`/${file}`, new Uint8Array(2_000));
  await using running = runningCluster({ writer }, { maxVolumeBytes: 6_000 });
  for (const name of ['one', 'two', 'three']) {
    await running.start(name, 'writer', {
      restartPolicy: 'Never',
      containers: [{ name: 'c', image: 'writer', args: [name] }],
    });
    expect((await running.pod(name)).status.phase).toBe('Succeeded');
  }
});

test('the volumes of a pod are given back when it ends', async () => {
  const writer: Program = ({ files }) => files.write('/data/file', new Uint8Array(2_000));
  await using running = runningCluster({ writer }, { maxVolumeBytes: 6_000 });
  for (const name of ['one', 'two', 'three']) {
    await running.start(name, 'writer', {
      restartPolicy: 'Never',
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'c', image: 'writer', volumeMounts: [{ name: 'v', mountPath: '/data' }] }],
    });
    expect((await running.pod(name)).status.phase).toBe('Succeeded');
  }
});

test('the time of writing a file does not grow with the number of files', () => {
  const timeOf = (count: number): number => {
    const files = new FileTree(new MemoryVolume(), []);
    const begin = process.cpuUsage().user;
    for (let at = 0; at < count; at++) files.write(`/data/d${at % 100}/${at}`, '');
    expect(files.isDirectory('/data/d99') && files.list('/data').length === 100).toBe(true);
    return process.cpuUsage().user - begin;
  };
  timeOf(5_000);
  expect(timeOf(40_000)).toBeLessThan(20 * timeOf(5_000) + 50_000);
});

test('a directory ends with its last file', () => {
  const files = new FileTree(new MemoryVolume(), []);
  files.write('/a/b/c', 'x');
  files.write('/a/b/c', 'y');
  expect([files.isDirectory('/a'), files.isDirectory('/a/b'), files.isDirectory('/a/b/c')]).toEqual([
    true,
    true,
    false,
  ]);
  files.remove('/a/b/c');
  expect([files.exists('/a'), files.exists('/a/b')]).toEqual([false, false]);
  expect(() => files.write(`/${'x'.repeat(5_000)}`, '')).toThrow('ENAMETOOLONG: file name too long');
});

test('the content of a PersistentVolume is given back when the volume is deleted', async () => {
  await using running = runningCluster({ idle }, { maxVolumeBytes: 6_000 });
  const { cluster } = running;
  const spec = { accessModes: ['ReadWriteOnce' as const], storageClassName: '' };
  const container = { name: 'c', image: 'idle', volumeMounts: [{ name: 'v', mountPath: '/data' }] };
  for (const name of ['one', 'two', 'three']) {
    await cluster.api(PersistentVolume).create({
      metadata: { name },
      spec: { ...spec, capacity: { storage: '1Gi' }, csi: { driver: 'd', volumeHandle: name } },
    });
    await cluster.api(PersistentVolumeClaim).create({
      metadata: { name },
      spec: { ...spec, volumeName: name, resources: { requests: { storage: '1Gi' } } },
    });
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: name } }];
    await running.start(name, 'idle', { volumes, containers: [container] });
    expect((await cluster.exec(name, ['tee', '/data/file'], { stdin: 'x'.repeat(2_000) })).stderr).toBe('');
    await cluster.api(Pod).delete(name, { gracePeriodSeconds: 0 });
    await cluster.settle();
    await cluster.api(PersistentVolumeClaim).delete(name);
    await cluster.api(PersistentVolume).delete(name);
    await cluster.settle();
  }
  expect((await cluster.api(PersistentVolume).list()).items).toEqual([]);
});

test('a file that is written in single bytes is joined at once', async () => {
  await using running = runningCluster({ idle });
  await running.start('box', 'idle');
  // The source uses the same array again, so the command must have copied the byte.
  const reused = new Uint8Array(1);
  let count = 0;
  const stdin = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (count === 1_000) return controller.close();
        reused[0] = 97 + (count % 26);
        controller.enqueue(count++ === 0 ? reused.slice() : reused);
      },
    },
    { highWaterMark: 0 },
  );
  await running.cluster.exec('box', ['tee', '/file'], { stdin });
  const { stdout } = await running.cluster.exec('box', ['cat', '/file']);
  expect(stdout).toBe(Array.from({ length: 1_000 }, (_, at) => String.fromCharCode(97 + (at % 26))).join(''));
});

test('a command that writes to many files keeps its input once', async () => {
  await using running = runningCluster({ idle });
  await running.start('box', 'idle');
  const bytes = new Uint8Array(1024).fill(65);
  const stdin = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const write = vi.spyOn(MemoryVolume.prototype, 'write');
  expect((await running.cluster.exec('box', ['tee', '/a', '/b'], { stdin })).exitCode).toBe(0);
  const written = write.mock.calls.map(([, entry]) => entry?.bytes);
  vi.restoreAllMocks();
  // The chunk still belongs to the client.
  bytes.fill(66);
  expect(written).toHaveLength(2);
  expect(written[0]).toBe(written[1]);
  expect(written[0]?.[0]).toBe(65);
});

test('probes and termination messages of long files read and decode short pieces', async () => {
  const writer: Program = (container) => {
    container.files.write('/shared/file', new Uint8Array(1024 * 1024).fill(65));
    return idle(container);
  };
  await using running = runningCluster({ writer });
  const read = vi.spyOn(FileTree.prototype, 'read');
  const decode = vi.spyOn(TextDecoder.prototype, 'decode');
  const readinessProbe = { exec: { command: ['cat', '/shared/file', '/missing'] } };
  const mount = { terminationMessagePath: '/shared/file', volumeMounts: [{ name: 'shared', mountPath: '/shared' }] };
  await running.start('long', 'writer', {
    containers: [{ name: 'c', image: 'writer', readinessProbe, ...mount }],
    volumes: [{ name: 'shared', emptyDir: {} }],
    activeDeadlineSeconds: 60,
  });
  await running.advance(120_000);
  const [status] = (await running.pod('long')).status.containerStatuses ?? [];
  const events = await running.events('long');
  const lengthsRead = read.mock.results.map(({ type, value }) => (type === 'return' ? value.length : 0));
  const lengthsDecoded = decode.mock.calls.map(([bytes]) => bytes?.byteLength ?? 0);
  vi.restoreAllMocks();
  expect(status?.state.terminated?.message).toBe('A'.repeat(4_096));
  expect(events.some((event) => event.startsWith('Unhealthy Readiness probe failed: AAA'))).toBe(true);
  expect(Math.max(...lengthsRead)).toBe(64 * 1024);
  expect(Math.max(...lengthsDecoded)).toBe(10 * 1024);
});

test('a command that names many files ends when it is killed', async () => {
  let reads = 0;
  const files = { read: () => reads++ } as unknown as ProgramContainer['files'];
  const stopping = new AbortController();
  const output = { write: () => (reads === 3 ? stopping.abort() : undefined) };
  const container = { args: Array.from({ length: 1_000 }, () => '/a'), files, stdout: output, stderr: output };
  await builtInCommands['cat']?.({ ...container, signal: stopping.signal } as unknown as ProgramContainer);
  expect(reads).toBe(3);
});

test('others run between the slow steps of commands that run at the same time', async () => {
  const stepsInTurns: number[] = [];
  let steps = 0;
  const count = () => {
    if (steps > 0) stepsInTurns.push(steps);
    steps = 0;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  const list = () => {
    steps++;
    const endMs = realTime() + 25;
    while (realTime() < endMs);
    return [];
  };
  const files = { list, isDirectory: () => true, exists: () => true };
  const output = { write: () => undefined };
  const { signal } = new AbortController();
  const container = { args: ['/a', '/b', '/c'], files, stdout: output, stderr: output, signal, clock: systemClock };
  const run = () => builtInCommands['ls']?.(container as unknown as ProgramContainer);
  await Promise.all([run(), run(), run(), run()]);
  clearImmediate(turn);
  // The runtime waits for a turn before it starts a command, which this test does not.
  expect(stepsInTurns[0]).toBe(4);
  expect(Math.max(...stepsInTurns.slice(1))).toBe(1);
});

test('the image of the metrics server exists only in its namespace', async () => {
  const spy = { containers: [{ name: 'c', image: 'orchplane/metrics-server' }] };
  for (const metrics of [false, true]) {
    await using running = runningCluster({ idle }, { metrics });
    await running.start('spy', '', spy);
    expect((await running.pod('spy')).status.containerStatuses?.[0]?.state.waiting?.reason).toMatch(/Image/);
    if (!metrics) continue;
    expect((await running.cluster.api(Pod, 'kube-system').get('metrics-server')).status.phase).toBe('Running');
  }
});

test('the metrics server answers the API server only, which has authorized the user', async () => {
  const answers: string[] = [];
  const url = 'https://metrics-server.kube-system.svc/apis/metrics.k8s.io/v1beta1/pods';
  const spy: Program = async ({ fetch, untilStopped }) => {
    const response = await fetch(url);
    answers.push(`${response.status} ${await response.text()}`);
    await untilStopped();
  };
  await using running = runningCluster({ idle, spy }, { metrics: true });
  const { cluster } = running;
  await running.start('secret', 'idle');
  await running.start('spy', 'spy');
  await running.advance(30_000);
  const handle = createFetchHandler(cluster);
  const get = async (path: string) => {
    const response = await handle(new Request(`http://cluster.local${path}`));
    return `${response.status} ${await response.text()}`;
  };
  const path = '/apis/metrics.k8s.io/v1beta1/pods';
  const proxies = ['services/https:metrics-server:443', 'pods/https:metrics-server:4443'];
  for (const proxy of proxies) answers.push(await get(`/api/v1/namespaces/kube-system/${proxy}/proxy${path}`));
  expect(answers).toHaveLength(3);
  for (const answer of answers) {
    expect(answer).toMatch(/^401 .*"Unauthorized"/);
    expect(answer).not.toContain('secret');
  }
  expect(await get(path)).toMatch(/^200 .*"secret"/);
});

test('probes and hooks follow redirects to their own host only', async () => {
  const seen: string[] = [];
  const victim: Program = async ({ listen, untilStopped }) => {
    listen(80, ({ url }) => {
      seen.push(`victim ${url}`);
      return new Response('secret');
    });
    await untilStopped();
  };
  let address = '';
  const attacker: Program = async ({ listen, untilStopped }) => {
    listen(80, ({ url }) => {
      const { pathname } = new URL(url);
      seen.push(pathname);
      const location = { '/own': '/there', '/other': `http://${address}/admin`, '/loop': '/loop' }[pathname];
      return new Response(null, location === undefined ? { status: 200 } : { status: 302, headers: { location } });
    });
    await untilStopped();
  };
  await using running = runningCluster({ victim, attacker });
  await running.start('victim', 'victim');
  address = (await running.pod('victim')).status.podIP ?? '';
  const isReady = async (name: string, path: string) => {
    seen.length = 0;
    const readinessProbe = { httpGet: { path, port: 80 }, periodSeconds: 1_000 };
    const lifecycle = { postStart: { httpGet: { path, port: 80 } } };
    const containers = [{ name: 'c', image: 'attacker', ...(name === 'hook' ? { lifecycle } : { readinessProbe }) }];
    await running.start(name, 'attacker', { containers });
    await running.advance(2_000);
    return (await running.pod(name)).status.containerStatuses?.[0]?.ready;
  };
  expect(await isReady('own', '/own')).toBe(true);
  expect(seen).toEqual(['/own', '/there']);
  // kubelet reports a success with a warning.
  expect(await isReady('other', '/other')).toBe(true);
  expect(seen).toEqual(['/other']);
  expect(await isReady('hook', '/other')).toBe(true);
  expect(seen).toEqual(['/other']);
  expect(await isReady('loop', '/loop')).toBe(false);
  expect(seen).toHaveLength(10);
});

test.each(['80%23', '80%3F', '80%40x', '123456'])('a proxy refuses the port %s', async (port) => {
  const web: Program = async ({ listen, untilStopped }) => {
    listen(80, () => new Response('hi'));
    await untilStopped();
  };
  await using running = runningCluster({ web });
  await running.start('web', 'web');
  const handle = createFetchHandler(running.cluster);
  const get = (name: string) =>
    handle(new Request(`http://cluster.local/api/v1/namespaces/default/pods/${name}/proxy/x`));
  expect((await get('web:80')).status).toBe(200);
  expect((await get(`web:${port}`)).status).toBe(400);
});

test('an Event about an image with a long name is short', async () => {
  await using running = runningCluster({ idle });
  await running.start('long', 'a'.repeat(100_000));
  const events = await running.events('long');
  expect(events.length).toBeGreaterThan(2);
  expect(Math.max(...events.map(({ length }) => length))).toBeLessThan(1_100);
});

test('a program that throws an object without a text fails like others', async () => {
  const textless: Record<string, unknown> = Object.assign(Object.create(null), { self: undefined });
  textless['self'] = textless;
  await using running = runningCluster({
    textless: () => {
      throw textless;
    },
  });
  await running.start('textless', 'textless', { restartPolicy: 'Never' });
  expect((await running.pod('textless')).status.phase).toBe('Failed');
});

test('a command that names thousands of files does not keep others from running', async () => {
  await using running = runningCluster({ idle });
  await running.start('busy', 'idle');
  let turns = 0;
  const count = setInterval(() => turns++, 0);
  const paths = Array.from({ length: 3_000 }, (_, at) => `/missing-${at}`);
  const { exitCode, stderr } = await running.cluster.exec('busy', ['cat', ...paths]);
  clearInterval(count);
  expect(exitCode).toBe(1);
  expect(stderr.split('\n')).toHaveLength(3_001);
  expect(turns).toBeGreaterThan(1);
});

test('a container remembers the commands that run in it, and forgets those that have ended', async () => {
  const kills: string[] = [];
  const image: ProcessImage = {
    start: ({ exec }) => {
      let end = (_exit: ProcessExit): void => undefined;
      const exit = new Promise<ProcessExit>((resolve) => {
        end = resolve;
      });
      if (exec?.[0] === 'short') end({ exitCode: 0 });
      return {
        exit,
        kill(signal) {
          kills.push(`${exec?.[0] ?? 'main'} ${signal}`);
          end({ exitCode: 137 });
        },
      };
    },
  };
  await using running = runningCluster({ image });
  await running.start('busy', 'image');
  for (let count = 0; count < 3; count++) await running.cluster.exec('busy', ['short']);
  const long = running.cluster.exec('busy', ['long']);
  await running.cluster.settle();
  await running.cluster.api(Pod).delete('busy', { gracePeriodSeconds: 0 });
  await running.cluster.settle();
  expect(await long).toMatchObject({ exitCode: 137 });
  expect(kills).toEqual(['main SIGKILL', 'long SIGKILL']);
});

test('a probe that cannot be made says nothing about the container', async () => {
  await using running = runningCluster({ idle });
  const livenessProbe = { exec: { command: ['missing'] }, periodSeconds: 1, failureThreshold: 1 };
  const readinessProbe = { tcpSocket: { port: 'unknown' }, periodSeconds: 1, failureThreshold: 1 };
  await running.start('odd', 'idle', { containers: [{ name: 'c', image: 'idle', livenessProbe, readinessProbe }] });
  for (let count = 0; count < 5; count++) await running.advance(1_000);
  expect((await running.pod('odd')).status.containerStatuses?.[0]).toMatchObject({ ready: false, restartCount: 0 });
  expect(await running.events('odd')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^Unhealthy Liveness probe errored and resulted in unknown state: exec: "missing"/),
      expect.stringMatching(/^Unhealthy Readiness probe errored and resulted in unknown state: couldn't find port/),
    ]),
  );
});

test('a container is probed, and ready, when its postStart hook has ended', async () => {
  const order: string[] = [];
  const prepare: Program = async ({ sleep }) => {
    order.push('hook begins');
    await sleep(3_000);
    order.push('hook ends');
  };
  const up: Program = () => {
    order.push('probe');
  };
  await using running = runningCluster({ idle: { run: idle, commands: { prepare, up } } });
  const lifecycle = { postStart: { exec: { command: ['prepare'] } } };
  const readinessProbe = { exec: { command: ['up'] }, periodSeconds: 1 };
  const containers = [
    { name: 'c', image: 'idle', lifecycle, readinessProbe },
    { name: 'other', image: 'idle', lifecycle },
  ];
  await running.start('hooked', 'idle', { containers });
  const ready = async () => (await running.pod('hooked')).status.containerStatuses?.map((each) => each.ready);
  await running.advance(1_000);
  expect(await ready()).toEqual([false, false]);
  await running.advance(2_000);
  await running.advance(1_000);
  expect(await ready()).toEqual([true, true]);
  expect(order.slice(0, 3)).toEqual(['hook begins', 'hook begins', 'hook ends']);
  expect(order).toContain('probe');
});

test('a connection that a tcp probe gets too late is closed', async () => {
  let connect: ((connection: ByteConnection) => void) | undefined;
  const dial = () =>
    new Promise<ByteConnection>((resolve) => {
      connect = resolve;
    });
  const unused = () => {
    throw new Error('not part of this test');
  };
  const image: ProcessImage = {
    start({ network, pod }) {
      network.attach({ namespace: 'default', podName: pod.metadata.name }, '127.0.0.9');
      return { exit: new Promise(() => undefined), kill: () => undefined };
    },
  };
  await using running = runningCluster(
    { image },
    { network: { sockets: { dial, serveHttp: unused, sendHttp: unused } } },
  );
  const readinessProbe = { tcpSocket: { port: 80 }, timeoutSeconds: 1, periodSeconds: 60 };
  await running.start('slow', 'image', { containers: [{ name: 'c', image: 'image', readinessProbe }] });
  await running.advance(1_000);
  expect(await running.events('slow')).toContainEqual(expect.stringMatching(/^Unhealthy .* i\/o timeout$/));
  const { client, server } = bytePipe(() => undefined);
  connect?.(client);
  expect((await server.readable.getReader().read()).done).toBe(true);
});

test('a forwarded port leads to nothing but its own pod while that runs', async () => {
  const dialled: string[] = [];
  const unused = () => {
    throw new Error('not part of this test');
  };
  const dial = async ({ host, port }: { readonly host: string; readonly port: number }) => {
    dialled.push(`${host}:${port}`);
    return bytePipe(() => undefined).client;
  };
  const externalFetch = async ({ url }: Request) => {
    dialled.push(url);
    return new Response('outside');
  };
  const web: Program = async ({ listen, sleep }) => {
    listen(80, () => new Response('hi'));
    await sleep(60_000);
  };
  await using running = runningCluster(
    { web, idle },
    { network: { externalFetch, sockets: { dial, serveHttp: () => undefined, sendHttp: unused } } },
  );
  const { cluster } = running;
  const forwarded = async (name: string) => {
    const object = await running.pod(name);
    const connection = await runtimeIn(
      (cluster as Cluster & { readonly runtimeSlot: RuntimeSlot }).runtimeSlot,
    ).connect({
      subresource: 'portforward',
      object,
      scheme: '',
      port: '',
      query: {},
    });
    return connection as PortConnection;
  };
  const nothing = { resources: { requests: { cpu: '1000' } } };
  await cluster.settle();
  const nodeName = (await cluster.api(Node).list()).items[0]?.metadata.name ?? '';
  await running.start('rejected', 'idle', { nodeName, containers: [{ name: 'c', image: 'idle', ...nothing }] });
  expect((await running.pod('rejected')).status).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu' });
  await expect(forwarded('rejected')).rejects.toThrow('pod rejected is not running');
  await running.start('web', 'web', { restartPolicy: 'Never' });
  const open = await forwarded('web');
  await open.connect(80);
  await expect(open.connect(81)).rejects.toThrow('dial tcp 10.244.0.1:81: connect: connection refused');
  await running.advance(60_000);
  expect((await running.pod('web')).status).toMatchObject({ phase: 'Succeeded', podIP: '10.244.0.1' });
  await expect(open.connect(80)).rejects.toThrow('pod web is not running');
  await expect(forwarded('web')).rejects.toThrow('pod web is not running');
  const proxied = await createFetchHandler(cluster)(
    new Request('http://cluster.local/api/v1/namespaces/default/pods/web:80/proxy/x'),
  );
  expect(proxied.status).toBe(503);
  await cluster.api(Pod).delete('web', { gracePeriodSeconds: 0 });
  await running.start('web', 'web');
  await expect(open.connect(80)).rejects.toThrow('pod web is not running');
  expect(dialled).toEqual([]);
});

/** Makes a pod on the node `node-1` that had this address in its status before the kubelet knew the pod. */
async function pretend({ cluster }: RunningCluster, name: string, image: string, podIP: string): Promise<void> {
  const api = cluster.api(Pod);
  await api.create({ metadata: { name }, spec: { schedulerName: 'none', containers: [{ name: 'c', image }] } });
  await api.status.edit(name, ({ status }) => {
    status.podIP = podIP;
    status.podIPs = [{ ip: podIP }];
    status.startTime = '2026-01-01T00:00:00Z';
  });
  const target = { kind: 'Node', name: 'node-1' };
  const handle = createFetchHandler(cluster);
  const bound = await handle(
    new Request(`http://cluster/api/v1/namespaces/default/pods/${name}/binding`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Binding', metadata: { name }, target }),
    }),
  );
  expect(bound.status).toBe(201);
  await cluster.settle();
}

test('a pod gets an address of its own, whatever its status says before it runs', async () => {
  const clients: string[] = [];
  const answer = (text: string): Program => {
    return async ({ listen, untilStopped }) => {
      listen(80, (_request, { remoteAddress }) => {
        clients.push(remoteAddress);
        return new Response(text);
      });
      await untilStopped();
    };
  };
  const images = { victim: answer('victim'), thief: answer('thief') };
  const answers: string[] = [];
  const client: Program = async ({ fetch, args: [url = ''] }) => {
    answers.push(await fetch(url).then((each) => each.text(), String));
  };
  await using running = runningCluster({ ...images, client, idle });
  await running.start('victim', 'victim');
  await pretend(running, 'thief', 'thief', '10.244.0.1');
  expect((await running.pod('thief')).status).toMatchObject({ podIP: '10.244.0.2', podIPs: [{ ip: '10.244.0.2' }] });
  await pretend(running, 'outside', 'idle', '192.0.2.7');
  expect((await running.pod('outside')).status.podIP).toBe('10.244.0.3');
  const ask = (name: string, url: string) =>
    running.start(name, 'client', {
      restartPolicy: 'Never',
      containers: [{ name: 'c', image: 'client', args: [url] }],
    });
  await ask('first', 'http://10.244.0.1/');
  await running.cluster.api(Pod).delete('victim', { gracePeriodSeconds: 0 });
  await running.cluster.settle();
  await ask('second', 'http://10.244.0.1/');
  expect(answers).toEqual(['victim', 'TypeError: fetch failed']);
  expect(clients).toEqual(['10.244.0.4']);
});

test('a status that changes while the pod runs neither moves the pod nor leads a proxy to another one', async () => {
  const web: Program = async ({ listen, untilStopped, pod }) => {
    listen(80, () => new Response(pod.metadata.name));
    await untilStopped();
  };
  await using running = runningCluster({ web });
  await running.start('one', 'web');
  await running.start('two', 'web');
  const get = createFetchHandler(running.cluster);
  await running.cluster.api(Pod).status.edit('two', ({ status }) => {
    status.podIP = '10.244.0.1';
    status.podIPs = [{ ip: '10.244.0.1' }];
  });
  const proxied = await get(new Request('http://cluster.local/api/v1/namespaces/default/pods/two:80/proxy/'));
  expect(await proxied.text()).toBe('two');
  await running.cluster.settle();
  expect((await running.pod('two')).status.podIP).toBe('10.244.0.2');
});

test('pods of a fork keep their addresses, except those that several pods claim', async () => {
  await using running = runningCluster({ idle });
  const { cluster } = running;
  for (const name of ['one', 'two', 'three']) await running.start(name, 'idle');
  await cluster.api(Pod).delete('one', { gracePeriodSeconds: 0 });
  await cluster.settle();
  await using fork = cluster.fork();
  await fork.settle();
  const addressIn = async (each: Pick<Cluster, 'api'>, name: string) => (await each.api(Pod).get(name)).status.podIP;
  expect([await addressIn(fork, 'two'), await addressIn(fork, 'three')]).toEqual(['10.244.0.2', '10.244.0.3']);
  await cluster.api(Pod).status.edit('three', ({ status }) => {
    status.podIP = '10.244.0.2';
    status.podIPs = [{ ip: '10.244.0.2' }];
  });
  await using second = cluster.fork();
  await second.settle();
  const addresses = [await addressIn(second, 'two'), await addressIn(second, 'three')];
  expect(new Set(addresses).size).toBe(2);
});

test('the external addresses of a Service take no address or port of a pod from processes', async () => {
  const published = new Set<string>();
  const unused = () => {
    throw new Error('not part of this test');
  };
  const publish = ({ host, port }: { readonly host: string; readonly port: number }) => {
    published.add(`${host}:${port}`);
    return () => void published.delete(`${host}:${port}`);
  };
  await using running = runningCluster(
    { idle },
    { network: { sockets: { dial: unused, serveHttp: unused, sendHttp: unused, publish } } },
  );
  const { cluster } = running;
  await running.start('victim', 'idle');
  const [node] = (await cluster.api(Node).list()).items;
  const address = node?.status.addresses?.[0]?.address ?? '';
  const { podIP = '' } = (await running.pod('victim')).status;
  const externalIPs = [podIP, address, '198.51.100.1'];
  const ports = [80, 81].map((port) => ({ name: `p${port}`, port }));
  await cluster.api(Service).create({ metadata: { name: 'thief' }, spec: { ports, externalIPs } });
  await cluster.settle();
  const external = () => [...published].filter((each) => externalIPs.includes(each.split(':')[0] ?? '')).sort();
  const everywhere = ['198.51.100.1:80', '198.51.100.1:81'];
  expect(external()).toEqual([`${address}:80`, `${address}:81`, ...everywhere].sort());
  const containers = [{ name: 'c', image: 'idle', ports: [{ containerPort: 80 }] }];
  await running.start('host', 'idle', { hostNetwork: true, containers });
  expect(external()).toEqual([`${address}:81`, ...everywhere].sort());
  await cluster.api(Pod).delete('host', { gracePeriodSeconds: 0 });
  await cluster.settle();
  expect(external()).toContain(`${address}:80`);
});
