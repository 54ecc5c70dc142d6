/** `orchplane serve --etcd-snapshot` and `orchplane snapshot`, without a process of their own. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCluster, mergePatch } from 'orchplane';
import { openEtcdSnapshot, writeEtcdSnapshot } from 'orchplane/etcd';
import { ConfigMap, Endpoints, SelfSubjectAccessReview, ServiceAccount } from 'orchplane/kinds';
import { fileJournal, serve } from 'orchplane/node';
import { fakeClock } from 'orchplane/testing';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { replaceFile } from '../../../../src/etcd/replaceable-file.js';
import { startFromSnapshot } from '../../../../src/node/serve-snapshot.js';
import { run } from './run.js';

const CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
---
apiVersion: example.com/v1
kind: Widget
metadata: { name: w, namespace: default }
`;

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orchplane-snapshot-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

const settingsOf = (file: string, isWritable: boolean) =>
  ({ file, prefix: undefined, skip: [], skipHashCheck: false, isWritable }) as const;

async function writtenSnapshot(): Promise<string> {
  await using cluster = createCluster({ dialect: 'kubernetes' });
  await cluster.api(ConfigMap).create({ metadata: { name: 'kept' } });
  await cluster.api(ServiceAccount).create({ metadata: { name: 'robot' } });
  const file = join(folder, 'snapshot.db');
  await writeEtcdSnapshot(file, cluster);
  return file;
}

test('a served snapshot refuses writes and lets everything else through', async () => {
  const start = await startFromSnapshot(settingsOf(await writtenSnapshot(), false), 'kubernetes');
  await using cluster = start.create({ dialect: 'kubernetes' });
  using _attached = start.attach(cluster, () => undefined);
  const configMaps = cluster.api(ConfigMap);
  const refused = { reason: 'Forbidden', code: 403 };
  await expect(configMaps.create({ metadata: { name: 'new' } })).rejects.toMatchObject({
    ...refused,
    message: expect.stringContaining('the cluster is an etcd snapshot that is served read-only'),
  });
  await expect(configMaps.patch('kept', mergePatch({ data: { a: 'b' } }))).rejects.toMatchObject(refused);
  await expect(configMaps.delete('kept')).rejects.toMatchObject(refused);
  expect((await configMaps.create({ metadata: { name: 'new' } }, { dryRun: true })).metadata.name).toBe('new');
  const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
  expect((await cluster.api(SelfSubjectAccessReview).create(review)).status?.allowed).toBe(true);
  expect((await configMaps.get('kept')).metadata.name).toBe('kept');
});

test('the server changes nothing in a read-only snapshot', async () => {
  const clock = fakeClock();
  const start = await startFromSnapshot(settingsOf(await writtenSnapshot(), false), 'kubernetes');
  await using cluster = start.create({ dialect: 'kubernetes', clock });
  using _attached = start.attach(cluster, () => undefined);
  const before = await cluster.api(Endpoints).get('kubernetes');
  const version = cluster.resourceVersion;
  await using _server = await serve(cluster, { host: '127.0.0.1' });
  await clock.advance(60_000);
  expect(await cluster.api(Endpoints).get('kubernetes')).toBe(before);
  expect(cluster.resourceVersion).toBe(version);
});

test('a writable snapshot is a normal cluster', async () => {
  const start = await startFromSnapshot(settingsOf(await writtenSnapshot(), true), 'kubernetes');
  await using cluster = start.create({ dialect: 'kubernetes' });
  using _attached = start.attach(cluster, () => undefined);
  await cluster.api(ConfigMap).delete('kept');
  expect(await cluster.api(ConfigMap).find('kept')).toBeUndefined();
});

test('the error about kinds that are not served names the options that help', async () => {
  const start = await startFromSnapshot(settingsOf(await writtenSnapshot(), false), 'kubernetes');
  expect(() => start.create({ dialect: 'kubernetes', kinds: [ConfigMap] })).toThrow(
    '--runtime-config serves more kinds, --snapshot-skip unserved leaves them out',
  );
});

test('snapshot reads a running cluster through its API', async () => {
  await using cluster = createCluster({ dialect: 'kubernetes' });
  await cluster.applyYaml(CRD);
  await using server = await serve(cluster, { kubeconfig: join(folder, 'kubeconfig') });
  const output = join(folder, 'served.db');
  const count = cluster.storageReader.everything().length;
  expect(await run(['snapshot', '-o', output, '--kubeconfig', server.kubeconfig])).toEqual({
    code: 0,
    out: `wrote ${count} objects at resourceVersion ${cluster.resourceVersion} to ${output}\n`,
    err: '',
  });
  const { objects } = await openEtcdSnapshot(output);
  const uids = (list: readonly { metadata: { uid: string } }[]) => list.map(({ metadata }) => metadata.uid).sort();
  expect(uids(objects)).toEqual(uids(cluster.storageReader.everything()));
});

test('snapshot takes the cluster from KUBECONFIG, and a context and a token', async () => {
  await using cluster = createCluster({ dialect: 'kubernetes' });
  await using _server = await serve(cluster, { kubeconfig: join(folder, 'kubeconfig'), token: 'secret' });
  const output = join(folder, 'served.db');
  const variables = { KUBECONFIG: join(folder, 'kubeconfig') };
  expect((await run(['snapshot', '-o', output], { variables })).code).toBe(0);
  expect(await run(['snapshot', '-o', output, '--context', 'other'], { variables })).toMatchObject({
    code: 2,
    out: '',
  });
  expect((await run(['snapshot', '-o', output, '--token', 'wrong'], { variables })).err).toMatch(
    /^orchplane: [^\n]*Unauthorized\n$/,
  );
});

test('snapshot rejects a dialect that the cluster does not have', async () => {
  await using cluster = createCluster({ dialect: 'orch' });
  await using server = await serve(cluster, { kubeconfig: join(folder, 'kubeconfig') });
  expect(await run(['snapshot', '-o', join(folder, 'x.db'), '--kubeconfig', server.kubeconfig])).toEqual({
    code: 2,
    out: '',
    err: 'orchplane: the cluster has the dialect orch; add --dialect orch\n',
  });
  expect(readdirSync(folder)).toEqual(['kubeconfig']);
});

test('a snapshot is written neither through a symbolic link nor in the place of a folder or a device', async () => {
  await using cluster = createCluster({ dialect: 'kubernetes' });
  const [target, link, subfolder] = ['target', 'link.db', 'folder.db'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(target, 'kept');
  symlinkSync(target, link);
  mkdirSync(subfolder);
  await expect(writeEtcdSnapshot(link, cluster)).rejects.toThrow(`${link} is a symbolic link; it is left as it is`);
  await expect(writeEtcdSnapshot(subfolder, cluster)).rejects.toThrow(`${subfolder} is no regular file`);
  await expect(writeEtcdSnapshot('/dev/null', cluster)).rejects.toThrow('/dev/null is no regular file');
  expect(readdirSync(folder).sort()).toEqual(['folder.db', 'link.db', 'target']);
  expect(readFileSync(target, 'utf8')).toBe('kept');
});

test('nothing remains of a file whose writing fails', async () => {
  const file = join(folder, 'x.db');
  const failing = replaceFile(file, 0o600, async (append) => {
    await append('a part');
    throw new Error('no more');
  });
  await expect(failing).rejects.toThrow('no more');
  expect(readdirSync(folder)).toEqual([]);
});

test('snapshot reads a data folder', async () => {
  const data = join(folder, 'data');
  const cluster = createCluster({ dialect: 'kubernetes', journal: fileJournal(join(data, 'journal')) });
  await cluster.applyYaml(CRD);
  await cluster.api(ConfigMap).create({ metadata: { name: 'gone' } });
  await cluster.api(ConfigMap).delete('gone');
  const present = cluster.storageReader.everything().length;
  await cluster.close();
  const output = join(folder, 'folder.db');
  expect((await run(['snapshot', '-o', output, '--data', data])).out).toContain(`wrote ${present} objects`);
  const snapshot = await openEtcdSnapshot(output);
  expect(snapshot.resourceVersion).toBe(cluster.resourceVersion);
  expect(snapshot.objects.find(({ kind }) => kind === 'Widget')?.metadata.name).toBe('w');
  expect(snapshot.objects.some(({ metadata }) => metadata.name === 'gone')).toBe(false);
});

test('snapshot refuses a folder without a cluster', async () => {
  expect(await run(['snapshot', '-o', join(folder, 'x.db'), '--data', folder])).toEqual({
    code: 2,
    out: '',
    err: `orchplane: --data ${folder} is not the folder of a cluster\n`,
  });
});

test('names the file and the line of an object that a new cluster does not take', async () => {
  const file = join(folder, 'app.yaml');
  writeFileSync(
    file,
    'apiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\n',
  );
  const data = join(folder, 'new');
  const recording = join(folder, 'r.jsonl');
  writeFileSync(recording, '{"kind":"Recording","apiVersion":"orchplane/v1"}\n');
  const err = `orchplane: ${file}:5 (document 2): ConfigMap settings has no namespace; the file is to contain objects as a server returns them, as those of "orchplane import" do\n`;
  expect(await run(['restore', file, '--data', data])).toEqual({ code: 2, out: '', err });
  expect(readdirSync(folder)).not.toContain('new');
  expect(await run(['replay', recording, '--from', file])).toEqual({ code: 2, out: '', err });
});
