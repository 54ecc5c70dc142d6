/// <reference types="vite/types/importMeta.d.ts" />
/**
 * Objects with long lists and maps, and the growth of the CPU time of requests with their length.
 */
import type { Kind } from 'orchplane';
import { StatusError } from 'orchplane';
import { type TestCluster, testCluster } from 'orchplane/testing';
import type { SchemaNode } from '../../src/schema/schema-node.js';
import { cpuMs } from '../fixtures/cpu-time.js';
import type { KindSample } from '../unit/kinds/kind-contract.js';

const modules = import.meta.glob<{ readonly samples: readonly KindSample[] }>('../unit/kinds/samples/*.ts', {
  eager: true,
});

/** An object of every version of every kind. */
export const samples: readonly KindSample[] = Object.values(modules).flatMap((module) => module.samples);

/** Those of one version of each kind: the versions of a kind have the same rules. */
export function oneVersionOfEach(): readonly KindSample[] {
  const byKind = new Map(samples.toReversed().map((sample) => [`${sample.kind.group}/${sample.kind.kind}`, sample]));
  return samples.filter((sample) => byKind.get(`${sample.kind.group}/${sample.kind.kind}`) === sample);
}

/** A cluster that serves all kinds, with all features. */
export function fullCluster(options: Parameters<typeof testCluster>[0] = {}): TestCluster {
  return testCluster({
    dialect: 'kubernetes',
    runtimeConfig: 'api/all=true',
    featureGates: { AllAlpha: true, AllBeta: true },
    ...options,
  });
}

/** A cluster that contains objects. Namespaced ones are in `default`; they are stored without validation. */
export function clusterWith(objects: readonly object[]): TestCluster {
  const stored = objects.map((object, index) => {
    const { kind, metadata } = object as { readonly kind: string; readonly metadata: object };
    const isNamespaced = !CLUSTER_SCOPED.has(kind);
    const uid = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
    const common = { uid, resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' };
    return { ...object, metadata: { ...(isNamespaced ? { namespace: 'default' } : {}), ...common, ...metadata } };
  });
  return fullCluster({ from: { resourceVersion: '1', objects: stored as never } });
}

const CLUSTER_SCOPED = new Set(['CertificateSigningRequest', 'Namespace', 'StorageVersion']);

/** The client calls that the tests need, for any kind. */
export interface AnyApi {
  get(name: string): Promise<Record<string, unknown>>;
  list(options: object): Promise<unknown>;
  create(object: object, options?: object): Promise<unknown>;
  update(object: object, options?: object): Promise<unknown>;
  patch(name: string, patch: object, options?: object): Promise<unknown>;
  apply(object: object, options?: object): Promise<unknown>;
  delete(name: string, options?: object): Promise<unknown>;
  subresource(name: string): {
    create(name: string, object: object, options?: object): Promise<unknown>;
    update(name: string, object: object, options?: object): Promise<unknown>;
  };
}

export function apiOf(cluster: Pick<TestCluster, 'api'>, kind: Kind): AnyApi {
  return cluster.api(kind as never) as unknown as AnyApi;
}

export function items<Item>(length: number, item: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => item(index));
}

/** A map of some length. */
export function entries(length: number, prefix: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries(items(length, (index) => [`${prefix}${index}`, value]));
}

/** The steps from the object to a list or map: field names, `[]` for the item of a list, `{}` for the value of a map. */
export type Path = readonly string[];

export interface Place {
  readonly path: Path;
  readonly node: SchemaNode;
}

/**
 * All lists and maps of a schema that have not been tested. Types that several kinds contain, such as pod templates, are
 * tested in one of them.
 */
export function* placesOf(node: SchemaNode, tested: Set<SchemaNode>, path: Path = []): Iterable<Place> {
  if (tested.has(node)) return;
  if (node.type === 'list' || node.type === 'map' || path.length > 0) tested.add(node);
  if (node.type === 'list') {
    yield { path, node };
    yield* placesOf(node.items, tested, [...path, '[]']);
  } else if (node.type === 'map') {
    yield { path, node };
    yield* placesOf(node.values, tested, [...path, '{}']);
  } else if (node.type === 'object') {
    for (const { name, node: child } of node.fields.values()) {
      if (path.length === 0 && (name === 'status' || name === 'metadata')) continue;
      yield* placesOf(child, tested, [...path, name]);
    }
  }
}

