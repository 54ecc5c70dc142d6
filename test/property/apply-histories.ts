/**
 * Random histories of objects that several field managers write: apply and other writes, for kinds with maps, keyed
 * lists, sets, atomic fields, defaults, a status and a scale. Names come from small pools, so that managers write the
 * same fields.
 */

import { jsonPatch, type Kind, mergePatch, StatusError, strategicPatch } from 'orchplane';
import { ConfigMap, Deployment, Service } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { serveKind } from '../../src/kinds/served-kind.js';
import { orchDialect } from '../../src/meta/dialect.js';
import type { ApiObject } from '../../src/meta/object.js';
import type { ObjectNode } from '../../src/schema/schema-node.js';
import { Loose, Widget } from '../apply/kinds.js';
import fc from './seeded.js';

export type Document = Readonly<Record<string, unknown>>;

/** A kind, and arbitraries for what managers apply to its objects. */
export interface Subject {
  readonly kind: Kind;
  /** Required for a valid object; its manager never writes again. */
  readonly base: Document;
  /** Any part of an object. */
  readonly intent: fc.Arbitrary<Document>;
  /** Three parts without common fields, except for list keys; their lists have no common items. */
  readonly disjoint: fc.Arbitrary<readonly [Document, Document, Document]>;
  readonly hasScale: boolean;
  readonly hasStrategic: boolean;
  readonly status?: fc.Arbitrary<Document>;
}

const value = fc.constantFrom('1', '2');
const key = fc.constantFrom('k', 'l', 'constructor');
/** Includes null and empty values. */
const texts: fc.Arbitrary<unknown> = fc.oneof(
  { arbitrary: fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true }), weight: 8 },
  { arbitrary: fc.constant({}), weight: 1 },
  { arbitrary: fc.constant(null), weight: 1 },
);

type Arbitraries = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** A record of some of the fields. */
function some(fields: Arbitraries): fc.Arbitrary<Document> {
  return fc.record(fields, { requiredKeys: [], noNullPrototype: true });
}

const labelled = some({ labels: texts, annotations: texts });
const unique = <Item>(item: fc.Arbitrary<Item>, selector: (item: Item) => unknown) =>
  fc.uniqueArray(item, { selector, maxLength: 3 });

/** Assigns each key to one of three managers or to none. */
function assignKeys(keys: readonly string[]): fc.Arbitrary<readonly [string[], string[], string[]]> {
  return fc.array(fc.nat(3), { minLength: keys.length, maxLength: keys.length }).map((hands) => {
    const of = (hand: number) => keys.filter((_key, index) => hands[index] === hand);
    return [of(0), of(1), of(2)] as const;
  });
}

/** The documents of three managers for the keys assigned to them. */
function disjointBy(
  keys: readonly string[],
  make: (mine: readonly string[], id: number) => Document,
): fc.Arbitrary<readonly [Document, Document, Document]> {
  return assignKeys(keys).map(([first, second, third]) => [make(first, 1), make(second, 2), make(third, 3)] as const);
}

const valuesOf = (keys: readonly string[], id: number) => Object.fromEntries(keys.map((each) => [each, String(id)]));
/** Omits a map or list without keys. */
const ifAny = (name: string, keys: readonly string[], made: unknown) => (keys.length === 0 ? {} : { [name]: made });

const startingWith = (keys: readonly string[], prefix: string) => keys.filter((each) => each.startsWith(prefix));

const configMaps: Subject = {
  kind: ConfigMap,
  base: {},
  intent: some({ metadata: labelled, data: texts, immutable: fc.constantFrom(false, null) }),
  disjoint: disjointBy(['d-1', 'd-2', 'd-3', 'd-4', 'l-1', 'l-2', 'l-3'], (mine, id) => {
    const [data, labels] = [startingWith(mine, 'd-'), startingWith(mine, 'l-')];
    return {
      ...ifAny('data', data, valuesOf(data, id)),
      ...ifAny('metadata', labels, { labels: valuesOf(labels, id) }),
    };
  }),
  hasScale: false,
  hasStrategic: true,
};

