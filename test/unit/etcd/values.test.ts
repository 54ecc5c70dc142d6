/** The values of kube-apiserver in both directions. */
import { describe, expect, test } from 'vitest';
import { BoltReader } from '../../../src/etcd/bolt-reader.js';
import { builtInKindsIn } from '../../../src/etcd/built-in-kinds.js';
import { etcdLayout } from '../../../src/etcd/layout.js';
import { readKeySpace } from '../../../src/etcd/mvcc.js';
import {
  decodeCustomValue,
  decodeStored,
  EncryptedValueError,
  encodeCustomValue,
  encodeStored,
} from '../../../src/etcd/values.js';
import { featureGates } from '../../../src/kinds/feature-gates.js';
import { kubernetesDialect as dialect } from '../../../src/meta/dialect.js';
import type { ApiObject } from '../../../src/meta/object.js';
import { expectedContent, idOf, snapshotBytes } from './fixture.js';

const context = { dialect, now: '2026-01-01T00:00:00Z', features: featureGates({ AllAlpha: true, AllBeta: true }) };
const { storageKinds } = builtInKindsIn(dialect);
const layout = etcdLayout('/registry', dialect);

const bytes = snapshotBytes();
const source = {
  size: bytes.length,
  read: (at: number, length: number) => Uint8Array.from(bytes.subarray(at, at + length)),
};
const stored = readKeySpace(new BoltReader(source)).entries.flatMap((entry) => {
  const parsed = layout.parse(entry.key);
  return parsed.type === 'object' ? [{ ...entry, served: storageKinds.get(parsed.storageKey) }] : [];
});

const decodeEntry = ({ value, revision, served }: (typeof stored)[number]): ApiObject =>
  served === undefined
    ? decodeCustomValue(value, revision, dialect)
    : decodeStored(value, { served, revision, context });

const kindNamed = (storageKey: string) => {
  const served = storageKinds.get(storageKey);
  if (served === undefined) throw new Error(`no ${storageKey}`);
  return served;
};

const decodeJson = (document: object, storageKey: string): ApiObject => {
  const value = new TextEncoder().encode(JSON.stringify(document));
  return decodeStored(value, { served: kindNamed(storageKey), revision: 7, context });
};

describe('values that a real server stored', () => {
  test('contain at least one object of every built-in kind', () => {
    const present = new Set(stored.map(({ served }) => served?.storageKey));
    expect([...storageKinds.keys()].filter((key) => !present.has(key))).toEqual([]);
  });

  test('decode to what the server returns', () => {
    const real = new Map(expectedContent().objects.map((object) => [idOf(object), object]));
    const objects = stored.map(decodeEntry);
    // The server adds the defaults of its CRD when it reads it.
    const others = objects.filter(({ kind }) => kind !== 'Gear');
    expect(others.map((object) => JSON.parse(JSON.stringify(object, withoutBigInts)))).toEqual(
      others.map((object) => real.get(idOf(object))),
    );
  });

  test('are encoded to the same bytes', () => {
    const changed = stored.filter((entry) => {
      const object = decodeEntry(entry);
      const again = entry.served === undefined ? encodeCustomValue(object) : encodeStored(object, entry.served);
      return Buffer.compare(again, entry.value) !== 0;
    });
    expect(changed.map(({ key }) => key).sort()).toEqual([
      // Its data is written without white space.
      '/registry/controllerrevisions/etcdns/crs3',
      // Its -0 becomes 0.
      '/registry/custom.fancy.com/pants/cr2pant',
      // It was stored without a phase, which is a default.
      '/registry/persistentvolumeclaims/etcdns/pvc1',
    ]);
  });
});

function withoutBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

describe('decodeStored', () => {
  test('applies defaults, sets the resourceVersion and freezes the object', () => {
    const metadata = { name: 'a', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const pod = decodeJson({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, 'pods');
    expect(pod).toMatchObject({ metadata: { resourceVersion: '7' }, spec: { restartPolicy: 'Always' } });
    expect(Object.isFrozen(pod['spec'])).toBe(true);
  });

  test('converts a version that the server has not stored for long', () => {
    const metadata = { name: 'a', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
    const spec = {
      maxReplicas: 3,
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      targetCPUUtilizationPercentage: 70,
    };
    const old = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata, spec };
    const autoscaler = decodeJson(old, 'horizontalpodautoscalers.autoscaling');
    expect(autoscaler.apiVersion).toBe('autoscaling/v2');
    expect(autoscaler['spec']).toMatchObject({ metrics: [{ resource: { target: { averageUtilization: 70 } } }] });
  });

  test('reads a v1beta1 CRD with only a version, as old servers stored it', () => {
    const metadata = { name: 'foos.example.com', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
    const names = { plural: 'foos', kind: 'Foo' };
    const columns = [{ name: 'A', type: 'string', JSONPath: '.spec.a' }];
    const spec = { group: 'example.com', version: 'v1', names, scope: 'Namespaced', additionalPrinterColumns: columns };
    const old = { apiVersion: 'apiextensions.k8s.io/v1beta1', kind: 'CustomResourceDefinition', metadata, spec };
    const crd = decodeJson(old, 'customresourcedefinitions.apiextensions.k8s.io');
    expect(crd).toMatchObject({ apiVersion: 'apiextensions.k8s.io/v1', spec: { preserveUnknownFields: true } });
    const [version] = (crd['spec'] as { versions: unknown[] }).versions;
    const [column] = columns.map(({ JSONPath: jsonPath, ...rest }) => ({ ...rest, jsonPath }));
    expect(version).toEqual({ name: 'v1', served: true, storage: true, additionalPrinterColumns: [column] });
  });

  test('reads custom resources in CBOR', () => {
    const value = Uint8Array.from([0xd9, 0xd9, 0xf7, 0xa1, 0x48, ...new TextEncoder().encode('metadata'), 0xa0]);
    expect(decodeCustomValue(value, 3, dialect)).toEqual({ metadata: { resourceVersion: '3' } });
  });

  test('refuses an encrypted value and names the provider', () => {
    const value = new TextEncoder().encode('k8s:enc:aescbc:v1:key1:\u0001');
    const decode = () => decodeStored(value, { served: kindNamed('secrets'), revision: 1, context });
    expect(decode).toThrow(EncryptedValueError);
    expect(decode).toThrow('the value is encrypted at rest (aescbc v1), and only its server has the key');
  });

  test('refuses an object of another kind, and bytes that are no object', () => {
    const metadata = { name: 'a' };
    expect(() => decodeJson({ apiVersion: 'v1', kind: 'Pod', metadata }, 'secrets')).toThrow(
      'Pod in v1 is no version of Secret in v1',
    );
    const noise = Uint8Array.of(1, 2, 3);
    expect(() => decodeStored(noise, { served: kindNamed('secrets'), revision: 1, context })).toThrow(
      'does not appear to be a protobuf message',
    );
  });
});