/** A value of a node; `index` makes the values of a list different. */
export function sampleValue(node: SchemaNode, index: number, isFull: boolean, depth = 0): unknown {
  switch (node.type) {
    case 'object': {
      const fields = [...node.fields.values()].filter(
        ({ required, node: child }) => required || (isFull && child.type === 'scalar') || (isFull && depth < 1),
      );
      return Object.fromEntries(
        fields.map(({ name, node: child }) => [name, sampleValue(child, index, isFull, depth + 1)]),
      );
    }
    case 'list':
      return [sampleValue(node.items, index, isFull, depth + 1)];
    case 'map':
      return { [`key-${index}`]: sampleValue(node.values, index, isFull, depth + 1) };
    case 'any':
      return {};
    case 'scalar':
      return SCALARS[node.scalar]?.(index) ?? `name-${index}`;
  }
}

const SCALARS: Readonly<Record<string, (index: number) => unknown>> = {
  int32: (index) => index + 1,
  int64: (index) => index + 1,
  number: (index) => index,
  boolean: () => true,
  bytes: () => 'YQ==',
  time: () => '2030-01-01T00:00:00Z',
  microTime: () => '2030-01-01T00:00:00.000000Z',
  quantity: () => '1',
  intOrString: (index) => index + 1,
  duration: () => '1s',
};

/** `body` with a value at a path; what is missing on the way is created. */
export function withValue(body: unknown, node: SchemaNode, path: Path, value: unknown, isFull: boolean): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (node.type === 'list') {
    const items = Array.isArray(body) && body.length > 0 ? body : [sampleValue(node.items, 0, isFull)];
    return [withValue(items[0], node.items, rest, value, isFull), ...items.slice(1)];
  }
  if (node.type === 'map') {
    const [key = 'key', present] = Object.entries((body as object | undefined) ?? {})[0] ?? [];
    return {
      ...(body as object),
      [key]: withValue(present ?? sampleValue(node.values, 0, isFull), node.values, rest, value, isFull),
    };
  }
  if (node.type !== 'object') throw new Error('a path leads through lists, maps and objects');
  const child = node.fields.get(step)?.node as SchemaNode;
  const record = (body ?? sampleValue(node, 0, false)) as Record<string, unknown>;
  return { ...record, [step]: withValue(record[step], child, rest, value, isFull) };
}

export function longValue(node: SchemaNode, length: number, isFull: boolean, same: boolean): unknown {
  const indexes = Array.from({ length }, (_, index) => index);
  if (node.type === 'list') return indexes.map((index) => sampleValue(node.items, same ? 0 : index, isFull));
  if (node.type === 'map')
    return Object.fromEntries(indexes.map((index) => [`key-${index}`, sampleValue(node.values, index, isFull)]));
  throw new Error('only lists and maps have a length');
}

/** The CPU time of a write in milliseconds, whether or not it is valid. */
async function cpuTime(write: () => Promise<unknown>): Promise<number> {
  const before = cpuMs();
  await write().catch((error: unknown) => {
    if (!StatusError.is(error)) throw error;
  });
  return cpuMs() - before;
}

const FACTOR = 4;
/** Writes that take less are fast enough, whatever the growth: a nanosecond for each pair of items. */
const negligibleMs = (length: number): number => length ** 2 * 1e-6;
/** Between 4, which is linear, and 16, which is quadratic. */
export const MAX_GROWTH = 9;

/** How much longer a write takes whose list is four times as long; the least of some tries, because others use the CPU. */
export async function growthOf(
  write: (length: number) => (() => Promise<unknown>) | Promise<() => Promise<unknown>>,
  length = 5_000,
): Promise<number> {
  let growth = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && growth > MAX_GROWTH; tries++) {
    const long = await cpuTime(await write(length));
    if (long < negligibleMs(length)) return 1;
    growth = Math.min(growth, long / (await cpuTime(await write(length / FACTOR))));
  }
  return growth;
}