const env = unique(fc.record({ name: fc.constantFrom('A', 'B', 'C'), value }), ({ name }) => name);
const container = fc
  .tuple(
    fc.constantFrom('main', 'side'),
    some({ image: fc.constantFrom('i', 'j'), env, args: fc.array(value, { maxLength: 2 }) }),
  )
  .map(([name, rest]): Document => ({ name, ...rest }));

const deployments: Subject = {
  kind: Deployment,
  base: {
    spec: {
      selector: { matchLabels: { app: 'd' } },
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'main', image: 'i' }] } },
    },
  },
  intent: some({
    metadata: labelled,
    spec: some({
      replicas: fc.constantFrom(1, 2, 3, null),
      paused: fc.boolean(),
      template: fc.record({ spec: some({ containers: unique(container, ({ name }) => name) }) }),
    }),
  }),
  disjoint: disjointBy(['A', 'B', 'C', 'D', 'replicas', 'paused'], (mine, id) => {
    const variables = mine.filter((each) => each.length === 1).map((name) => ({ name, value: String(id) }));
    const containers = [{ name: 'main', env: variables }];
    return {
      spec: {
        ...(mine.includes('replicas') ? { replicas: 2 + id } : {}),
        ...(mine.includes('paused') ? { paused: true } : {}),
        ...(variables.length === 0 ? {} : { template: { spec: { containers } } }),
      },
    };
  }),
  hasScale: true,
  hasStrategic: true,
  status: some({ replicas: fc.nat(2), readyReplicas: fc.constant(0) }),
};

const servicePort = fc
  .record({ port: fc.constantFrom(80, 81, 82), protocol: fc.constantFrom('TCP', 'UDP') })
  .chain((ids) =>
    some({ targetPort: fc.constantFrom(8080, 'http') }).map(
      (rest): Document => ({
        ...ids,
        // Port names must be unique.
        name: `${ids.protocol.toLowerCase()}-${ids.port}`,
        ...rest,
      }),
    ),
  );

const services: Subject = {
  kind: Service,
  base: { spec: { clusterIP: 'None', selector: { app: 's' }, ports: [{ name: 'tcp-443', port: 443 }] } },
  intent: some({
    metadata: labelled,
    spec: some({
      selector: texts,
      ports: unique(servicePort, ({ port, protocol }) => `${port}${protocol}`),
      // Not sessionAffinity: the strategy clears fields below its configuration that a manager owns.
      publishNotReadyAddresses: fc.boolean(),
    }),
  }),
  disjoint: disjointBy(['80', '81', '82', '83', 'sessionAffinity', 'publishNotReadyAddresses'], (mine) => {
    const ports = mine.filter((each) => Number(each) > 0).map((port) => ({ port: Number(port), name: `p-${port}` }));
    return {
      spec: {
        ...(ports.length === 0 ? {} : { ports }),
        ...(mine.includes('sessionAffinity') ? { sessionAffinity: 'ClientIP' } : {}),
        ...(mine.includes('publishNotReadyAddresses') ? { publishNotReadyAddresses: true } : {}),
      },
    };
  }),
  hasScale: false,
  hasStrategic: true,
};

const widgetPort = fc
  .tuple(fc.record({ port: fc.constantFrom(80, 81) }), some({ name: value, protocol: fc.constantFrom('TCP', 'UDP') }))
  .map(([ids, rest]): Document => ({ ...ids, ...rest }));

const widgets: Subject = {
  kind: Widget,
  base: {},
  intent: some({
    metadata: labelled,
    spec: some({
      size: fc.constantFrom(1, 2, null),
      ports: unique(widgetPort, ({ port, protocol = 'TCP' }) => `${port}${protocol}`),
      tags: unique(value, String),
      args: fc.array(value, { maxLength: 2 }),
      limits: fc.dictionary(key, some({ min: fc.nat(1), max: fc.nat(1) }), { maxKeys: 2, noNullPrototype: true }),
      place: some({ zone: value, rack: value }),
    }),
  }),
  disjoint: disjointBy(
    ['80', '81', '82', 'tag-a', 'tag-b', 'tag-c', 'size', 'args', 'place', 'lim-a', 'lim-b'],
    (mine, id) => {
      const ports = mine.filter((each) => Number(each) > 0).map((port) => ({ port: Number(port), name: String(id) }));
      const [tags, limits] = [startingWith(mine, 'tag-'), startingWith(mine, 'lim-')];
      return {
        spec: {
          ...ifAny('ports', startingWith(mine, '8'), ports),
          ...ifAny('tags', tags, tags),
          ...ifAny('limits', limits, Object.fromEntries(limits.map((each) => [each, { min: id }]))),
          ...(mine.includes('size') ? { size: 4 + id } : {}),
          ...(mine.includes('args') ? { args: [String(id)] } : {}),
          ...(mine.includes('place') ? { place: { zone: String(id) } } : {}),
        },
      };
    },
  ),
  hasScale: false,
  hasStrategic: false,
  status: some({ phase: value, ready: fc.nat(1) }),
};

