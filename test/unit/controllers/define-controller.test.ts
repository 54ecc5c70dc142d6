/**
 * `defineController`: what triggers a reconcile, what it can access, and that it runs over any transport.
 */
import { createClient, defineKind, errors, status } from 'orchplane';
import {
  controllerReference,
  controllers,
  defineController,
  type ReconcileContext,
  runControllers,
  watching,
} from 'orchplane/controllers';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ClusterRole, ClusterRoleBinding, ConfigMap, CoreEvent, Namespace, Secret } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';

const Site = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Site',
  scope: 'Namespaced',
  body: {
    spec: z.object({ pages: z.array(z.string()), theme: z.string().optional() }),
    status: z.object({ published: z.number() }).optional(),
  },
  subresources: { status },
});

/** Keeps exactly one ConfigMap for each page. */
const sites = defineController({
  name: 'sites',
  kind: Site,
  owns: [ConfigMap],
  watches: [
    watching(Secret, ({ metadata }, { informer }) =>
      informer(Site)
        .list(metadata.namespace)
        .filter(({ spec }) => spec.theme === metadata.name),
    ),
  ],
  async reconcile(site, { client, owned, informer }) {
    const { namespace } = site.metadata;
    const maps = client.api(ConfigMap, namespace);
    const pages = owned(ConfigMap);
    const theme = site.spec.theme === undefined ? undefined : informer(Secret).get(site.spec.theme, namespace);
    const colour = theme?.metadata.annotations?.['colour'] ?? 'none';
    for (const page of site.spec.pages) {
      const known = pages.find(({ data }) => data?.['page'] === page);
      if (known === undefined) {
        await maps.create({
          metadata: { generateName: `${site.metadata.name}-`, ownerReferences: [controllerReference(site)] },
          data: { page, colour },
        });
      } else if (known.data?.['colour'] !== colour) {
        await maps.edit(known.metadata.name, (draft) => {
          draft.data = { page, colour };
        });
      }
    }
    for (const { data, metadata } of pages) {
      if (!site.spec.pages.includes(data?.['page'] ?? '')) await maps.delete(metadata.name);
    }
    if (site.status?.published !== site.spec.pages.length) {
      await client.api(Site, namespace).status.edit(site.metadata.name, (draft) => {
        draft.status = { published: site.spec.pages.length };
      });
    }
  },
});

function withSites() {
  const failures: string[] = [];
  const cluster = testCluster();
  cluster.install(Site);
  const running = runControllers(cluster, [sites], { onError: (error, about) => failures.push(`${about}: ${error}`) });
  return { cluster, running, failures };
}

async function pagesOf(cluster: TestCluster) {
  const { items } = await cluster.api(ConfigMap).list();
  return items
    .flatMap(({ data }) => (data?.['page'] === undefined ? [] : [`${data['page']} ${data['colour']}`]))
    .sort();
}

const home = (pages: string[], theme?: string) => ({
  metadata: { name: 'home' },
  spec: { pages, ...(theme === undefined ? {} : { theme }) },
});

test('recreates children that another client deletes', async () => {
  const { cluster, failures } = withSites();
  await cluster.api(Site).create(home(['a', 'b']));
  await cluster.settle();
  expect(await pagesOf(cluster)).toEqual(['a none', 'b none']);
  expect((await cluster.api(Site).get('home')).status).toEqual({ published: 2 });

  await cluster.api(Site).edit('home', (draft) => {
    draft.spec.pages = ['b', 'c', 'd'];
  });
  await cluster.settle();
  expect(await pagesOf(cluster)).toEqual(['b none', 'c none', 'd none']);

  await cluster.api(ConfigMap).deleteCollection();
  await cluster.settle();
  expect(await pagesOf(cluster)).toEqual(['b none', 'c none', 'd none']);
  expect(failures).toEqual([]);
  await cluster.close();
  expect(cluster.clock.pending).toBe(0);
});

test('reconciles the objects that the mapping of a watched object names', async () => {
  const { cluster } = withSites();
  await cluster.api(Site).create(home(['a'], 'dark'));
  await cluster.settle();
  await cluster.api(Secret).create({ metadata: { name: 'dark', annotations: { colour: 'black' } } });
  await cluster.api(Secret).create({ metadata: { name: 'light', annotations: { colour: 'white' } } });
  await cluster.settle();
  expect(await pagesOf(cluster)).toEqual(['a black']);
  await cluster.api(Secret).delete('dark');
  await cluster.settle();
  expect(await pagesOf(cluster)).toEqual(['a none']);
});

