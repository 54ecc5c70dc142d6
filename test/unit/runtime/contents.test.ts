/** What a container finds: environment, files, commands, its client and its log. */
import { expect, test } from 'vitest';
import { createFetchHandler } from '../../../src/http/index.js';
import {
  ConfigMap,
  CoreEvent,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from '../../../src/kinds/index.js';
import type { Program } from '../../../src/runtime/index.js';
import { idle, type RunningCluster, runningCluster } from './fixture.js';

test('variables come from values, other variables, the pod, resources, ConfigMaps, Secrets and Services', async () => {
  let seen: Readonly<Record<string, string>> = {};
  let words: readonly string[] = [];
  await using running = runningCluster({
    show: ({ env, args, command }) => {
      seen = env;
      words = [...command, ...args];
    },
  });
  const { cluster } = running;
  await cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data: { MODE: 'fast', LEVEL: '3' } });
  await cluster.api(Secret).create({ metadata: { name: 'keys' }, stringData: { password: 'secret' } });
  await cluster
    .api(Service)
    .create({ metadata: { name: 'my-db' }, spec: { clusterIP: '10.0.0.77', ports: [{ port: 5432 }] } });
  await running.start('shown', 'show', {
    restartPolicy: 'Never',
    containers: [
      {
        name: 'c',
        image: 'show',
        command: ['run', '$(WHO)'],
        args: ['$(MISSING)', '$$(WHO)'],
        resources: { limits: { cpu: '1500m', memory: '64Mi' } },
        envFrom: [{ prefix: 'S_', configMapRef: { name: 'settings' } }],
        env: [
          { name: 'WHO', value: 'world' },
          { name: 'GREETING', value: 'hello $(WHO) in $(S_MODE) mode, $(MY_DB_SERVICE_HOST)' },
          { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
          { name: 'MEBIBYTES', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
          { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'LEVEL' } } },
          { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'keys', key: 'password' } } },
          { name: 'ABSENT', valueFrom: { secretKeyRef: { name: 'keys', key: 'none', optional: true } } },
        ],
      },
    ],
  });
  expect(seen).toMatchObject({
    S_MODE: 'fast',
    S_LEVEL: '3',
    GREETING: 'hello world in fast mode, 10.0.0.77',
    POD: 'shown',
    ADDRESS: '10.244.0.1',
    CPUS: '2',
    MEBIBYTES: '64',
    LEVEL: '3',
    PASSWORD: 'secret',
    HOSTNAME: 'shown',
    MY_DB_SERVICE_HOST: '10.0.0.77',
    MY_DB_PORT_5432_TCP: 'tcp://10.0.0.77:5432',
  });
  expect(seen).not.toHaveProperty('ABSENT');
  expect(words).toEqual(['run', 'world', '$(MISSING)', '$(WHO)']);
});

test('a variable may have the name __proto__', async () => {
  const seen: (readonly [string, string])[] = [];
  await using running = runningCluster({ show: ({ env }) => void seen.push(...Object.entries(env)) });
  const data = Object.fromEntries([['__proto__', 'from the ConfigMap']]);
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data });
  const envFrom = [{ configMapRef: { name: 'settings' } }];
  const start = (name: string, env: { readonly name: string; readonly value: string }[]) =>
    running.start(name, 'show', { restartPolicy: 'Never', containers: [{ name: 'c', image: 'show', envFrom, env }] });
  await start('one', []);
  await start('two', [
    { name: '__proto__', value: 'own' },
    { name: 'COPY', value: '$(__proto__)' },
  ]);
  expect(seen.filter(([name]) => name === '__proto__' || name === 'COPY')).toEqual([
    ['__proto__', 'from the ConfigMap'],
    ['__proto__', 'own'],
    ['COPY', 'own'],
  ]);
});

test('a container waits for its ConfigMap', async () => {
  await using running = runningCluster({ idle });
  await running.start('waiting', 'idle', {
    containers: [{ name: 'c', image: 'idle', envFrom: [{ configMapRef: { name: 'late' } }] }],
  });
  const state = async () => (await running.pod('waiting')).status.containerStatuses?.[0]?.state;
  expect(await state()).toEqual({
    waiting: { reason: 'CreateContainerConfigError', message: 'configmap "late" not found' },
  });
  expect(await running.events('waiting')).toContain('Failed Error: configmap "late" not found');
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'late' } });
  await running.advance(10_000);
  expect(await state()).toMatchObject({ running: {} });
});