const deep = fc.dictionary(
  key,
  fc.oneof<fc.Arbitrary<unknown>[]>(value, fc.dictionary(key, value, { noNullPrototype: true }), fc.array(value)),
  { noNullPrototype: true },
);

const looses: Subject = {
  kind: Loose,
  base: {},
  intent: some({ metadata: labelled, spec: some({ known: value, extra: deep, more: deep }), anything: deep }),
  disjoint: disjointBy(['e-1', 'e-2', 'e-3', 'a-1', 'a-2'], (mine, id) => {
    const [extra, anything] = [startingWith(mine, 'e-'), startingWith(mine, 'a-')];
    return {
      ...ifAny('spec', extra, { extra: valuesOf(extra, id) }),
      ...ifAny('anything', anything, valuesOf(anything, id)),
    };
  }),
  hasScale: false,
  hasStrategic: false,
};

/** Prints a subject in counterexamples by its kind. */
const named = (subject: Subject): Subject => Object.assign({ [fc.toStringMethod]: () => subject.kind.kind }, subject);

export const SUBJECTS: readonly Subject[] = [configMaps, deployments, services, widgets, looses].map(named);
export const anySubject = fc.constantFrom(...SUBJECTS);

export function schemaOf({ kind }: Subject): ObjectNode {
  return serveKind(kind, orchDialect).schema;
}

/** A document without values that a server may drop: null, empty values and zeros of structs. */
export function withoutBlanks(document: Document): Document {
  const kept = Object.entries(document).flatMap(([name, value]) => {
    const inner = isMap(value) ? withoutBlanks(value) : Array.isArray(value) ? value.map(itemWithoutBlanks) : value;
    return isBlank(inner) ? [] : [[name, inner] as const];
  });
  return Object.fromEntries(kept);
}

const itemWithoutBlanks = (item: unknown) => (isMap(item) ? withoutBlanks(item) : item);

export function isBlank(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return !value;
}

const NAME = 'x';
/** The field manager that creates the object. */
export const MAKER = 'maker';

/** One object that several managers write. */
export class SharedObject {
  readonly cluster: TestCluster;
  readonly #subject: Subject;

  private constructor(subject: Subject) {
    this.cluster = testCluster();
    for (const kind of [Widget, Loose]) this.cluster.install(kind);
    this.#subject = subject;
  }

  static async make(subject: Subject): Promise<SharedObject> {
    const shared = new SharedObject(subject);
    await shared.apply(MAKER, subject.base);
    return shared;
  }

  /** The client types are those of one kind; the object may be of any kind. */
  get #api() {
    return this.cluster.api(this.#subject.kind as typeof Widget);
  }