test('reports a mapping that throws for an object that exists before the controller, and starts', async () => {
  const parent = testCluster();
  await parent.api(Secret).create({ metadata: { name: 'wrong' } });
  await parent.api(Secret).create({ metadata: { name: 'theme' } });
  const reported: string[] = [];
  const reconciled: string[] = [];
  const mapped = defineController({
    name: 'mapped',
    kind: Namespace,
    watches: [
      watching(Secret, ({ metadata }) => {
        if (metadata.name === 'wrong') throw new Error('the mapping fails');
        return [{ name: 'kube-system' }];
      }),
    ],
    reconcile: ({ metadata }) => void reconciled.push(metadata.name),
  });
  const running = runControllers(parent, [mapped], {
    onError: (error, context) => reported.push(`${context}: ${String(error)}`),
  });
  await running.settle();
  expect(reported).toEqual(['the informer of /v1/secrets: Error: the mapping fails']);
  expect(reconciled).toContain('kube-system');
  await running.close();
});

test('ignores an owner with the same name and another kind', async () => {
  const reconciled: string[] = [];
  const counting = defineController({
    name: 'counting',
    kind: Namespace,
    owns: [ConfigMap],
    reconcile: ({ metadata }) => void reconciled.push(metadata.name),
  });
  await using cluster = testCluster({ controllers: controllers([counting]) });
  await cluster.settle();
  reconciled.length = 0;
  const other = { apiVersion: 'example.com/v1', kind: 'Namespace', name: 'default', uid: 'x', controller: true };
  await cluster.api(ConfigMap).create({ metadata: { name: 'a', ownerReferences: [other] } });
  await cluster.settle();
  expect(reconciled).toEqual([]);
  const { metadata } = await cluster.api(Namespace).get('default');
  const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: metadata.uid, controller: true };
  await cluster.api(ConfigMap).create({ metadata: { name: 'b', ownerReferences: [owner] } });
  await cluster.settle();
  expect(reconciled).toEqual(['default']);
});

describe('finalizer of a defined controller', () => {
  function held(cleanup: (name: string, context: ReconcileContext) => Promise<void> = async () => undefined) {
    const log: string[] = [];
    const controller = defineController({
      name: 'held',
      kind: ConfigMap,
      labels: { held: 'yes' },
      finalizer: {
        name: 'example.com/held',
        cleanup: async ({ metadata }, context) => {
          log.push(`cleanup ${metadata.name}`);
          await cleanup(metadata.name, context);
        },
      },
      reconcile: ({ metadata }) => void log.push(`reconcile ${metadata.name} ${metadata.finalizers?.join()}`),
      backoff: { firstMs: 1_000, longestMs: 1_000 },
    });
    const cluster = testCluster({ controllers: controllers([controller]) });
    return { cluster, log, configMaps: cluster.api(ConfigMap) };
  }

  test('adds the finalizer before the first reconcile and keeps other finalizers', async () => {
    const { cluster, log, configMaps } = held();
    await configMaps.create({ metadata: { name: 'a', labels: { held: 'yes' }, finalizers: ['example.com/other'] } });
    await configMaps.create({ metadata: { name: 'free' } });
    await cluster.settle();
    expect(log).toEqual(['reconcile a example.com/other,example.com/held']);
    expect((await configMaps.get('free')).metadata.finalizers).toBeUndefined();
  });

  test('keeps an object until the cleanup of its finalizer succeeds', async () => {
    let broken = true;
    const { cluster, log, configMaps } = held(async () => {
      if (broken) throw new Error('the disk is busy');
    });
    await configMaps.create({ metadata: { name: 'a', labels: { held: 'yes' } } });
    await cluster.settle();
    await configMaps.delete('a');
    await cluster.settle();
    expect((await configMaps.get('a')).metadata.deletionTimestamp).toBeDefined();
    expect(log.slice(1)).toEqual(['cleanup a']);
    broken = false;
    await cluster.clock.advance(1_000);
    expect(await configMaps.find('a')).toBeUndefined();
    expect(log.slice(1)).toEqual(['cleanup a', 'cleanup a']);
  });

  test('removes the finalizer of an object that is no longer selected', async () => {
    const { cluster, log, configMaps } = held();
    await configMaps.create({ metadata: { name: 'a', labels: { held: 'yes' } } });
    await cluster.settle();
    await configMaps.edit('a', (draft) => {
      draft.metadata.labels = {};
    });
    await configMaps.delete('a');
    await cluster.settle();
    expect(await configMaps.find('a')).toBeUndefined();
    expect(log.at(-1)).toBe('cleanup a');
  });

  test('adds the finalizer after conflicts', async () => {
    const { cluster, log, configMaps } = held();
    let conflicts = 2;
    cluster.use((request, next) => {
      if (request.verb === 'patch' && conflicts-- > 0)
        throw errors.conflict({ group: '', resource: 'configmaps' }, 'a', 'x');
      return next();
    });
    await configMaps.create({ metadata: { name: 'a', labels: { held: 'yes' } } });
    await cluster.settle();
    expect(log).toEqual(['reconcile a example.com/held']);
  });
});