test('volumes have live content, except behind a subPath', async () => {
  await using running = runningCluster({ idle });
  const { cluster } = running;
  await cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data: { 'a.txt': 'one', 'b.txt': 'two' } });
  await cluster.api(Secret).create({ metadata: { name: 'keys' }, stringData: { token: 't0' } });
  await running.start('mounted', 'idle', {
    volumes: [
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'renamed', configMap: { name: 'settings', items: [{ key: 'a.txt', path: 'deep/a' }] } },
      { name: 'keys', secret: { secretName: 'keys' } },
      { name: 'about', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'scratch', emptyDir: {} },
    ],
    containers: [
      {
        name: 'c',
        image: 'idle',
        volumeMounts: [
          { name: 'settings', mountPath: '/etc/settings' },
          { name: 'settings', mountPath: '/etc/one', subPath: 'a.txt' },
          { name: 'renamed', mountPath: '/etc/renamed' },
          { name: 'keys', mountPath: '/etc/keys', readOnly: true },
          { name: 'about', mountPath: '/etc/about' },
          { name: 'scratch', mountPath: '/scratch' },
        ],
      },
      { name: 'other', image: 'idle', volumeMounts: [{ name: 'scratch', mountPath: '/shared' }] },
    ],
  });
  const read = async (...paths: string[]) =>
    (await cluster.exec('mounted', ['cat', ...paths], { container: 'c' })).stdout;
  expect(
    await read('/etc/settings/a.txt', '/etc/one', '/etc/renamed/deep/a', '/etc/keys/token', '/etc/about/name'),
  ).toBe('oneoneonet0mounted');
  await cluster.api(ConfigMap).update({
    ...(await cluster.api(ConfigMap).get('settings')),
    data: { 'a.txt': 'changed' },
  });
  await cluster.settle();
  expect(await read('/etc/settings/a.txt')).toBe('changed');
  expect(await read('/etc/one')).toBe('one');
  const { stdout } = await cluster.exec('mounted', ['ls', '/etc/settings'], { container: 'c' });
  expect(stdout).toBe('a.txt\n');
  await cluster.exec('mounted', ['tee', '/scratch/note'], { container: 'c', stdin: 'from c' });
  expect((await cluster.exec('mounted', ['cat', '/shared/note'], { container: 'other' })).stdout).toBe('from c');
  expect(await cluster.exec('mounted', ['cat', '/none'], { container: 'c' })).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'cat: ENOENT: no such file or directory, /none\n',
  });
  const which = 'a container name must be specified for pod mounted, choose one of: [c other]';
  await expect(cluster.exec('mounted', ['ls'])).rejects.toThrow(which);
  await expect(cluster.logs('mounted').text()).rejects.toThrow(which);
  await expect(cluster.logs('mounted', { container: 'no' }).text()).rejects.toThrow(
    'container no is not valid for pod mounted',
  );
});

test('a missing volume keeps the pod waiting with an Event', async () => {
  await using running = runningCluster({ idle });
  await running.start('waiting', 'idle', { volumes: [{ name: 'late', secret: { secretName: 'late' } }] });
  expect((await running.pod('waiting')).status.phase).toBe('Pending');
  expect(await running.events('waiting')).toEqual([
    'FailedMount MountVolume.SetUp failed for volume "late" : secret "late" not found',
  ]);
  await running.cluster.api(Secret).create({ metadata: { name: 'late' } });
  await running.advance(2_000);
  expect((await running.pod('waiting')).status.phase).toBe('Running');
});

test('a program acts as its service account, with a token that is renewed', async () => {
  const refusals: string[] = [];
  const tokens: string[] = [];
  const program: Program = async ({ client, files, sleep }) => {
    for (;;) {
      tokens.push(files.readText('/var/run/secrets/kubernetes.io/serviceaccount/token'));
      await client
        .api(Namespace)
        .get('default')
        .catch((error: Error) => refusals.push(error.message));
      await sleep(3_600_000);
    }
  };
  await using running = runningCluster({ program });
  await running.start('agent', 'program');
  expect(refusals[0]).toContain('User "system:serviceaccount:default:default" cannot get resource "namespaces"');
  await running.advance(3_600_000);
  expect(tokens).toHaveLength(2);
  expect(tokens[0]).toMatch(/^eyJ/);
  expect(tokens[1]).not.toBe(tokens[0]);
});

test('files about names and addresses', async () => {
  await using running = runningCluster({ idle });
  await running.start('named', 'idle', {
    hostname: 'box',
    subdomain: 'net',
    hostAliases: [{ ip: '10.0.0.9', hostnames: ['old', 'older'] }],
  });
  const read = async (path: string) => (await running.cluster.exec('named', ['cat', path])).stdout;
  expect(await read('/etc/hostname')).toBe('box\n');
  const hosts = await read('/etc/hosts');
  expect(hosts).toContain('10.244.0.1\tbox.net.default.svc.cluster.local\tbox\n');
  expect(hosts).toContain('10.0.0.9\told\tolder\n');
  expect(await read('/etc/resolv.conf')).toBe(
    'search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.0.0.10\noptions ndots:5\n',
  );
});

