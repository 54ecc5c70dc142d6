/**
 * Random operations on CRDs and custom resources: the server serves what the accepted CRDs define, discovery and reads
 * agree with it, every version returns every object, a fork equals its parent, and restores lose nothing.
 */
import { type Cluster, type Kind, mergePatch, StatusError } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { api, definition, definitions, GROUP, kindOf, object, version, widget } from '../unit/crd/widgets.js';
import fc from './seeded.js';

const PLURALS = ['as', 'bs', 'cs'];
const KINDS = ['A', 'B', 'C'];
const VERSIONS = ['v1', 'v2', 'v1beta1'];
const NAMES = ['x', 'y'];

const SPECS = [
  object({ n: { type: 'integer' } }),
  object({ n: { type: 'integer' }, t: { type: 'string', default: 'd' } }),
  object({ n: { type: 'integer', maximum: 3 } }),
];

const plural = fc.constantFrom(...PLURALS);
const versionName = fc.constantFrom(...VERSIONS);
const versionSet = fc
  .tuple(
    fc.uniqueArray(versionName, { minLength: 1 }),
    fc.nat(2),
    fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  )
  .map(([names, storage, served]) => ({ names, storage: storage % names.length, served }));

const step = fc.oneof(
  fc.record({
    type: fc.constant('define' as const),
    plural,
    kind: fc.constantFrom(...KINDS),
    short: fc.constantFrom('s', 't', ''),
    scope: fc.constantFrom('Namespaced' as const, 'Cluster' as const),
    versions: versionSet,
    spec: fc.nat(2),
  }),
  fc.record({ type: fc.constant('undefine' as const), plural }),
  fc.record({
    type: fc.constant('create' as const),
    plural,
    version: versionName,
    name: fc.constantFrom(...NAMES),
    n: fc.nat(5),
    isHeld: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('patch' as const),
    plural,
    version: versionName,
    name: fc.constantFrom(...NAMES),
    n: fc.nat(5),
  }),
  fc.record({ type: fc.constant('release' as const), plural, version: versionName, name: fc.constantFrom(...NAMES) }),
  fc.record({ type: fc.constant('delete' as const), plural, version: versionName, name: fc.constantFrom(...NAMES) }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(cluster: Cluster, act: Step): Promise<void> {
  try {
    await perform(cluster, act);
  } catch (error) {
    // Rejections are expected; other errors are not.
    if (!StatusError.is(error)) throw error;
    expect(error.status.code, error.message).toBeLessThan(500);
  }
}

async function perform(cluster: Cluster, act: Step): Promise<unknown> {
  if (act.type === 'define') return defineOrChange(cluster, act);
  if (act.type === 'undefine') return definitions(cluster).delete(`${act.plural}.${GROUP}`);
  if (kindOf(cluster, act.version, act.plural) === undefined) return undefined;
  const objects = api(cluster, act.version, act.plural);
  switch (act.type) {
    case 'create': {
      const finalizers = act.isHeld ? ['example.com/hold'] : [];
      return objects.create(widget(act.name, { n: act.n }, { metadata: { name: act.name, finalizers } }));
    }
    case 'patch':
      return objects.patch(act.name, mergePatch({ spec: { n: act.n } }) as never);
    case 'release':
      return objects.patch(act.name, mergePatch({ metadata: { finalizers: null } }) as never);
    default:
      return objects.delete(act.name);
  }
}

async function defineOrChange(cluster: Cluster, act: Extract<Step, { type: 'define' }>): Promise<unknown> {
  const { names, storage, served } = act.versions;
  const versions = names.map((name, index) =>
    version({
      name,
      storage: index === storage,
      served: served[index] ?? true,
      spec: SPECS[act.spec] as object as never,
    }),
  );
  const shortNames = act.short === '' ? [] : [act.short];
  const input = definition({ names: { plural: act.plural, kind: act.kind, shortNames }, scope: act.scope, versions });
  const live = await definitions(cluster).find(`${act.plural}.${GROUP}`);
  if (live === undefined) return definitions(cluster).create(input);
  const { spec } = input as { spec: object };
  return definitions(cluster).update({ ...live, spec: { ...spec, scope: live.spec.scope } } as never);
}

interface State {
  readonly served: readonly string[];
  readonly objects: readonly unknown[];
}

/** Everything that a client can read of the group, checked for consistency. */
async function stateOf(cluster: Cluster): Promise<State> {
  const all = (await definitions(cluster).list()).items;
  const expected: string[] = [];
  for (const { spec, status } of all) {
    const isTrue = (type: string) =>
      status.conditions?.some((condition) => condition.type === type && condition.status === 'True');
    if (isTrue('NamesAccepted') !== true && isTrue('Established') !== true) continue;
    for (const { name, served } of spec.versions) {
      if (served) expected.push(`${status.acceptedNames.plural}/${name} ${status.acceptedNames.kind} ${spec.scope}`);
    }
    // Stored versions are never dropped accidentally.
    expect(spec.versions.map(({ name }) => name)).toEqual(expect.arrayContaining([...(status.storedVersions ?? [])]));
  }
  const mine = cluster.kinds().filter(({ gvr }) => gvr.group === GROUP);
  const served = mine.map(({ gvr, gvk, kind }) => `${gvr.resource}/${gvr.version} ${gvk.kind} ${kind.scope}`).sort();
  expect(served).toEqual(expected.sort());
  const objects: unknown[] = [];
  const byResource = new Map<string, string>();
  for (const { kind, gvr } of mine) {
    const { items } = (await cluster.all(kind as Kind).list()) as unknown as {
      items: { apiVersion: string; metadata: { name: string } }[];
    };
    expect(items.every(({ apiVersion }) => apiVersion === `${GROUP}/${gvr.version}`)).toBe(true);
    const names = items.map(({ metadata }) => metadata.name).join();
    expect(byResource.get(gvr.resource) ?? names).toBe(names);
    byResource.set(gvr.resource, names);
    objects.push(...items);
  }
  return { served, objects };
}

describe('CRDs and custom resources', () => {
  test('serves CRDs and custom resources consistently at every step, in forks and after a restore', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), fc.nat(24), async (steps, at) => {
        const cluster = testCluster();
        let kept: { readonly snapshot: ReturnType<Cluster['snapshot']>; readonly state: State } | undefined;
        for (const [index, act] of steps.entries()) {
          await take(cluster, act);
          const state = await stateOf(cluster);
          if (index === at % steps.length) kept = { snapshot: cluster.snapshot(), state };
        }
        const last = await stateOf(cluster);
        expect(await stateOf(cluster.fork())).toEqual(last);
        if (kept === undefined) return;
        const end = cluster.snapshot();
        cluster.restore(kept.snapshot);
        expect(await stateOf(cluster)).toEqual(kept.state);
        cluster.restore(end);
        expect(await stateOf(cluster)).toEqual(last);
      }),
      { numRuns: 60 },
    );
  });
});
