/** Containers that are processes of this machine, without isolation and in Linux namespaces. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, createCluster } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Service } from 'orchplane/kinds';
import { bridgeSockets, nodeSockets, type ProcessImagesOptions, processImages } from 'orchplane/node';
import { type Program, runtime } from 'orchplane/runtime';
import { describe, expect, test } from 'vitest';
import type { PodInput } from '../../../src/kinds/generated/core-v1.js';

/** Whether this machine allows what containers in namespaces need: an overlay and an interface. */
function canUseNamespaces(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const commands = [
    'command -v nsenter',
    'command -v setpriv',
    'command -v chroot',
    'ip link add test0 type bridge',
    'mount -t tmpfs tmpfs /mnt',
    'mkdir /mnt/upper /mnt/work /mnt/root',
    'mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root',
  ];
  try {
    execFileSync('unshare', ['--mount', '--net', 'sh', '-c', commands.join(' && ')], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const hasNamespaces = canUseNamespaces();

/** Of temporary directories. */
const PREFIX = 'orchplane-pod-';

const SERVER = `
require('http').createServer((request, response) => response.end('from ' + process.env.NAME + ' ' + request.url))
  .listen(8080, process.env.ORCHPLANE_ADDRESS ?? '0.0.0.0', () => console.log('listening'));
`;

function clusterWith(options: ProcessImagesOptions, programs: Readonly<Record<string, Program>> = {}): Cluster {
  const definitions = {
    busybox: { command: ['sh'] },
    node: { command: [process.execPath], programs: { '/bin/node-of-image': process.execPath } },
  };
  return createCluster({
    dialect: 'kubernetes',
    controllers: controllers([
      ...standardControllers(),
      ...runtime({
        images: { ...processImages(definitions, options), ...programs },
        hostPath: true,
        network: { sockets: options.isolation === 'namespaces' ? bridgeSockets : nodeSockets },
      }),
    ]),
  });
}

async function run(cluster: Cluster, name: string, spec: NonNullable<PodInput['spec']>): Promise<void> {
  await cluster.api(Pod).create({ metadata: { name, labels: { app: name } }, spec });
}

async function until(cluster: Cluster, name: string, phase: string) {
  const found = await cluster.api(Pod).waitFor(name, (pod) => pod?.status.phase === phase, { timeoutMs: 30_000 });
  if (found === undefined) throw new Error(`the pod ${name} is gone`);
  return found;
}

const cases: readonly (readonly [ProcessImagesOptions['isolation'] & string, boolean])[] = [
  ['none', true],
  ['namespaces', hasNamespaces],
];

describe.each(cases)('processes with isolation %s', (isolation, isPossible) => {
  const at = isolation === 'none' ? '$ORCHPLANE_ROOT' : '';

  test.runIf(isPossible)('have their environment, files, exit code and log, and leave nothing', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
    const cluster = clusterWith({ isolation });
    await cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data: { mode: 'fast' } });
    await run(cluster, 'job', {
      restartPolicy: 'Never',
      volumes: [
        { name: 'settings', configMap: { name: 'settings', defaultMode: 0o400 } },
        { name: 'scratch', emptyDir: {} },
      ],
      containers: [
        {
          name: 'c',
          image: 'busybox:1.36',
          command: ['sh', '-c'],
          args: [
            `echo $GREETING; cat ${at}/etc/settings/mode; echo; ls ${at}/etc/settings; echo oops >&2; ` +
              `echo done > ${at}/dev/termination-log; echo x > ${at}/scratch/x; exit 4`,
          ],
          env: [{ name: 'GREETING', value: 'hello' }],
          volumeMounts: [
            { name: 'settings', mountPath: '/etc/settings' },
            { name: 'scratch', mountPath: '/scratch' },
          ],
        },
      ],
    });
    const { status } = await until(cluster, 'job', 'Failed');
    expect((await cluster.logs('job').text()).split('\n').sort().join('\n').trim()).toBe('fast\nhello\nmode\noops');
    expect(status.containerStatuses?.[0]?.state.terminated).toMatchObject({ exitCode: 4, message: 'done\n' });
    await cluster.close();
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX))).toEqual(before);
  });

  test.runIf(isPossible)('are not contained: they read the files of this machine as its user', async () => {
    await using cluster = clusterWith({ isolation });
    const file = '/etc/passwd';
    await run(cluster, 'spy', {
      restartPolicy: 'Never',
      containers: [{ name: 'c', image: 'busybox', args: ['-c', `id -u; wc -c < ${file}; echo $HOME`] }],
    });
    await until(cluster, 'spy', 'Succeeded');
    const [user, size, home] = (await cluster.logs('spy').text()).split('\n').map((line) => line.trim());
    expect({ user, size, home }).toEqual({
      user: String(process.getuid?.()),
      size: String(statSync(file).size),
      // Variables of this process are not passed on.
      home: '',
    });
  });

  test.runIf(isPossible)('create the directory and the file of a hostPath volume if its type says so', async () => {
    await using cluster = clusterWith({ isolation });
    const folder = mkdtempSync(join(tmpdir(), 'orchplane-host-'));
    const [directory, file] = [join(folder, 'new/directory'), join(folder, 'file')];
    await run(cluster, 'writer', {
      restartPolicy: 'Never',
      volumes: [
        { name: 'directory', hostPath: { path: directory, type: 'DirectoryOrCreate' } },
        { name: 'file', hostPath: { path: file, type: 'FileOrCreate' } },
      ],
      containers: [
        {
          name: 'c',
          image: 'busybox',
          command: ['sh', '-c', `echo in > ${at}/directory/x; echo on > ${at}/file`],
          volumeMounts: [
            { name: 'directory', mountPath: '/directory' },
            { name: 'file', mountPath: '/file' },
          ],
        },
      ],
    });
    await until(cluster, 'writer', 'Succeeded');
    expect([join(directory, 'x'), file].map((path) => readFileSync(path, 'utf8'))).toEqual(['in\n', 'on\n']);
    rmSync(folder, { recursive: true });
  });

  test.runIf(isPossible)('do not start if a hostPath volume has another type than it says', async () => {
    await using cluster = clusterWith({ isolation });
    await run(cluster, 'reader', {
      restartPolicy: 'Never',
      volumes: [{ name: 'users', hostPath: { path: '/etc/passwd', type: 'Directory' } }],
      containers: [{ name: 'c', image: 'busybox', volumeMounts: [{ name: 'users', mountPath: '/users' }] }],
    });
    await until(cluster, 'reader', 'Failed');
    expect(await cluster.logs('reader').text()).toContain('hostPath type check failed: /etc/passwd is not a directory');
  });

  test.runIf(isPossible)('keep the content of a PersistentVolumeClaim for the next pod', async () => {
    await using cluster = clusterWith({ isolation });
    const capacity = { storage: '1Gi' };
    const accessModes = ['ReadWriteOnce'] as const;
    await cluster.api(PersistentVolume).create({
      metadata: { name: 'disk' },
      spec: { capacity, accessModes: [...accessModes], hostPath: { path: '/none' } },
    });
    await cluster.api(PersistentVolumeClaim).create({
      metadata: { name: 'data' },
      spec: { accessModes: [...accessModes], resources: { requests: capacity }, storageClassName: '' },
    });
    const spec = (command: string): NonNullable<PodInput['spec']> => ({
      restartPolicy: 'Never',
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      containers: [
        {
          name: 'c',
          image: 'busybox',
          command: ['sh', '-c', command],
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
    });
    await run(cluster, 'writer', spec(`echo kept > ${at}/data/file`));
    await until(cluster, 'writer', 'Succeeded');
    await cluster.api(Pod).delete('writer');
    await run(cluster, 'reader', spec(`cat ${at}/data/file`));
    await until(cluster, 'reader', 'Succeeded');
    expect(await cluster.logs('reader').text()).toBe('kept\n');
  });

  test.runIf(isPossible)('can be executed in, stopped and reached through a Service', async () => {
    const answers: string[] = [];
    const client: Program = async ({ fetch }) => {
      answers.push(await (await fetch('http://web/path')).text());
    };
    await using cluster = clusterWith({ isolation }, { client });
    await cluster.api(Service).create({
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    await run(cluster, 'web', {
      containers: [
        {
          name: 'c',
          image: 'node',
          args: ['-e', SERVER],
          env: [{ name: 'NAME', value: 'web' }],
          readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 },
        },
      ],
    });
    const ready = await cluster
      .api(Pod)
      .waitFor('web', (pod) =>
        (pod?.status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
      );
    expect(ready?.status.podIP).toMatch(/^10\.244\./);
    const { stdout, exitCode } = await cluster.exec('web', ['sh', '-c', 'cat; echo $NAME; exit 3'], { stdin: 'in ' });
    expect({ stdout, exitCode }).toEqual({ stdout: 'in web\n', exitCode: 3 });
    await cluster.settle();
    await run(cluster, 'client', { restartPolicy: 'Never', containers: [{ name: 'c', image: 'client' }] });
    await until(cluster, 'client', 'Succeeded');
    expect(answers).toEqual(['from web /path']);
    if (isolation === 'namespaces') {
      await run(cluster, 'process', {
        restartPolicy: 'Never',
        containers: [
          {
            name: 'c',
            image: 'node',
            args: ['-e', "fetch('http://web.default/x').then(async (r) => console.log(await r.text()))"],
          },
        ],
      });
      await until(cluster, 'process', 'Succeeded');
      expect(await cluster.logs('process').text()).toBe('from web /x\n');
    }
    const beganMs = performance.now();
    await cluster.api(Pod).delete('web', { gracePeriodSeconds: 2 });
    await cluster.api(Pod).waitFor('web', (pod) => pod === undefined, { timeoutMs: 30_000 });
    expect(performance.now() - beganMs).toBeLessThan(20_000);
  });
});

/** The capabilities of this process except NET_RAW. */
function allButNetRaw(): string {
  const [, bounding = '0'] = /^CapBnd:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return (BigInt(`0x${bounding}`) & ~0x2000n).toString(16);
}

test.runIf(hasNamespaces).each([
  [{ drop: ['ALL'], add: ['NET_BIND_SERVICE'] }, '404c0'],
  [{ drop: ['CAP_CHOWN', 'NET_RAW'] }, 'a80405fa'],
  [{ drop: ['NO_SUCH_CAPABILITY', 'NET_RAW'] }, 'a80405fb'],
  [{ drop: ['NO_SUCH_CAPABILITY', 'NET_RAW'], add: ['ALL'] }, hasNamespaces ? allButNetRaw() : ''],
  [{}, 'a80425fb'],
])('processes in namespaces have the capabilities %j', async (capabilities, expected) => {
  await using cluster = clusterWith({ isolation: 'namespaces' });
  const command = [
    'sh',
    '-c',
    'while read name value; do [ $name = CapBnd: ] && echo $value; done < /proc/self/status; :',
  ];
  await run(cluster, 'limited', {
    restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'busybox', command, securityContext: { capabilities } }],
  });
  await until(cluster, 'limited', 'Succeeded');
  expect((await cluster.logs('limited').text()).trim().replace(/^0+/, '')).toBe(expected);
});