/** A volume, a claim in the namespace `default` that is bound to it, and the spec of pods that mount the claim at /data. */
async function diskOf({ cluster }: RunningCluster) {
  const spec = { accessModes: ['ReadWriteOnce' as const], storageClassName: '' };
  await cluster.api(PersistentVolume).create({
    metadata: { name: 'disk' },
    spec: { ...spec, capacity: { storage: '1Gi' }, csi: { driver: 'd', volumeHandle: 'h' } },
  });
  const claim = { ...spec, volumeName: 'disk', resources: { requests: { storage: '1Gi' } } };
  await cluster.api(PersistentVolumeClaim).create({ metadata: { name: 'data' }, spec: claim });
  const mounting = (name: string) => ({
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: name } }],
    containers: [{ name: 'c', image: 'idle', volumeMounts: [{ name: 'v', mountPath: '/data' }] }],
  });
  return { claim, mounting };
}

test('a claim whose status says that it is bound does not lead to a volume that is bound to another claim', async () => {
  await using running = runningCluster({ idle });
  const { cluster } = running;
  const { claim, mounting } = await diskOf(running);
  await running.start('owner', 'idle', mounting('data'));
  await cluster.exec('owner', ['tee', '/data/file'], { stdin: 'kept' });
  await cluster.api(Namespace).create({ metadata: { name: 'other' } });
  const claims = cluster.api(PersistentVolumeClaim, 'other');
  const marks = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
  await claims.create({ metadata: { name: 'data', annotations: marks }, spec: claim });
  await cluster.settle();
  const pods = cluster.api(Pod, 'other');
  await pods.create({ metadata: { name: 'thief' }, spec: { ...mounting('data'), nodeName: 'node-1' } });
  await claims.status.edit('data', ({ status }) => {
    status.phase = 'Bound';
  });
  for (let times = 0; times < 3; times++) await running.advance(2_000);
  expect((await pods.get('thief')).status.phase).toBe('Pending');
  const { uid } = (await cluster.api(PersistentVolumeClaim).get('data')).metadata;
  const { items } = await cluster.api(CoreEvent, 'other').list();
  expect(items.map(({ reason, message }) => `${reason} ${message}`)).toContainEqual(
    expect.stringMatching(
      `FailedMount .*error processing PVC other/data: found PV object disk but its pv.Spec.ClaimRef.UID ${uid} does not point to claim.UID`,
    ),
  );
  // The next pod of the owner finds the content.
  await cluster.api(Pod).delete('owner', { gracePeriodSeconds: 0 });
  await running.start('next', 'idle', mounting('data'));
  expect((await cluster.exec('next', ['cat', '/data/file'])).stdout).toBe('kept');
});

test('a pod that waits for a volume starts as soon as the volume refers to its claim', async () => {
  await using running = runningCluster({ idle });
  const { cluster } = running;
  const { claim, mounting } = await diskOf(running);
  const claims = cluster.api(PersistentVolumeClaim);
  await claims.create({ metadata: { name: 'late' }, spec: { ...claim, volumeName: 'missing' } });
  await cluster.settle();
  await claims.status.edit('late', ({ status }) => {
    status.phase = 'Bound';
  });
  await running.start('one', 'idle', { ...mounting('late'), nodeName: 'node-1' });
  expect((await running.pod('one')).status.phase).toBe('Pending');
  await cluster.api(PersistentVolume).create({
    metadata: { name: 'missing' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      csi: { driver: 'd', volumeHandle: 'm' },
      claimRef: { namespace: 'default', name: 'late', uid: (await claims.get('late')).metadata.uid },
    },
  });
  await cluster.settle();
  expect((await running.pod('one')).status.phase).toBe('Running');
});

test('an ephemeral volume does not use a claim of the same name that the pod does not own', async () => {
  await using running = runningCluster({ idle });
  const { cluster } = running;
  const { claim } = await diskOf(running);
  await cluster.api(PersistentVolumeClaim).delete('data');
  await cluster.api(PersistentVolumeClaim).create({ metadata: { name: 'one-v' }, spec: claim });
  await cluster.api(PersistentVolume).edit('disk', ({ spec }) => {
    spec.claimRef = { namespace: 'default', name: 'one-v' };
  });
  await cluster.settle();
  expect((await cluster.api(PersistentVolumeClaim).get('one-v')).status.phase).toBe('Bound');
  await running.start('one', 'idle', {
    nodeName: 'node-1',
    volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } }],
  });
  expect(await running.events('one')).toContainEqual(
    expect.stringMatching('PVC default/one-v was not created for pod default/one \\(pod is not owner\\)'),
  );
});