  async get(): Promise<ApiObject> {
    return (await this.#api.get(NAME)) as unknown as ApiObject;
  }

  async apply(fieldManager: string, intent: Document, options: { force?: boolean } = {}): Promise<ApiObject> {
    const metadata = { ...(intent['metadata'] as object | undefined), name: NAME };
    return (await this.#api.apply({ ...intent, metadata }, { fieldManager, ...options })) as unknown as ApiObject;
  }

  /** Tries a write; returns whether it was accepted. Expected rejections are not failures. */
  async attempt(write: Write): Promise<boolean> {
    try {
      await this.#perform(write);
      return true;
    } catch (error) {
      if (!StatusError.is(error) || !EXPECTED.has(error.reason ?? '')) throw error;
      return false;
    }
  }

  async #perform(write: Write): Promise<unknown> {
    const { by: fieldManager, document } = write;
    const options = { fieldManager };
    const api = this.#api;
    const scale = () => this.cluster.api(Deployment).subresource('scale');
    switch (write.type) {
      case 'apply':
        return this.apply(fieldManager, document, { force: write.force });
      case 'applyStatus':
        return api.status.apply(NAME, { status: document }, { ...options, force: write.force });
      case 'applyScale':
        return scale().apply(NAME, { spec: document }, { ...options, force: write.force });
      case 'update':
        return api.update(mergeEdit(await this.get(), document) as never, options);
      case 'merge':
        return api.patch(NAME, mergePatch(document), options);
      case 'mergeStatus':
        return api.status.patch(NAME, mergePatch({ status: document }), options);
      case 'mergeScale':
        return scale().patch(NAME, mergePatch({ spec: document }), options);
      case 'strategic':
        return api.patch(NAME, strategicPatch(document as never), options);
      case 'json':
        return api.patch(NAME, jsonPatch(operationsOf(document)), options);
      default:
        return write satisfies never;
    }
  }
}

const EXPECTED: ReadonlySet<string> = new Set(['Conflict', 'Invalid']);

/** The field manager and the document of a write. */
interface Written {
  readonly by: string;
  readonly document: Document;
}

export type Write =
  | (Written & { readonly type: 'apply' | 'applyStatus' | 'applyScale'; readonly force: boolean })
  | (Written & { readonly type: 'update' | 'merge' | 'mergeStatus' | 'mergeScale' | 'strategic' | 'json' });

/** A subject and the writes to one object of it. */
export const anyHistory: fc.Arbitrary<{ readonly subject: Subject; readonly writes: readonly Write[] }> =
  anySubject.chain((subject) =>
    fc.record({
      subject: fc.constant(subject),
      writes: fc.array(writeTo(subject), { minLength: 3, maxLength: 14, size: 'max' }),
    }),
  );

function writeTo({ intent, status, hasScale, hasStrategic }: Subject): fc.Arbitrary<Write> {
  const by = fc.constantFrom('a', 'b', 'c');
  const force = fc.boolean();
  const replicas = some({ replicas: fc.constantFrom(1, 2, 4) });
  const ways: fc.WeightedArbitrary<unknown>[] = [
    { arbitrary: fc.record({ type: fc.constant('apply'), by, force, document: intent }), weight: 8 },
    { arbitrary: fc.record({ type: fc.constantFrom('update', 'merge', 'json'), by, document: intent }), weight: 5 },
  ];
  const addWay = (type: string, document: fc.Arbitrary<Document>) =>
    ways.push({ arbitrary: fc.record({ type: fc.constant(type), by, force, document }), weight: 1 });
  if (hasStrategic) addWay('strategic', intent);
  if (status !== undefined) for (const type of ['applyStatus', 'mergeStatus']) addWay(type, status);
  if (hasScale) for (const type of ['applyScale', 'mergeScale']) addWay(type, replicas);
  return fc.oneof(...ways) as fc.Arbitrary<Write>;
}

/** Merges like a user's edit: maps by member, other values replaced, null removes. */
function mergeEdit(live: unknown, change: unknown): unknown {
  if (!isMap(live) || !isMap(change)) return change;
  const out: Record<string, unknown> = { ...live };
  for (const [name, inner] of Object.entries(change)) {
    if (inner === null) delete out[name];
    else out[name] = mergeEdit(Object.hasOwn(live, name) ? live[name] : undefined, inner);
  }
  return out;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON patch operations that set each top-level field, or each field of metadata and spec. */
function operationsOf(document: Document) {
  return Object.entries(document).flatMap(([name, part]) =>
    isMap(part) && name === 'metadata'
      ? Object.entries(part).map(([inner, item]) => ({ op: 'add' as const, path: `/metadata/${inner}`, value: item }))
      : isMap(part) && name === 'spec'
        ? Object.entries(part)
            .filter(([inner]) => inner !== 'template')
            .map(([inner, item]) => ({ op: 'add' as const, path: `/spec/${inner}`, value: item }))
        : [{ op: 'add' as const, path: `/${name}`, value: part }],
  );
}
