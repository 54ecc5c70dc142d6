/** Lists and untyped objects with client-node: selectors, pages, discovery, custom resources and errors. */
import { PassThrough } from 'node:stream';
import {
  ApiextensionsV1Api,
  ApisApi,
  AppsV1Api,
  CoreApi,
  CoreV1Api,
  CustomObjectsApi,
  Exec,
  Health,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  PatchStrategy,
  setHeaderOptions,
  VersionApi,
} from '@kubernetes/client-node';
import { ConfigMap, Deployment } from 'orchplane/kinds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asSent, Backup, openSite, refusal, type Site, ways } from './sites.js';

const namespace = 'default';
const names = (list: { readonly items: readonly { readonly metadata?: { readonly name?: string } }[] }): unknown[] =>
  list.items.map(({ metadata }) => metadata?.name);

describe.each(ways)('client-node lists and untyped objects (%s)', (way) => {
  let site: Site;
  let core: CoreV1Api;

  beforeAll(async () => {
    site = await openSite(way);
    site.cluster.install(Backup);
    core = site.config.makeApiClient(CoreV1Api);
    await core.createNamespace({ body: { metadata: { name: 'many' } } });
    for (let number = 0; number < 7; number++) {
      const labels = { app: number % 2 === 0 ? 'even' : 'odd', number: String(number) };
      const body = { metadata: { name: `c${number}`, labels } };
      await core.createNamespacedConfigMap({ namespace: 'many', body });
    }
  });
  afterAll(() => site[Symbol.asyncDispose]());

  describe('lists', () => {
    test('selects lists by labels and fields', async () => {
      const chosen = async (labelSelector: string): Promise<unknown> =>
        names(await core.listNamespacedConfigMap({ namespace: 'many', labelSelector }));
      expect(await chosen('app=even,number!=2')).toEqual(['c0', 'c4', 'c6']);
      expect(await chosen('number in (1, 3),app')).toEqual(['c1', 'c3']);
      expect(await chosen('!app')).toEqual([]);
      const byField = await core.listNamespacedConfigMap({ namespace: 'many', fieldSelector: 'metadata.name=c5' });
      expect(names(byField)).toEqual(['c5']);
      const { code, status } = await refusal(core.listNamespacedConfigMap({ namespace: 'many', labelSelector: 'a=(' }));
      expect([code, status.reason]).toEqual([400, 'BadRequest']);
    });

    test('reads lists in pages at the resourceVersion of the first page', async () => {
      const pages: unknown[][] = [];
      const versions = new Set<string | undefined>();
      let _continue: string | undefined;
      do {
        const page = await core.listNamespacedConfigMap({
          namespace: 'many',
          limit: 3,
          ...(_continue === undefined ? {} : { _continue }),
        });
        if (pages.length === 0) {
          expect(page.metadata?.remainingItemCount).toBe(4);
          await core.createNamespacedConfigMap({ namespace: 'many', body: { metadata: { name: 'late' } } });
        }
        pages.push(names(page));
        versions.add(page.metadata?.resourceVersion);
        _continue = page.metadata?._continue;
      } while (_continue !== undefined && _continue !== '');
      expect(pages).toEqual([['c0', 'c1', 'c2'], ['c3', 'c4', 'c5'], ['c6']]);
      expect(versions.size).toBe(1);
      const expired = await refusal(
        core.listNamespacedConfigMap({ namespace: 'many', limit: 3, _continue: 'nonsense' }),
      );
      expect(expired.code).toBe(400);
    });

    test("lists the same objects as the library's own client", async () => {
      const ours = await site.cluster.api(ConfigMap, 'many').list();
      const theirs = await core.listNamespacedConfigMap({ namespace: 'many' });
      expect(theirs.metadata?.resourceVersion).toBe(ours.metadata.resourceVersion);
      expect(theirs.items.map((item) => item.metadata?.uid)).toEqual(ours.items.map((item) => item.metadata.uid));
    });

    test('deletes a collection', async () => {
      await core.deleteCollectionNamespacedConfigMap({ namespace: 'many', labelSelector: 'app=odd', dryRun: 'All' });
      await core.deleteCollectionNamespacedConfigMap({ namespace: 'many', labelSelector: 'app=even' });
      expect(names(await core.listNamespacedConfigMap({ namespace: 'many', labelSelector: 'app' }))).toEqual([
        'c1',
        'c3',
        'c5',
      ]);
    });
  });

  describe('KubernetesObjectApi', () => {
    let objects: KubernetesObjectApi;
    beforeAll(() => {
      objects = KubernetesObjectApi.makeApiClient(site.config);
    });

    test('finds the path of a built-in kind by discovery, for every verb', async () => {
      const template = { metadata: { labels: { app: 'w' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
      const spec = { replicas: 1, selector: { matchLabels: { app: 'w' } }, template };
      const header = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w', namespace } };
      const created = await objects.create({ ...header, spec });
      expect(asSent(created)).toEqual(await site.cluster.api(Deployment).get('w'));
      await objects.patch({ ...header, spec: { replicas: 3 } });
      const read = await objects.read<typeof created>(header);
      expect(read.spec?.replicas).toBe(3);
      const replaced = await objects.replace({ ...read, metadata: { ...read.metadata, labels: { a: 'b' } } });
      expect(replaced.metadata?.labels).toEqual({ a: 'b' });
      expect(names(await objects.list('apps/v1', 'Deployment', namespace))).toEqual(['w']);
      await objects.delete(header);
      expect((await refusal(objects.read(header))).code).toBe(404);
    });

    test('finds the path of an installed kind by discovery', async () => {
      const header = { apiVersion: 'example.com/v1', kind: 'Backup', metadata: { name: 'b', namespace } };
      const created = await objects.create({ ...header, spec: { source: '/b' } });
      expect(created.spec).toEqual({ source: '/b', keep: 7 });
      const { ServerSideApply } = PatchStrategy;
      const applied = { ...header, spec: { source: '/b', keep: 9 } };
      const forced = await objects.patch(applied, undefined, undefined, 'me', true, ServerSideApply);
      expect(forced.spec?.keep).toBe(9);
      expect(names(await objects.list('example.com/v1', 'Backup'))).toEqual(['b']);
      await objects.delete(header);
      expect(await site.cluster.api(Backup).find('b')).toBeUndefined();
    });

    test('reports an unknown kind or group', async () => {
      const unknown = { apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'a' } };
      await expect(objects.read(unknown)).rejects.toThrow('Unrecognized API version and kind: v1 Nothing');
      const elsewhere = objects.read({ ...unknown, apiVersion: 'nowhere.example/v1' });
      await expect(elsewhere).rejects.toMatchObject({ code: 404 });
    });
  });

  describe('CustomObjectsApi', () => {
    const backups = { group: 'example.com', version: 'v1', namespace, plural: 'backups' };

    test('supports every verb, including status', async () => {
      const custom = site.config.makeApiClient(CustomObjectsApi);
      const body = {
        apiVersion: 'example.com/v1',
        kind: 'Backup',
        metadata: { name: 'photos' },
        spec: { source: '/p' },
      };
      const created = await custom.createNamespacedCustomObject({ ...backups, body });
      expect(created).toEqual(await site.cluster.api(Backup).get('photos'));
      const one = { ...backups, name: 'photos' };
      await custom.patchNamespacedCustomObject({ ...one, body: [{ op: 'replace', path: '/spec/keep', value: 3 }] });
      await custom.patchNamespacedCustomObjectStatus(
        { ...one, body: { status: { phase: 'Done' }, spec: { keep: 99 } } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
      const read = await custom.getNamespacedCustomObject(one);
      expect(read).toMatchObject({ spec: { keep: 3 }, status: { phase: 'Done' } });
      await custom.replaceNamespacedCustomObject({ ...one, body: { ...read, spec: { source: '/q' } } });
      const { items } = await custom.listNamespacedCustomObject({ ...backups, limit: 5 });
      expect(items).toMatchObject([{ spec: { source: '/q', keep: 7 }, status: { phase: 'Done' } }]);
      const invalid = { ...body, metadata: { name: 'bad' }, spec: { source: '', keep: -1 } };
      const { code, status } = await refusal(custom.createNamespacedCustomObject({ ...backups, body: invalid }));
      expect([code, status.details?.causes?.map(({ field }) => field)]).toEqual([422, ['spec.source', 'spec.keep']]);
      expect(await custom.deleteNamespacedCustomObject(one)).toMatchObject({ status: 'Success' });
      expect((await refusal(custom.getNamespacedCustomObject(one))).code).toBe(404);
    });

    test('supports a kind that was defined over HTTP', async () => {
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
      const body = {
        metadata: { name: 'widgets.example.org' },
        spec: {
          group: 'example.org',
          scope: 'Cluster',
          names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      };
      const definition = await site.config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({ body });
      expect(definition.spec.names.plural).toBe('widgets');
    });
  });

  describe('the server', () => {
    test('reports its version, its groups and its health', async () => {
      const version = await site.config.makeApiClient(VersionApi).getCode();
      expect([version.major, version.minor]).toEqual(['1', '33']);
      expect((await site.config.makeApiClient(CoreApi).getAPIVersions()).versions).toEqual(['v1']);
      const { groups } = await site.config.makeApiClient(ApisApi).getAPIVersions();
      expect(groups.map(({ name }) => name)).toEqual(expect.arrayContaining(['apps', 'batch', 'example.com']));
      const { resources } = await site.config.makeApiClient(AppsV1Api).getAPIResources();
      expect(resources.find(({ name }) => name === 'deployments')).toMatchObject({
        kind: 'Deployment',
        namespaced: true,
      });
      const health = new Health(site.config);
      expect([await health.readyz({}), await health.livez({})]).toEqual([true, true]);
    });

    test('reports errors as a Status', async () => {
      const missing = await refusal(core.readNamespacedConfigMap({ namespace, name: 'nope' }));
      expect(missing).toMatchObject({
        code: 404,
        status: {
          kind: 'Status',
          status: 'Failure',
          reason: 'NotFound',
          code: 404,
          message: 'configmaps "nope" not found',
          details: { name: 'nope', kind: 'configmaps' },
        },
      });
      const twice = core.createNamespace({ body: { metadata: { name: 'many' } } });
      expect((await refusal(twice)).status.reason).toBe('AlreadyExists');
      const body = { metadata: { name: 'Not_A_Name' } };
      const invalid = await refusal(core.createNamespacedConfigMap({ namespace, body }));
      expect([invalid.code, invalid.status.details?.causes?.[0]?.field]).toEqual([422, 'metadata.name']);
    });

    test('rejects unknown fields if fieldValidation is Strict', async () => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, dta: {} };
      const custom = site.config.makeApiClient(CustomObjectsApi);
      const spec = { source: '/x', sauce: true };
      const backup = { apiVersion: 'example.com/v1', kind: 'Backup', metadata: { name: 'x' }, spec };
      const backups = { group: 'example.com', version: 'v1', namespace, plural: 'backups', fieldValidation: 'Strict' };
      const { code, status } = await refusal(custom.createNamespacedCustomObject({ ...backups, body: backup }));
      expect([code, status.message]).toEqual([400, expect.stringContaining('unknown field "spec.sauce"')]);
      // The models of client-node drop unknown fields before a request.
      const made = await core.createNamespacedConfigMap({ namespace, body, fieldValidation: 'Strict' });
      expect(made).not.toHaveProperty('dta');
    });

    test('fails logs and exec at once with a reason, because there are no containers', async () => {
      const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
      await core.createNode({ body: { metadata: { name: namespace }, status: { addresses } } });
      const spec = { nodeName: namespace, containers: [{ name: 'a', image: 'a' }] };
      await core.createNamespacedPod({ namespace, body: { metadata: { name: 'idle' }, spec } });
      const out = new PassThrough();
      const why = expect.stringContaining('runs no containers');
      const log = new Log(site.config).log(namespace, 'idle', 'a', out);
      await expect(log).rejects.toMatchObject({ code: 500, body: { message: why } });
      const text = await refusal(core.readNamespacedPodLog({ namespace, name: 'idle' }));
      expect([text.code, text.status.message]).toEqual([500, why]);
      const command = new Exec(site.config).exec(namespace, 'idle', 'a', ['ls'], out, null, null, false);
      await expect(command).rejects.toMatchObject({ message: 'Unexpected server response: 500' });
      await expect(new Log(site.config).log(namespace, 'none', 'a', out)).rejects.toMatchObject({ code: 404 });
    });
  });

  test('authenticates by token, and rejects a wrong token', async () => {
    await using closed = await openSite(way, { tokens: { secret: { user: 'alice', groups: ['system:masters'] } } });
    const mine = closed.config.makeApiClient(CoreV1Api);
    expect(names(await mine.listNamespace())).toContain('default');
    const unauthenticated = new KubeConfig();
    unauthenticated.loadFromOptions({
      clusters: closed.config.clusters,
      users: [{ name: 'unauthenticated', token: 'guess' }],
      contexts: [{ name: 'c', cluster: closed.config.clusters[0]?.name ?? '', user: 'unauthenticated' }],
      currentContext: 'c',
    });
    closed.reach(unauthenticated);
    const refused = unauthenticated.makeApiClient(CoreV1Api).listNamespace();
    await expect(refused).rejects.toMatchObject({ code: 401, message: expect.stringContaining('Unauthorized') });
  });
});