test('logs can be followed, cut and dated', async () => {
  const talk: Program = async ({ log, stderr, sleep }) => {
    log('one');
    stderr.write('two\n');
    await sleep(1_000);
    log('three');
    await sleep(1_000);
    log('four');
  };
  await using running = runningCluster({ talk });
  const { cluster } = running;
  await running.start('talk', 'talk', { restartPolicy: 'Never' });
  const followed: string[] = [];
  const following = (async () => {
    for await (const line of cluster.logs('talk', { follow: true, tailLines: 1 })) followed.push(line);
  })();
  await running.advance(1_000);
  await running.advance(1_000);
  await following;
  expect(followed).toEqual(['two', 'three', 'four']);
  expect(await cluster.logs('talk', { tailLines: 2, timestamps: true }).text()).toBe(
    '2026-01-01T00:00:01.000000Z three\n2026-01-01T00:00:02.000000Z four\n',
  );
  expect(await cluster.logs('talk', { sinceSeconds: 1 }).text()).toBe('three\nfour\n');
  const handle = createFetchHandler(cluster);
  const read = async (query: string) =>
    (await handle(new Request(`http://cluster/api/v1/namespaces/default/pods/talk/log?${query}`))).text();
  expect(await read('sinceTime=2026-01-01T00:00:02Z')).toBe('four\n');
  for (const time of ['', 'null']) expect(await read(`sinceTime=${time}`)).toBe('one\ntwo\nthree\nfour\n');
  expect(await cluster.logs('talk', { limitBytes: 6 }).text()).toBe('one\ntw');
  await expect(cluster.logs('talk', { previous: true }).text()).rejects.toThrow(
    'previous terminated container "c" in pod "talk" not found',
  );
  await expect(cluster.logs('missing').text()).rejects.toThrow('pods "missing" not found');
});

test('exec streams the input and the output of a command', async () => {
  await using running = runningCluster({ idle });
  await running.start('one', 'idle');
  const pieces: string[] = [];
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const ended = running.cluster.exec('one', ['cat'], {
    stdin: readable,
    onOutput: (text, stream) => void pieces.push(`${stream}: ${text}`),
  });
  await writer.write(new TextEncoder().encode('first'));
  await expect.poll(() => pieces).toEqual(['stdout: first']);
  await writer.write(new TextEncoder().encode('second'));
  await expect.poll(() => pieces).toEqual(['stdout: first', 'stdout: second']);
  await writer.close();
  expect(await ended).toEqual({ exitCode: 0, stdout: 'firstsecond', stderr: '' });
});

test('an unknown command fails', async () => {
  await using running = runningCluster({ idle });
  await running.start('one', 'idle');
  await expect(running.cluster.exec('one', ['bash'])).rejects.toThrow('executable file not found in $PATH');
});

test.each([
  [true, 'both\n'],
  [false, 'out\n'],
])('with a terminal (%s) standard error is part of standard output', async (tty, expected) => {
  const noisy: Program = ({ stdout, stderr }) => {
    stdout.write(tty ? 'bo' : 'out\n');
    stderr.write(tty ? 'th\n' : 'lost\n');
  };
  await using running = runningCluster({ idle: { run: idle, commands: { noisy } } });
  await running.start('pod', 'idle');
  const query = { command: ['noisy'], stdout: ['true'], tty: [String(tty)] };
  const object = await running.pod('pod');
  const request = { subresource: 'exec', object, scheme: '', port: '', query } as const;
  const connection = await running.cluster.runtimeSlot.runtime?.connect(request);
  if (connection?.type !== 'streams') throw new Error('it is no connection with streams');
  const texts: string[] = [];
  const stdout = new WritableStream<Uint8Array>({ write: (bytes) => void texts.push(new TextDecoder().decode(bytes)) });
  await connection.run({ stdout, signal: new AbortController().signal });
  expect(texts.join('')).toBe(expected);
});

test('a program is a function of this process, which it shares with its caller', async () => {
  const seen: unknown[] = [];
  await using running = runningCluster({ spy: () => void seen.push(globalThis, process.pid) });
  await running.start('spy', 'spy', { restartPolicy: 'Never' });
  expect(seen).toEqual([globalThis, process.pid]);
});
