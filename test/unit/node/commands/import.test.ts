/** `orchplane import` and `orchplane restore`. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, createCluster, errors, mergePatch } from 'orchplane';
import { writeEtcdSnapshot } from 'orchplane/etcd';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Job,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Secret,
  Service,
} from 'orchplane/kinds';
import { serve } from 'orchplane/node';
import { parseCapture } from 'orchplane/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { run } from './run.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orchplane-import-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function served(cluster: Cluster): Promise<string> {
  const server = await serve(cluster, { token: 'secret' });
  onTestFinished(() => server.close());
  return server.kubeconfig;
}

function newCluster(): Cluster {
  const cluster = createCluster({ dialect: 'kubernetes' });
  onTestFinished(() => cluster.close());
  return cluster;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const WIDGETS = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: default}
spec: {size: 1}
`;

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } };

/** A cluster with objects that refer to each other. */
async function filledCluster(): Promise<Cluster> {
  const cluster = newCluster();
  await cluster.applyYaml(WIDGETS);
  await cluster.api(Namespace).create({ metadata: { name: 'prod' } });
  const selector = { matchLabels: { app: 'web' } };
  const deployment = await cluster.api(Deployment).create({ metadata: { name: 'web' }, spec: { selector, template } });
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'web',
    uid: deployment.metadata.uid,
    controller: true,
  };
  await cluster
    .api(ReplicaSet)
    .create({ metadata: { name: 'a-web', ownerReferences: [owner] }, spec: { selector, template } });
  await cluster.api(Pod).create({ metadata: { name: 'p' }, spec: template.spec });
  await cluster.api(Pod).status.patch('p', mergePatch({ status: { phase: 'Running' } }));
  await cluster.api(Secret).create({
    metadata: {
      name: 's',
      annotations: { [LAST_APPLIED]: JSON.stringify({ kind: 'Secret', data: { password: 'c2VjcmV0' } }) },
    },
    stringData: { password: 'secret' },
  });
  await cluster.api(Secret, 'prod').create({
    metadata: { name: 'registry' },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': '{"auths":{"r":{"auth":"secret"}}}' },
  });
  await cluster.api(Service).create({ metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
  await cluster.applyYaml(
    'apiVersion: v1\nkind: Event\nmetadata: {name: e}\ninvolvedObject: {kind: Pod, name: p, namespace: default}\n',
  );
  return cluster;
}

interface Dumped {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}

const dumped = (file: string): readonly Dumped[] =>
  parseCapture(readFileSync(file, 'utf8')).objects as readonly Dumped[];

describe('import', () => {
  test.each(['dump.yaml', 'dump.json'])('writes all objects to %s, without events and leases', async (name) => {
    const cluster = await filledCluster();
    const file = join(folder, name);
    const { code, out, err } = await run(['import', '-o', file, '--kubeconfig', await served(cluster)]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const objects = dumped(file);
    expect(out).toBe(`wrote ${objects.length} objects to ${file}\n`);
    expect(statSync(file).mode & 0o077).toBe(0);
    const isLeftOut = ({ kind, metadata: { name } }: { kind: string; metadata: { name: string } }): boolean =>
      ['Event', 'Lease'].includes(kind) ||
      (name === 'kubernetes' && ['Service', 'Endpoints', 'EndpointSlice', 'ServiceCIDR'].includes(kind));
    const stored = cluster.storageReader.everything().filter((object) => !isLeftOut(object));
    const uids = (list: readonly { metadata: { uid: string } }[]) => list.map(({ metadata }) => metadata.uid).sort();
    expect(uids(objects)).toEqual(uids(stored));
    expect(parseCapture(readFileSync(file, 'utf8')).resourceVersion).toBe(cluster.resourceVersion);
    expect(readdirSync(folder)).toEqual([name]);
  });

  test.each(['dump.yaml', 'dump.json', '-'])(
    'writes invisible characters to %s that are read unchanged',
    async (name) => {
      const cluster = newCluster();
      const data = { a: '\u200fb\u202e', b: 'one\nt\u2066wo\n', c: 'x\u0085y\u2028\u007f\u009f\ufeff\u001b[31m\r' };
      await cluster.api(ConfigMap).create({ metadata: { name: 'odd' }, data });
      const file = name === '-' ? name : join(folder, name);
      const { out } = await run(['import', '-o', file, '--kubeconfig', await served(cluster)]);
      const text = name === '-' ? out : readFileSync(file, 'utf8');
      expect(text.replaceAll('\n', '')).not.toMatch(/[\x7f-\x9f\p{Bidi_Control}\u2028\u2029\ufeff]/u);
      expect(parseCapture(text).objects).toContainEqual(expect.objectContaining({ kind: 'ConfigMap', data }));
      const applied = newCluster();
      await applied.applyYaml(text);
      expect((await applied.api(ConfigMap).get('odd')).data).toEqual(data);
    },
  );

  test('writes a file that can be applied to another cluster', async () => {
    const file = join(folder, 'dump.yaml');
    await run(['import', '-o', file, '--kubeconfig', await served(await filledCluster())]);
    const { code, out, err } = await run(['apply', '-f', file, '--kubeconfig', await served(newCluster())]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('deployment.apps/web created\n');
    expect(out).toContain('widget.example.com/w created\n');
  });

  test('reads only some namespaces, and skips what is not wanted', async () => {
    const kubeconfig = await served(await filledCluster());
    const file = join(folder, 'dump.json');
    await run([
      'import',
      '-o',
      file,
      '--kubeconfig',
      kubeconfig,
      '--namespaces',
      'prod',
      '--skip',
      'clusterroles.rbac.authorization.k8s.io',
    ]);
    const objects = dumped(file);
    const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace));
    expect(namespaces).toEqual(new Set([undefined, 'prod']));
    expect(objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)).toEqual(['prod']);
    expect(objects.some(({ kind }) => kind === 'CustomResourceDefinition')).toBe(true);
    expect(objects.some(({ kind }) => kind === 'ClusterRole')).toBe(false);
    await run(['import', '-o', file, '--kubeconfig', kubeconfig, '--skip', '']);
    expect(dumped(file).some(({ kind }) => kind === 'Event')).toBe(true);
  });

  test('replaces the values of Secrets and keeps their keys', async () => {
    const file = join(folder, 'dump.json');
    const kubeconfig = await served(await filledCluster());
    await run(['import', '-o', file, '--redact-secrets', '--no-managed-fields', '--kubeconfig', kubeconfig]);
    const text = readFileSync(file, 'utf8');
    for (const value of ['c2VjcmV0', btoa('{"auths":{"r":{"auth":"secret"}}}')]) expect(text).not.toContain(value);
    expect(text).not.toContain('managedFields');
    const secrets = dumped(file).filter(({ kind }) => kind === 'Secret');
    expect(secrets.map(({ data }) => data)).toEqual([
      { password: btoa('redacted') },
      { '.dockerconfigjson': btoa('{"auths":{}}') },
    ]);
    const last = secrets[0]?.metadata.annotations?.[LAST_APPLIED];
    expect(JSON.parse(last ?? '')).toEqual({
      kind: 'Secret',
      data: { password: btoa('redacted') },
    });
  });

  test('replaces annotations of Secrets that contain their values', async () => {
    const cluster = newCluster();
    const password = 'hunter"2\n';
    const annotations = {
      plain: `the password is ${password.trim()}`,
      base64: `copy=${btoa(password)}`,
      json: JSON.stringify({ password }),
      short: 'ab',
      contains: 'abc',
      other: 'kept',
    };
    await cluster
      .api(Secret)
      .create({ metadata: { name: 's', annotations }, stringData: { password, short: 'ab', empty: '' } });
    const file = join(folder, 'dump.json');
    await run(['import', '-o', file, '--redact-secrets', '--kubeconfig', await served(cluster)]);
    expect(dumped(file).find(({ kind }) => kind === 'Secret')?.metadata.annotations).toEqual({
      plain: 'redacted',
      base64: 'redacted',
      json: 'redacted',
      short: 'redacted',
      contains: 'abc',
      other: 'kept',
    });
  });

  test('refuses another cluster whose dialect is not that of the imported one', async () => {
    const target = createCluster({ dialect: 'orch' });
    onTestFinished(() => target.close());
    const file = join(folder, 'to.kubeconfig');
    writeFileSync(file, await served(target));
    expect(await run(['import', '--to', file, '--kubeconfig', await served(newCluster())])).toEqual({
      code: 2,
      out: '',
      err: `orchplane: --to ${file}: its dialect is not kubernetes, which is that of the imported cluster\n`,
    });
  });

  test('writes neither through a symbolic link nor in the place of a device', async () => {
    const kubeconfig = await served(newCluster());
    const link = join(folder, 'link.yaml');
    symlinkSync(join(folder, 'target'), link);
    expect(await run(['import', '-o', link, '--kubeconfig', kubeconfig])).toEqual({
      code: 2,
      out: '',
      err: `orchplane: ${link} is a symbolic link; it is left as it is\n`,
    });
    expect((await run(['import', '-o', '/dev/null', '--kubeconfig', kubeconfig])).err).toBe(
      'orchplane: /dev/null is no regular file; it is left as it is\n',
    );
    expect(readdirSync(folder)).toEqual(['link.yaml']);
  });

  test('shows its progress on a terminal only', async () => {
    const kubeconfig = await served(newCluster());
    const args = ['import', '-o', join(folder, 'dump.json'), '--kubeconfig', kubeconfig];
    const { err } = await run(args, { isTerminal: { out: true, error: true } });
    expect(err).toMatch(/\r\[#{12}\.{12}\] \d+\/\d+ \d+ objects, \S+ +\r/);
    expect(err).toMatch(/\r +\r$/);
    expect((await run(args)).err).toBe('');
  });

  test('leaves out what it may not list, and says so', async () => {
    const cluster = newCluster();
    cluster.use(async (request, next) => {
      if (request.verb === 'list' && request.resource.resource === 'secrets') {
        const { errors } = await import('../../../../src/meta/errors.js');
        throw errors.forbidden({ group: '', resource: 'secrets' }, '', 'no');
      }
      return next(request);
    });
    const file = join(folder, 'dump.yaml');
    const { code, err } = await run(['import', '-o', file, '--kubeconfig', await served(cluster)]);
    expect(code).toBe(1);
    expect(err).toMatch(/^orchplane: secrets is left out: secrets is forbidden: [^\n]+\n$/);
    expect(existsSync(file)).toBe(true);
  });

  test('creates the objects in another running cluster, with references to their new uids and with their status', async () => {
    const [from, to] = [await filledCluster(), newCluster()];
    const claim = await from.api(PersistentVolumeClaim).create({
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await from.api(PersistentVolume).create({
      metadata: { name: 'v' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        hostPath: { path: '/v' },
        claimRef: { kind: 'PersistentVolumeClaim', name: 'c', namespace: 'default', uid: claim.metadata.uid },
      },
    });
    const jobPod = { ...template, spec: { ...template.spec, restartPolicy: 'Never' as const } };
    await from.api(Job).create({ metadata: { name: 'j' }, spec: { template: jobPod } });
    const file = join(folder, 'to.kubeconfig');
    writeFileSync(file, await served(to));
    const { code, out, err } = await run(['import', '--to', file, '--kubeconfig', await served(from)]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^created \d+ objects, left \d+ as they were\n$/);
    const owner = await to.api(Deployment).get('web');
    const replicaSet = await to.api(ReplicaSet).get('a-web');
    expect(replicaSet.metadata.ownerReferences?.[0]?.uid).toBe(owner.metadata.uid);
    expect(owner.metadata.uid).not.toBe((await from.api(Deployment).get('web')).metadata.uid);
    expect((await to.api(Pod).get('p')).status?.phase).toBe('Running');
    const bound = await to.api(PersistentVolume).get('v');
    expect(bound.spec?.claimRef?.uid).toBe((await to.api(PersistentVolumeClaim).get('c')).metadata.uid);
    expect((await to.api(Job).get('j')).spec?.selector?.matchLabels).toEqual({
      'batch.kubernetes.io/controller-uid': (await to.api(Job).get('j')).metadata.uid,
    });
    expect((await run(['get', 'widgets', '-o', 'name', '--kubeconfig', file])).out).toBe('widget.example.com/w\n');
  });

  test.each([
    ['import', 'import takes either --output, a file to write, or --to, the kubeconfig of another cluster'],
    ['import -o f --to g', 'import takes either --output'],
    ['import -o f g', 'unexpected "g"; the file is given with --output'],
    ['import -o f --overwrite', '--overwrite needs --to'],
    ['import -o f --namespaces ,', '--namespaces takes names'],
    ['import -o f', 'no cluster is named'],
    ['restore', 'restore takes one file'],
    ['restore a b', 'restore takes one file'],
    ['restore nowhere --data d', 'nowhere: no such file'],
    ['restore package.json --data d', 'package.json is neither an etcd snapshot nor a file of objects'],
    ['restore package.json --data src', '--data src is not empty; a cluster is restored to a new folder'],
    ['restore f --data d --kubeconfig k', '--data and --kubeconfig contradict each other'],
    ['restore f --runtime-config api/all=true', '--runtime-config needs --data'],
    ['restore f --snapshot-skip unserved', '--snapshot-skip unserved needs --data'],
    ['restore f --snapshot-skip all', '--snapshot-skip takes unserved and encrypted, got "all"'],
    [
      'restore package.json --data d --etcd-prefix /x',
      '--etcd-prefix needs an etcd snapshot, and package.json is none',
    ],
    ['import --to= --kubeconfig k', 'import takes either --output'],
  ])('rejects "%s" with one line and exit code 2', async (line, problem) => {
    const { code, out, err } = await run(line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^orchplane: [^\n]+\n$/);
    expect(err).toContain(problem);
    expect(existsSync('d')).toBe(false);
  });

  test('refuses a namespace that does not exist, and writes no file', async () => {
    const file = join(folder, 'dump.yaml');
    const args = ['import', '-o', file, '--namespaces', 'nowhere', '--kubeconfig', await served(newCluster())];
    expect(await run(args)).toEqual({ code: 2, out: '', err: 'orchplane: namespaces "nowhere" not found\n' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('restore', () => {
  test.each(['dump.yaml', 'snapshot.db'])('creates a folder from %s, with all objects as they were', async (name) => {
    const cluster = await filledCluster();
    const file = join(folder, name);
    if (name === 'snapshot.db') await writeEtcdSnapshot(file, cluster);
    else await run(['import', '-o', file, '--skip', '', '--kubeconfig', await served(cluster)]);
    const data = join(folder, 'data');
    // An import leaves out the four objects that a server writes about itself.
    const count = cluster.storageReader.everything().length - (name === 'snapshot.db' ? 0 : 4);
    expect(await run(['restore', file, '--data', data])).toEqual({
      code: 0,
      out: `restored ${count} objects at resourceVersion ${cluster.resourceVersion} to ${data}\n`,
      err: '',
    });
    for (const what of ['pod/p', 'widget/w', 'replicaset/a-web', 'service/web']) {
      const before = JSON.parse((await run(['get', what, '-o', 'json', '--kubeconfig', await served(cluster)])).out);
      expect(JSON.parse((await run(['get', what, '-o', 'json', '--data', data])).out)).toEqual(before);
    }
    expect((await run(['restore', file, '--data', data])).err).toContain('is not empty');
  });

  test('restores into a running cluster, and replaces existing objects on request', async () => {
    const file = join(folder, 'dump.json');
    await run(['import', '-o', file, '--namespaces', 'default', '--kubeconfig', await served(await filledCluster())]);
    const target = newCluster();
    await target.api(Secret).create({ metadata: { name: 's' }, stringData: { password: 'other' } });
    const kubeconfig = await served(target);
    expect(await run(['restore', file, '--kubeconfig', kubeconfig])).toMatchObject({ code: 0, err: '' });
    expect((await target.api(Secret).get('s')).data).toEqual({ password: btoa('other') });
    const { code, out } = await run(['restore', file, '--overwrite', '--kubeconfig', kubeconfig]);
    expect(out).toMatch(/replaced \d+/);
    expect(code).toBe(0);
    expect((await target.api(Secret).get('s')).data).toEqual({ password: 'c2VjcmV0' });
  });

  test('leaves an existing CustomResourceDefinition as it is unless it may replace it', async () => {
    const file = join(folder, 'crds.json');
    await run(['import', '-o', file, '--kubeconfig', await served(await filledCluster())]);
    const target = await filledCluster();
    const crds = target.api(CustomResourceDefinition);
    const [crd] = (await crds.list()).items;
    const name = crd?.metadata.name ?? '';
    await crds.edit(name, (draft) => {
      draft.spec.names.singular = 'changed';
    });
    const kubeconfig = await served(target);
    expect((await run(['restore', file, '--kubeconfig', kubeconfig])).code).toBe(0);
    expect((await crds.get(name)).spec.names.singular).toBe('changed');
    expect((await run(['restore', file, '--overwrite', '--kubeconfig', kubeconfig])).code).toBe(0);
    expect((await crds.get(name)).spec.names.singular).toBe(crd?.spec.names.singular);
  });

  test('reports objects that the running cluster rejects', async () => {
    const file = join(folder, 'dump.yaml');
    const object = (kind: string, name: string): string =>
      `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: default}\n`;
    writeFileSync(file, [object('ConfigMap', 'A'), object('ConfigMap', 'b'), object('Gadget', 'g')].join('---\n'));
    const target = newCluster();
    const { code, out, err } = await run(['restore', file, '--kubeconfig', await served(target)]);
    expect({ code, out }).toEqual({ code: 1, out: 'created 1 object, not restored: 2\n' });
    expect(err).toMatch(
      /^orchplane: ConfigMap default\/A: [^\n]+\norchplane: Gadget default\/g: no kind Gadget in v1 is served\n$/,
    );
    expect((await target.api(ConfigMap).get('b')).metadata.name).toBe('b');
  });

  test('sends a request again three times if the running cluster is overloaded', async () => {
    const file = join(folder, 'dump.yaml');
    writeFileSync(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: default}\n');
    const target = newCluster();
    let attempts = 0;
    target.use((request, next) => {
      if (request.verb !== 'create' || request.resource.resource !== 'configmaps') return next(request);
      attempts++;
      throw errors.tooManyRequests('slow down', 0);
    });
    const { code, out } = await run(['restore', file, '--kubeconfig', await served(target)]);
    expect({ code, out, attempts }).toEqual({ code: 1, out: 'created 0 objects, not restored: 1\n', attempts: 4 });
  });

  test('leaves no folder behind when objects cannot be restored', async () => {
    const file = join(folder, 'dump.yaml');
    writeFileSync(file, 'apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g, namespace: default}\n');
    const data = join(folder, 'data');
    const { code, err } = await run(['restore', file, '--data', data]);
    expect(code).toBe(2);
    expect(err).toMatch(/^orchplane: [^\n]*this cluster serves no [^\n]*--snapshot-skip unserved leaves them out\n$/);
    expect(existsSync(data)).toBe(false);
    mkdirSync(data);
    expect((await run(['restore', file, '--data', data, '--snapshot-skip', 'unserved'])).code).toBe(0);
  });
});
