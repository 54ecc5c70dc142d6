/** Snapshots: opened, written, and checked by etcd's own tools where they are installed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type ApiObject, createCluster } from 'orchplane';
import { openEtcdSnapshot, writeEtcdSnapshot } from 'orchplane/etcd';
import { ClusterRole, ConfigMap, Service } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { encodeJson } from '../../../src/codec/json-encoder.js';
import { ALL_KINDS, expectedContent, idOf, snapshotBytes, temporaryFile } from './fixture.js';

const everythingOf = (objects: readonly ApiObject[]) =>
  [...objects].sort((left, right) => (idOf(left) < idOf(right) ? -1 : 1));

const withHash = (database: Uint8Array): Buffer =>
  Buffer.concat([database, createHash('sha256').update(database).digest()]);

describe('openEtcdSnapshot', () => {
  test('makes a cluster with the objects, uids and versions of the real one', async () => {
    const snapshot = await openEtcdSnapshot(temporaryFile(snapshotBytes()));
    expect(snapshot).toMatchObject({ resourceVersion: '206', skipped: [] });
    await using cluster = createCluster({ ...ALL_KINDS, from: snapshot });
    const present = new Map(cluster.storageReader.everything().map((object) => [idOf(object), object]));
    const changed = expectedContent().objects.filter((object) => {
      const found = present.get(idOf(object));
      return found !== undefined && found.metadata.resourceVersion !== object.metadata.resourceVersion;
    });
    // A FlowSchema without status gets one when the cluster starts.
    expect([...new Set(changed.map(({ kind }) => kind))]).toEqual(['FlowSchema']);
    const role = await cluster.api(ClusterRole).get('crole3');
    expect(role).toEqual(
      expectedContent().objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'crole3'),
    );
  });

  test('serves its custom resources in all versions of their CRDs', async () => {
    await using cluster = createCluster({ ...ALL_KINDS, from: await openEtcdSnapshot(temporaryFile(snapshotBytes())) });
    for (const version of ['v1', 'v1beta1']) {
      const gear = await cluster.api(cluster.kind(`two.example.com/${version}`, 'Gear'), 'etcdns').get('g1');
      const real = expectedContent().objects.find((object) => idOf(object) === idOf(gear as ApiObject));
      expect(gear).toEqual(real);
    }
  });

  test('continues with the next version', async () => {
    await using cluster = createCluster({ ...ALL_KINDS, from: await openEtcdSnapshot(temporaryFile(snapshotBytes())) });
    const created = await cluster.api(ConfigMap, 'etcdns').create({ metadata: { name: 'new' } });
    expect(Number(created.metadata.resourceVersion)).toBeGreaterThan(206);
  });

  test('leads to an error that names kinds which are not served, unless they are skipped', async () => {
    const file = temporaryFile(snapshotBytes());
    const from = await openEtcdSnapshot(file);
    expect(() => createCluster({ dialect: 'kubernetes', from })).toThrow(/serves no .*VolumeAttributesClass in/);
    const skipping = await openEtcdSnapshot(file, { skip: ['unserved'] });
    await using cluster = createCluster({ dialect: 'kubernetes', from: skipping });
    expect(await cluster.api(ConfigMap, 'etcdns').find('cm1')).toBeDefined();
  });

  test.each([
    ['is damaged', (bytes: Buffer) => bytes.fill(1, 9_000, 9_001), 'its content does not match its hash'],
    ['is incomplete', (bytes: Buffer) => bytes.subarray(0, 50_000), 'it does not end with a hash'],
    ['is something else', () => withHash(Buffer.alloc(8192)), 'this is no bbolt database'],
  ])('refuses a file that %s', async (_what, damage, message) => {
    const file = temporaryFile(damage(snapshotBytes()));
    await expect(openEtcdSnapshot(file)).rejects.toThrow(
      `orchplane: the etcd snapshot ${file} cannot be opened: ${message}`,
    );
  });

  test('opens the database of a stopped member, which has no hash', async () => {
    const file = temporaryFile(snapshotBytes().subarray(0, -32));
    await expect(openEtcdSnapshot(file)).rejects.toThrow('it does not end with a hash');
    expect((await openEtcdSnapshot(file, { skipHashCheck: true })).resourceVersion).toBe('206');
  });

  test('refuses a prefix without objects', async () => {
    const file = temporaryFile(snapshotBytes());
    await expect(openEtcdSnapshot(file, { prefix: '/elsewhere' })).rejects.toThrow(
      'it has no objects under /elsewhere/',
    );
  });

  test('refuses encrypted objects, unless they are skipped', async () => {
    const bytes = snapshotBytes().subarray(0, -32);
    const at = bytes.indexOf('k8s\0', bytes.indexOf('/registry/secrets/etcdns/secret1'));
    bytes.write('k8s:enc:aesgcm:v1:key:', at);
    const file = temporaryFile(withHash(bytes));
    await expect(openEtcdSnapshot(file)).rejects.toThrow(
      '/registry/secrets/etcdns/secret1: the value is encrypted at rest (aesgcm v1)',
    );
    const { skipped } = await openEtcdSnapshot(file, { skip: ['encrypted'] });
    expect(skipped).toEqual(['/registry/secrets/etcdns/secret1']);
  });

  test('refuses objects of unknown kinds, unless they are skipped', async () => {
    const bytes = snapshotBytes().subarray(0, -32);
    bytes.write('/registry/secretz', bytes.indexOf('/registry/secrets/etcdns/secret1'));
    const file = temporaryFile(withHash(bytes));
    await expect(openEtcdSnapshot(file)).rejects.toThrow('no known kind: /registry/secretz/etcdns/secret1;');
    const { skipped } = await openEtcdSnapshot(file, { skip: ['unserved'] });
    expect(skipped).toEqual(['/registry/secretz/etcdns/secret1']);
  });
});

describe('writeEtcdSnapshot', () => {
  test('writes what openEtcdSnapshot reads', async () => {
    const from = await openEtcdSnapshot(temporaryFile(snapshotBytes()));
    await using cluster = createCluster({ ...ALL_KINDS, from });
    const file = temporaryFile();
    const objects = everythingOf(cluster.storageReader.everything());
    expect(await writeEtcdSnapshot(file, cluster)).toBe(objects.length);
    const again = await openEtcdSnapshot(file);
    expect(again.resourceVersion).toBe(cluster.resourceVersion);
    // As JSON, because -0 is written as 0.
    const asJson = (list: readonly ApiObject[]) => list.map((object) => JSON.parse(encodeJson(object)) as unknown);
    expect(asJson(everythingOf(again.objects))).toEqual(asJson(objects));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file)).filter((name) => name.startsWith(`.${basename(file)}.`))).toEqual([]);
  });

  test('writes to no other file, whatever links a folder contains', async () => {
    await using cluster = createCluster();
    const [file, other] = [temporaryFile(), temporaryFile(new TextEncoder().encode('theirs'))];
    symlinkSync(other, `${file}.part`);
    await writeEtcdSnapshot(file, cluster);
    expect(lstatSync(file).isFile()).toBe(true);
    const link = temporaryFile();
    symlinkSync(other, link);
    await expect(writeEtcdSnapshot(link, cluster)).rejects.toThrow('is a symbolic link; it is left as it is');
    expect(readFileSync(other, 'utf8')).toBe('theirs');
  });

  test('keeps the version of a deletion', async () => {
    await using cluster = createCluster();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap).delete('a');
    const file = temporaryFile();
    await writeEtcdSnapshot(file, cluster, { prefix: '/mine' });
    const again = await openEtcdSnapshot(file, { prefix: '/mine', dialect: 'orch' });
    expect(again.resourceVersion).toBe(cluster.resourceVersion);
    expect(again.objects.some(({ kind }) => kind === 'ConfigMap')).toBe(false);
  });
});

describe('the tools of etcd', () => {
  const tool = ['etcdutl', 'etcdctl'].find((name) => spawnSync(name, ['version']).error === undefined);
  const run = (args: readonly string[]) =>
    execFileSync(tool ?? '', args, { encoding: 'utf8', env: { ...process.env, ETCDCTL_API: '3' }, stdio: 'pipe' });

  test.skipIf(tool === undefined)('accept a written snapshot (skipped without etcdutl or etcdctl)', async () => {
    await using cluster = createCluster({ dialect: 'kubernetes' });
    for (let index = 0; index < 300; index++) {
      await cluster.api(ConfigMap).create({ metadata: { name: `c${index}` }, data: { text: 'x'.repeat(index * 50) } });
    }
    await cluster.api(Service).create({ metadata: { name: 's' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } });
    await cluster.api(ConfigMap).delete('c7');
    const file = temporaryFile();
    await writeEtcdSnapshot(file, cluster);
    const status = JSON.parse(run(['snapshot', 'status', file, '--write-out', 'json'])) as { revision: number };
    expect(String(status.revision)).toBe(cluster.resourceVersion);
    const folder = `${file}.restored`;
    run(['snapshot', 'restore', file, '--data-dir', folder]);
    const database = join(folder, 'member', 'snap', 'db');
    const restored = await openEtcdSnapshot(database, { skipHashCheck: true });
    expect(restored.resourceVersion).toBe(cluster.resourceVersion);
    expect(everythingOf(restored.objects)).toEqual(everythingOf(cluster.storageReader.everything()));
  });
});
