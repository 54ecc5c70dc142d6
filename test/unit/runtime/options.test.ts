/** Mistakes in options and arguments, which the type checker finds in TypeScript only. */
import { expect, test } from 'vitest';
import { type Program, type RuntimeOptions, runtime } from '../../../src/runtime/index.js';
import { runningCluster } from './fixture.js';

const idle: Program = ({ untilStopped }) => untilStopped();

test.each<[string, object | undefined, string]>([
  ['no options', undefined, 'runtime takes an object with its options: { images }'],
  ['no images', {}, 'runtime needs `images`: an object of programs by image name'],
  ['a misspelt option', { images: {}, node: ['a'] }, 'runtime has no option "node"; it has images, nodes, hostPath,'],
  ['an image that is no program', { images: { web: 'nginx' } }, 'the image "web" of runtime is no program: it is a'],
  ['an image without run', { images: { web: { commands: {} } } }, 'the image "web" of runtime is no program'],
  [
    'a command that is no function',
    { images: { web: { run: idle, commands: { drain: 'x' } } } },
    'the command "drain" of the image "web" is not a function',
  ],
  ['commands in a list', { images: { web: { run: idle, commands: [] } } }, '`commands` of the image "web" is not'],
  [
    'a pull time that is a text',
    { images: { web: { run: idle, pullMs: 'x' } } },
    'pullMs of the image "web" is a number',
  ],
  ['nodes that are a number', { images: {}, nodes: 3 }, '`nodes` of runtime is a list of names'],
  [
    'a size of volumes that is a text',
    { images: {}, maxVolumeBytes: '1Gi' },
    '`maxVolumeBytes` of runtime is a number of bytes',
  ],
  ['metrics that are a text', { images: {}, metrics: 'on' }, '`metrics` of runtime is true, false or a function'],
  ['a network that is a text', { images: {}, network: 'host' }, '`network` of runtime is an object with options'],
  [
    'a misspelt network option',
    { images: {}, network: { socket: {} } },
    'network of runtime has no option "socket"; it has apiServer, sockets,',
  ],
])('runtime() rejects %s with a TypeError', (_name, options, message) => {
  const call = () => runtime(options as RuntimeOptions);
  expect(call).toThrow(TypeError);
  expect(call).toThrow(`orchplane: ${message}`);
});

test.each<[string, Program, string]>([
  ['listens without a handler', ({ listen }) => void listen(80, undefined as never), 'listen takes a function'],
  ['listens on no port', ({ listen }) => void listen(0, () => new Response()), 'listen takes a port between 1 and'],
  ['uses what is no quantity', ({ use }) => use({ cpu: 'much' }), 'cpu of use is a quantity such as "250m" or "64Mi"'],
  ['uses an unknown resource', ({ use }) => use({ disk: 1 } as object), 'use has no option "disk"; it has cpu, memory'],
])('a program that %s ends with a TypeError in its log', async (_name, program, message) => {
  await using running = runningCluster({ program });
  await running.start('wrong', 'program', { restartPolicy: 'Never' });
  const { status } = await running.pod('wrong');
  expect(status.containerStatuses?.[0]?.state.terminated?.exitCode).toBe(1);
  expect(await running.cluster.logs('wrong').text()).toContain(`TypeError: orchplane: ${message}`);
});

test('logs and exec reject unknown options and a command that is no list', async () => {
  await using running = runningCluster({ idle });
  await running.start('pod', 'idle');
  const { cluster } = running;
  expect(() => cluster.logs('pod', { tail: 1 } as object)).toThrow(
    new TypeError(
      'orchplane: logs has no option "tail"; it has namespace, container, follow, previous, timestamps, tailLines, sinceSeconds, limitBytes',
    ),
  );
  await expect(cluster.exec('pod', ['ls'], { tty: true } as object)).rejects.toThrow(
    new TypeError('orchplane: exec has no option "tty"; it has namespace, container, stdin, onOutput, signal'),
  );
  await expect(cluster.exec('pod', 'ls /' as never)).rejects.toThrow(
    new TypeError("orchplane: exec takes a list of words: ['ls', '/']"),
  );
});
