/** Tests that every kind must pass. A kind takes part with a sample: a minimal object and a change to it. */
import type { ApiObject, Cluster, ClusterOptions, Kind } from 'orchplane';
import { mergePatch, StatusError } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseApiVersion } from '../../../src/meta/gvk.js';

export interface KindSample {
  readonly kind: Kind;
  /** Set if a server reconciler changes objects after every write; such kinds have their own tests. */
  readonly isAttended?: boolean;
  /** Two valid names; `a` and `b` by default. */
  readonly names?: readonly [string, string];
  /** An invalid name; `null` if every name is valid. */
  readonly badName?: string | null;
  /** The body fields of a minimal valid object. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Body fields for an update. */
  readonly change: Readonly<Record<string, unknown>>;
  /** The top-level keys of a stored object in wire order. */
  readonly wireOrder: readonly string[];
  /** Whether a delete removes the object at once. */
  readonly deletedAtOnce: boolean;
  /** Whether a delete causes MODIFIED before DELETED, because the kind has a grace period. */
  readonly markedFirst?: boolean;
  /** Whether a PUT may omit the resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** Whether a PUT to a missing name creates the object. */
  readonly createOnUpdate: boolean;
}

/** `create` makes the clusters of the tests. */
export function describeKind(sample: KindSample, create: (options?: ClusterOptions) => Cluster = testCluster): void {
  const { kind, body, change } = sample;
  const [first, second] = sample.names ?? ['a', 'b'];

  describe(`${kind.kind} in ${kind.version} as a kind`, () => {
    const testUnreconciled = test.skipIf(sample.isAttended === true);
    let cluster: Cluster;
    let objects: ReturnType<typeof open>;

    beforeEach(() => {
      cluster = create();
      cluster.install(kind);
      objects = open(cluster);
    });

    afterEach(() => cluster.close());

    // The kind is not statically known here, so objects are untyped.
    function open(of: Cluster) {
      type AnyKind = Kind<ApiObject, Record<string, unknown>, 'Namespaced', never>;
      return of.api(kind as unknown as AnyKind, ...((kind.scope === 'Namespaced' ? ['default'] : []) as [string]));
    }

    const input = (name: string, more: object = {}) => ({ metadata: { name, ...more }, ...body });

    test('has distinct names that are valid in a URL', () => {
      const { plural, singular, listKind, shortNames } = kind.names;
      expect(kind.kind).toMatch(/^[A-Z][A-Za-z0-9]*$/);
      expect(singular).toBe(kind.kind.toLowerCase());
      expect(plural).toMatch(/^[a-z]+$/);
      expect(listKind).toBe(`${kind.kind}List`);
      for (const name of shortNames) expect(name).toMatch(/^[a-z]+$/);
    });

    test('is served under its names and is frozen', () => {
      const group = cluster.dialect.group(kind.group);
      const served = cluster.resolve({ group, version: kind.version, resource: kind.names.plural });
      expect(served?.kind).toBe(kind);
      expect(served?.namespaced).toBe(kind.scope === 'Namespaced');
      expect(Object.isFrozen(kind)).toBe(true);
    });

    testUnreconciled('returns the same frozen object from create, get and list', async () => {
      const created = await objects.create(input(first));
      expect(await objects.get(first)).toBe(created);
      const list = await objects.list({ fields: `metadata.name=${first}` });
      expect(list.items[0]).toBe(created);
      expect(isFrozenThroughout(created)).toBe(true);
      expect(list.kind).toBe(kind.names.listKind);
      expect(list.apiVersion).toBe(created.apiVersion);
    });

    test('returns its kind and apiVersion', async () => {
      const created = await objects.create(input(first));
      expect(created.kind).toBe(kind.kind);
      const gv = parseApiVersion(created.apiVersion);
      expect(gv).toEqual({ group: cluster.dialect.group(kind.group), version: kind.version });
    });

    testUnreconciled('is written in wire order', async () => {
      const created = await objects.create(input(first));
      const updated = await objects.update({ ...change, ...created, ...change });
      expect(Object.keys(created)).toEqual(sample.wireOrder.filter((key) => key in created));
      expect(Object.keys(updated)).toEqual(sample.wireOrder.filter((key) => key in updated));
      expect(Object.keys(created.metadata).slice(0, 2)).toEqual(
        kind.scope === 'Namespaced' ? ['name', 'namespace'] : ['name', 'uid'],
      );
    });

    testUnreconciled('sets the metadata that every object has', async () => {
      const { metadata } = await objects.create(input(first));
      expect(metadata).toMatchObject({ name: first, creationTimestamp: '2030-01-01T00:00:00Z' });
      expect(metadata.resourceVersion).toBe(cluster.resourceVersion);
      expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(metadata.namespace).toBe(kind.scope === 'Namespaced' ? 'default' : undefined);
    });

    testUnreconciled('updates an object and sends a MODIFIED event', async () => {
      const created = await objects.create(input(first));
      const watch = objects.watch({ resourceVersion: created.metadata.resourceVersion });
      const metadata = { ...created.metadata, labels: { k: 'v' } };
      const updated = await objects.update({ ...created, ...change, metadata });
      expect(updated).toMatchObject(change);
      expect(updated.metadata).toMatchObject({ labels: { k: 'v' }, uid: created.metadata.uid });
      expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
      expect(await watch.next()).toEqual({ done: false, value: { type: 'MODIFIED', object: updated } });
      watch.close();
    });

    test('rejects an update whose resourceVersion is stale', async () => {
      const created = await objects.create(input(first));
      await objects.patch(first, mergePatch({ metadata: { labels: { k: 'v' } } } as never));
      await expect(objects.update({ ...created, ...change })).rejects.toMatchObject({ reason: 'Conflict' });
    });

    test('requires a resourceVersion on update unless the sample allows unconditional updates', async () => {
      await objects.create(input(first));
      const update = objects.update({ ...input(first, { labels: { k: 'v' } }) });
      if (sample.unconditionalUpdate) await expect(update).resolves.toMatchObject({ metadata: { labels: { k: 'v' } } });
      else await expect(update).rejects.toMatchObject({ reason: 'Invalid' });
    });

    test('creates an object by an update, in the dialect kubernetes only if the sample allows it', async () => {
      await expect(objects.update(input(first))).resolves.toMatchObject({ metadata: { name: first } });
      if (sample.createOnUpdate) return;
      await cluster.close();
      cluster = create({ dialect: 'kubernetes' });
      cluster.install(kind);
      await expect(open(cluster).update(input(first))).rejects.toMatchObject({ reason: 'NotFound' });
    });

    testUnreconciled('keeps the resourceVersion when an update changes nothing', async () => {
      const created = await objects.create(input(first));
      expect(await objects.update(created)).toBe(created);
      expect(await objects.patch(first, mergePatch({}))).toBe(created);
    });

    test('creates an object from another object that was read', async () => {
      const created = await objects.create(input(first));
      // If the name is determined by the spec, the first object must be deleted before the second is created.
      if (first === second) await objects.delete(first);
      const { name: _, uid: __, resourceVersion: ___, ...metadata } = created.metadata;
      const again = await objects.create({ ...created, metadata: { ...metadata, name: second } } as never);
      expect(again.metadata.name).toBe(second);
    });

    testUnreconciled('deletes an object at once or marks it as terminating', async () => {
      await objects.create(input(first));
      const watch = objects.watch({ resourceVersion: cluster.resourceVersion });
      await objects.delete(first);
      if (sample.markedFirst === true) expect((await watch.next()).value?.type).toBe('MODIFIED');
      const { value } = await watch.next();
      watch.close();
      if (sample.deletedAtOnce) {
        expect(value?.type).toBe('DELETED');
        expect(await objects.find(first)).toBeUndefined();
      } else {
        expect(value?.type).toBe('MODIFIED');
        expect((await objects.get(first)).metadata.deletionTimestamp).toBe('2030-01-01T00:00:00Z');
      }
    });

    test.skipIf(sample.badName === null)('rejects an invalid name', async () => {
      const badName = sample.badName === undefined ? 'Not A Name' : sample.badName;
      if (badName === null) return;
      const error: unknown = await objects.create(input(badName)).catch((failure: unknown) => failure);
      expect(StatusError.is(error, 'Invalid')).toBe(true);
      expect((error as StatusError).status.details?.causes?.[0]?.field).toBe('metadata.name');
    });

    test('rejects a second object with the same name', async () => {
      await objects.create(input(first));
      await expect(objects.create(input(first))).rejects.toMatchObject({ reason: 'AlreadyExists' });
    });

    test('drops an unknown field with a warning', async () => {
      const warnings: string[] = [];
      const warned = open({ ...cluster, ...cluster.with({ onWarning: (warning) => warnings.push(warning) }) });
      expect(await warned.create({ ...input(first), nonsense: true })).not.toHaveProperty('nonsense');
      expect(warnings).toContain('unknown field "nonsense"');
    });
  });
}

function isFrozenThroughout(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenThroughout);
}