describe('selection of a defined controller', () => {
  test('selects by namespace, labels and predicate, and calls onGone for objects that leave the selection', async () => {
    const log: string[] = [];
    const picky = defineController({
      name: 'picky',
      kind: ConfigMap,
      namespace: 'default',
      labels: 'tier in (a, b)',
      where: ({ data }) => data?.['off'] === undefined,
      reconcile: ({ metadata }) => void log.push(`+${metadata.name}`),
      onGone: ({ name, namespace }) => void log.push(`-${namespace}/${name}`),
    });
    await using cluster = testCluster({ controllers: controllers([picky]) });
    const maps = cluster.api(ConfigMap);
    await maps.create({ metadata: { name: 'one', labels: { tier: 'a' } } });
    await maps.create({ metadata: { name: 'two', labels: { tier: 'c' } } });
    await maps.create({ metadata: { name: 'three', labels: { tier: 'b' } }, data: { off: '1' } });
    await cluster.api(ConfigMap, 'kube-public').create({ metadata: { name: 'four', labels: { tier: 'a' } } });
    await cluster.settle();
    expect(log).toEqual(['+one']);
    await maps.edit('one', (draft) => {
      draft.metadata.labels = {};
    });
    await maps.edit('three', (draft) => {
      draft.data = {};
    });
    await cluster.settle();
    expect(log).toEqual(['+one', '-default/one', '+three']);
    await maps.delete('three');
    await maps.delete('two');
    await cluster.settle();
    expect(log).toEqual(['+one', '-default/one', '+three', '-default/three']);
  });

  test('ignores terminating objects unless the definition includes them', async () => {
    const seen: string[] = [];
    const plain = defineController({
      name: 'plain',
      kind: ConfigMap,
      namespace: 'default',
      reconcile: ({ metadata }) => void seen.push(metadata.deletionTimestamp === undefined ? 'live' : 'dying'),
    });
    const curious = defineController({
      name: 'curious',
      kind: ConfigMap,
      namespace: 'default',
      whileDeleting: true,
      reconcile: ({ metadata }) => void seen.push(metadata.deletionTimestamp === undefined ? 'LIVE' : 'DYING'),
    });
    await using cluster = testCluster({ controllers: controllers([plain, curious]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a', finalizers: ['example.com/x'] } });
    await cluster.settle();
    await cluster.api(ConfigMap).delete('a');
    await cluster.settle();
    expect([...seen].sort()).toEqual(['DYING', 'LIVE', 'live']);
  });
});

describe('requeues, errors and events of a defined controller', () => {
  test('requeues its own object and other objects after the requested delays', async () => {
    const reconciled: string[] = [];
    const clockwork = defineController({
      name: 'clockwork',
      kind: ConfigMap,
      namespace: 'default',
      reconcile: ({ metadata }, { requeue, now }) => {
        reconciled.push(`${metadata.name} ${now().slice(11, 19)}`);
        if (metadata.name === 'a' && reconciled.length === 1) requeue({ name: 'b', namespace: 'default' }, 5_000);
        return metadata.name === 'a' && reconciled.length < 4 ? { requeueAfterMs: 60_000 } : undefined;
      },
    });
    await using cluster = testCluster({ controllers: controllers([clockwork]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.settle();
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    await cluster.clock.advance(200_000);
    expect(reconciled).toEqual(['a 00:00:00', 'b 00:00:00', 'b 00:00:05', 'a 00:01:00']);
  });

  test.each([0, -1])('does not requeue after %d ms', async (requeueAfterMs) => {
    let reconciles = 0;
    const done = defineController({
      name: 'done',
      kind: ConfigMap,
      namespace: 'default',
      reconcile: () => {
        reconciles++;
        return { requeueAfterMs };
      },
    });
    await using cluster = testCluster({ controllers: controllers([done]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.settle();
    expect(reconciles).toBe(1);
  });

  test('repeats a cleanup that asks for it at once, and keeps the finalizer until then', async () => {
    let left = 3;
    const cleaning = defineController({
      name: 'cleaning',
      kind: ConfigMap,
      namespace: 'default',
      finalizer: { name: 'example.com/cleaning', cleanup: () => (--left > 0 ? { requeueAfterMs: 0 } : undefined) },
      reconcile: () => undefined,
    });
    await using cluster = testCluster({ controllers: controllers([cleaning]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.settle();
    await cluster.api(ConfigMap).delete('a');
    await cluster.settle();
    expect([left, await cluster.api(ConfigMap).find('a')]).toEqual([0, undefined]);
  });

  test('retries after an error that cannot be printed', async () => {
    const unprintable = Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('no message');
      },
    });
    const print = vi.spyOn(console, 'error').mockImplementation(() => {
      throw new Error('no console');
    });
    let reconciles = 0;
    const failing = defineController({
      name: 'failing',
      kind: ConfigMap,
      namespace: 'default',
      reconcile: () => {
        if (reconciles++ < 2) throw unprintable;
      },
      backoff: { firstMs: 1_000, longestMs: 1_000 },
    });
    await using cluster = testCluster({ controllers: controllers([failing]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.clock.advance(10_000);
    expect(print).toHaveBeenCalled();
    print.mockRestore();
    expect(reconciles).toBe(3);
  });

  test('passes the number of failures to onError, which decides when to retry', async () => {
    const seenFailures: string[] = [];
    const attempts: number[] = [];
    const unlucky = defineController({
      name: 'unlucky',
      kind: ConfigMap,
      namespace: 'default',
      reconcile: (_object, { clock }) => {
        attempts.push(clock.now());
        throw new Error('no luck');
      },
      onError: (_error, { object, failures }) => {
        seenFailures.push(`${object.metadata.name} ${failures}`);
        return failures < 3 ? { requeueAfterMs: 7_000 } : { requeueAfterMs: Infinity };
      },
    });
    const reported: string[] = [];
    await using cluster = testCluster({
      controllers: controllers([unlucky], {
        onError: (error, about) => reported.push(`${about} ${(error as Error).message}`),
      }),
    });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.clock.advance(60_000);
    expect(seenFailures).toEqual(['a 1', 'a 2', 'a 3']);
    expect(attempts.map((at) => at - (attempts[0] ?? 0))).toEqual([0, 7_000, 14_000]);
    expect(reported).toEqual(Array(3).fill('unlucky: default/a no luck'));
  });

  test('records events about the object with the name of the controller', async () => {
    const teller = defineController({
      name: 'teller',
      kind: ConfigMap,
      namespace: 'default',
      reconcile: (_object, { event }) => event('Warning', 'Odd', 'something is odd'),
    });
    await using cluster = testCluster({ controllers: controllers([teller]) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.settle();
    const [event] = (await cluster.api(CoreEvent).list()).items;
    expect(event).toMatchObject({
      involvedObject: { kind: 'ConfigMap', name: 'a', namespace: 'default' },
      type: 'Warning',
      reason: 'Odd',
      message: 'something is odd',
      source: { component: 'teller' },
    });
  });

  test('reports an informer of an undeclared kind with a hint', async () => {
    const reported: string[] = [];
    const careless = defineController({
      name: 'careless',
      kind: ConfigMap,
      namespace: 'default',
      reconcile: (_object, { informer }) => void informer(Secret).list(),
    });
    await using cluster = testCluster({
      controllers: controllers([careless], { onError: (error) => reported.push((error as Error).message) }),
    });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.settle();
    expect(reported).toEqual([
      'orchplane: the controller careless has no informer of Secret; name the kind in owns, watches or reads',
    ]);
  });

  test('rejects an unknown option of defineController', () => {
    // @ts-expect-error no such option
    expect(() => defineController({ name: 'x', kind: ConfigMap, reconcile: () => undefined, own: [] })).toThrow(
      /defineController has no option "own"/,
    );
  });
});

describe('transports and kinds of a defined controller', () => {
  test('runs over HTTP as in process', async () => {
    const cluster = testCluster();
    cluster.install(Site);
    const handler = createFetchHandler(cluster);
    const transport = httpTransport({
      baseUrl: 'http://cluster.example',
      fetch: (request) => handler(request),
      clock: cluster.clock,
    });
    const failures: string[] = [];
    const running = runControllers(transport, [sites], {
      onError: (error, about) => failures.push(`${about}: ${error}`),
    });
    await running.ready;
    const far = createClient({ transport }).api(Site);
    await far.create(home(['a', 'b']));
    await far.waitFor('home', (site) => site?.status?.published === 2);
    await running.settle();
    expect(await pagesOf(cluster)).toEqual(['a none', 'b none']);
    await far.edit('home', (draft) => {
      draft.spec.pages = ['c'];
    });
    await far.waitFor('home', (site) => site?.status?.published === 1);
    await running.settle();
    expect(await pagesOf(cluster)).toEqual(['c none']);
    expect(failures).toEqual([]);
    running.close();
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });

  test('reconciles and cleans up custom resources', async () => {
    await using cluster = testCluster();
    const [Gadget] = await cluster.installYaml(`
apiVersion: apiextensions.orch.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: gadgets, singular: gadget, kind: Gadget }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {} }
    schema: { openAPIV3Schema: { type: object, x-orch-preserve-unknown-fields: true } }
`);
    if (Gadget === undefined) throw new Error('no kind');
    const seen: unknown[] = [];
    const gadgets = defineController({
      name: 'gadgets',
      kind: Gadget,
      finalizer: { name: 'example.com/gadget', cleanup: ({ metadata }) => void seen.push(`bye ${metadata.name}`) },
      reconcile: (gadget) => void seen.push(gadget['spec']),
    });
    await using running = runControllers(cluster, [gadgets]);
    await cluster.api(Gadget).create({ metadata: { name: 'a' }, spec: { size: 3 } });
    await running.settle();
    expect(seen).toEqual([{ size: 3 }]);
    await cluster.api(Gadget).delete('a');
    await running.settle();
    expect(seen).toEqual([{ size: 3 }, 'bye a']);
    expect(await cluster.api(Gadget).find('a')).toBeUndefined();
  });
});

describe('identity of a defined controller', () => {
  const writer = (name: string) =>
    defineController({
      name,
      kind: Namespace,
      reconcile: async ({ metadata }, { client }) => {
        if (metadata.name !== 'default') return;
        await client.api(ConfigMap).apply({ metadata: { name: 'shared' }, data: { [name]: '1' } });
      },
    });

  test('keeps the fields of two controllers that apply the same object apart', async () => {
    await using cluster = testCluster({ controllers: controllers([writer('one'), writer('two')]) });
    await cluster.settle();
    const { data, metadata } = await cluster.api(ConfigMap).get('shared');
    expect(data).toEqual({ one: '1', two: '1' });
    expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual(['one', 'two']);
  });

  test('reads and writes as its configured service account, limited by its roles', async () => {
    const reported: string[] = [];
    await using cluster = testCluster();
    const options = { accounts: 'own', onError: (error: unknown) => void reported.push(String(error)) } as const;
    await using running = runControllers(cluster, [{ ...writer('one'), account: 'ops/writer' }], options);
    await cluster.clock.advance(1_000);
    expect(reported[0]).toContain('User "system:serviceaccount:ops:writer" cannot list resource "namespaces"');
    await cluster.api(ClusterRole).create({
      metadata: { name: 'writer' },
      rules: [
        { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch', 'get'] },
      ],
    });
    const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'writer' } as const;
    const subjects = [{ kind: 'ServiceAccount', namespace: 'ops', name: 'writer' } as const];
    await cluster.api(ClusterRoleBinding).create({ metadata: { name: 'writer' }, roleRef, subjects });
    await cluster.clock.advance(60_000);
    await running.settle();
    expect((await cluster.api(ConfigMap).get('shared')).data).toEqual({ one: '1' });
  });

  test('uses a service account in kube-system with the controller name by default', async () => {
    const reported: string[] = [];
    await using cluster = testCluster();
    const options = { accounts: 'own', onError: (error: unknown) => void reported.push(String(error)) } as const;
    await using _running = runControllers(cluster, [writer('one')], options);
    await cluster.clock.advance(1_000);
    expect(reported[0]).toContain('User "system:serviceaccount:kube-system:one" cannot list');
  });
});
