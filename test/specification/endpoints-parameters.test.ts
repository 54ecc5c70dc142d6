/** docs/specification.md, E3 and E4: parameters and the paths of the kinds. */
import { describe, expect, test } from 'vitest';
import { configMap, EVERYTHING, MAPS, names, open } from './http.js';

describe('parameters', () => {
  test('E3.1: the name and the namespace in the path are those of the object', async () => {
    const { put, post, send } = open();
    await post('/api/v1/namespaces/default/configmaps', configMap('a'));
    expect((await send('GET', `${MAPS}/a`)).body.metadata).toMatchObject({ name: 'a', namespace: 'default' });
    expect((await put(`${MAPS}/a`, configMap('b'))).code).toBe(400);
    expect((await post(MAPS, configMap('c', { metadata: { namespace: 'other' } }))).code).toBe(400);
  });

  test('E3.2: pretty indents a response', async () => {
    const { map, request } = open();
    await map('a');
    const text = async (query: string) => (await request('GET', `${MAPS}/a${query}`)).text();
    expect(await text('?pretty=true')).toContain('\n  "');
    expect(await text('?pretty=false')).not.toContain('\n  "');
  });

  test('E3.3: a list takes selectors, limits and versions, a watch bookmarks and a timeout', async () => {
    const { clock, map, send, watch } = open();
    await map('a', { metadata: { labels: { app: 'web' } } });
    const { body } = await map('b');
    const list = async (query: string) => names((await send('GET', `${MAPS}?${query}`)).body);
    expect(await list('labelSelector=app%3Dweb')).toEqual(['a']);
    expect(await list('fieldSelector=metadata.name%3Db')).toEqual(['b']);
    expect(await list('limit=1')).toEqual(['a']);
    expect(await list(`resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`)).toEqual([
      'a',
      'b',
    ]);
    const { next } = await watch(`${MAPS}?watch=true&timeoutSeconds=5&allowWatchBookmarks=true`);
    expect([(await next())?.type, (await next())?.type]).toEqual(['ADDED', 'ADDED']);
    const end = next();
    await new Promise((resolve) => setTimeout(resolve));
    await clock.advance(5_000);
    expect((await end)?.type ?? 'BOOKMARK').toBe('BOOKMARK');
  });

  test('E3.4, E3.5: writes take dryRun, fieldManager and fieldValidation; force is for apply', async () => {
    const { post, put, patch, send } = open();
    expect((await post(`${MAPS}?dryRun=All`, configMap('a'))).code).toBe(201);
    expect((await send('GET', `${MAPS}/a`)).code).toBe(404);
    const { body } = await post(`${MAPS}?fieldManager=me`, configMap('a', { data: { k: 'v' } }));
    expect(body.metadata.managedFields).toMatchObject([{ manager: 'me' }]);
    const unknown = { ...configMap('a'), colour: 'red' };
    expect((await put(`${MAPS}/a?fieldValidation=Strict`, unknown)).code).toBe(400);
    const warned = await put(`${MAPS}/a?fieldValidation=Warn`, unknown);
    expect(warned.headers.get('warning')).toContain('unknown field');
    expect((await patch('merge', `${MAPS}/a?dryRun=All&fieldManager=m`, { data: { k: 'w' } })).code).toBe(200);
    const forced = `${MAPS}/a?fieldManager=other&force=true`;
    expect((await patch('apply', forced, configMap('a', { data: { k: 'x' } }))).body.data).toEqual({ k: 'x' });
    expect((await patch('merge', forced, {})).code).toBe(422);
    expect(
      (await send('PATCH', `${MAPS}/a`, { headers: { 'content-type': 'application/merge-patch+json' } })).code,
    ).toBe(400);
  });

  test('E3.6: the query of a delete applies with and without a body', async () => {
    const { map, post, send } = open();
    await map('a');
    const removed = async () => (await send('GET', `${MAPS}/a`)).code === 404;
    await send('DELETE', `${MAPS}/a?dryRun=All`);
    expect(await removed()).toBe(false);
    await send('DELETE', `${MAPS}/a?dryRun=All`, { body: { propagationPolicy: 'Background' } });
    expect(await removed()).toBe(false);
    await send('DELETE', `${MAPS}/a?propagationPolicy=Orphan&pretty=true`, { body: {} });
    expect((await send('GET', `${MAPS}/a`)).body.metadata).toMatchObject({ finalizers: ['orphan'] });
    // The body wins where both contain an option.
    await send('DELETE', `${MAPS}/a?propagationPolicy=Orphan`, { body: { propagationPolicy: 'Background' } });
    expect(await removed()).toBe(true);

    const pods = '/api/v1/namespaces/default/pods';
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
    await post(pods, { metadata: { name: 'p' }, spec });
    await send('DELETE', `${pods}/p?gracePeriodSeconds=7&ignoreStoreReadErrorWithClusterBreakingPotential=true`, {
      body: { propagationPolicy: 'Background' },
    });
    expect((await send('GET', `${pods}/p`)).body.metadata).toMatchObject({ deletionGracePeriodSeconds: 7 });
  });

  test('E3.7: a deletecollection takes selectors, a limit, versions and the options of a delete', async () => {
    const { map, patch, send } = open();
    for (const name of ['a', 'b', 'c', 'd']) await map(name, { metadata: { labels: { name } } });
    const remaining = async () => names((await send('GET', MAPS)).body);
    await send('DELETE', `${MAPS}?labelSelector=name%3Da&dryRun=All`);
    await send('DELETE', `${MAPS}?labelSelector=name%3Da&dryRun=All`, { body: {} });
    expect(await remaining()).toEqual(['a', 'b', 'c', 'd']);
    await send('DELETE', `${MAPS}?labelSelector=name%3Da`);
    await send('DELETE', `${MAPS}?fieldSelector=metadata.name%3Db&timeoutSeconds=5`);
    await send('DELETE', `${MAPS}?limit=1&gracePeriodSeconds=0&propagationPolicy=Background`);
    expect(await remaining()).toEqual(['d']);

    // Selects at an earlier version, where c still existed and e did not, and is no precondition.
    const { body } = await patch('merge', `${MAPS}/d`, { data: { k: 'v' } });
    await map('e');
    const { resourceVersion } = body.metadata;
    const exact = `${MAPS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
    await patch('merge', `${MAPS}/d`, { data: { k: 'w' } });
    expect((await send('DELETE', exact)).code).toBe(200);
    expect(await remaining()).toEqual(['e']);
    expect((await send('DELETE', `${MAPS}?resourceVersionMatch=Exact`)).code).toBe(422);
    expect((await send('DELETE', `${MAPS}?resourceVersion=1&resourceVersionMatch=NotOlderThan`)).code).toBe(200);
    expect(await remaining()).toEqual([]);
  });

  test('E3.8: Endpoints and namespaces take dryRun and pretty like other kinds', async () => {
    const { request, send } = open();
    const response = await request('POST', '/api/v1/namespaces?dryRun=All&pretty=true', {
      body: { metadata: { name: 'n' } },
    });
    expect(await response.text()).toContain('\n  "');
    expect((await send('GET', '/api/v1/namespaces/n')).code).toBe(404);
    const endpoints = '/api/v1/namespaces/default/endpoints';
    await send('POST', `${endpoints}?dryRun=All`, { body: { metadata: { name: 'e' } } });
    expect((await send('GET', `${endpoints}/e`)).code).toBe(404);
  });
});

describe('paths of the kinds', () => {
  const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };
  const event = {
    eventTime: '2030-01-01T00:00:00.000000Z',
    action: 'a',
    reason: 'r',
    type: 'Normal',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    regarding: { namespace: 'default' },
  };
  const rule = {
    subjects: [{ kind: 'Group', group: { name: 'g' } }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  };
  const flow = { priorityLevelConfiguration: { name: 'global-default' }, rules: [rule] };
  const migration = { resource: { group: '', version: 'v1', resource: 'secrets' } };
  /** Group and version, resource, a body, and whether it has a status. */
  const NAMESPACED = [
    ['rbac.authorization.orch.io/v1', 'roles', {}, false],
    ['v1', 'endpoints', {}, false],
    ['apps/v1', 'controllerrevisions', { revision: 1, data: {} }, false],
    ['v1', 'limitranges', { spec: { limits: [] } }, false],
    ['v1', 'resourcequotas', { spec: {} }, true],
    ['v1', 'configmaps', {}, false],
    ['v1', 'secrets', {}, false],
    ['events.orch.io/v1', 'events', event, false],
    ['batch/v1', 'cronjobs', { spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } } }, true],
  ] as const;
  const CLUSTER = [
    ['flowcontrol.apiserver.orch.io/v1', 'flowschemas', { spec: flow }, true],
    ['resource.orch.io/v1beta1', 'deviceclasses', { spec: {} }, false],
    ['storagemigration.orch.io/v1alpha1', 'storageversionmigrations', { spec: migration }, true],
    ['scheduling.orch.io/v1', 'priorityclasses', { value: 1 }, false],
    ['storage.orch.io/v1', 'csidrivers', { spec: {} }, false],
    ['storage.orch.io/v1', 'csinodes', { spec: { drivers: [] } }, false],
  ] as const;
  const rootOf = (groupVersion: string) => (groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`);

  test.each([...NAMESPACED, ...CLUSTER])(
    'E4.1: %s %s has its collection, its objects and its status',
    async (...row) => {
      const [groupVersion, resource, body, hasStatus] = row;
      const { post, send } = open(EVERYTHING);
      const root = rootOf(groupVersion);
      const isNamespaced = NAMESPACED.some((each) => each === row || each[1] === resource);
      const path = `${root}/${isNamespaced ? 'namespaces/default/' : ''}${resource}`;
      expect(await post(path, { metadata: { name: 'a' }, ...body })).toMatchObject({ code: 201 });
      expect((await send('GET', `${path}/a`)).code).toBe(200);
      expect(names((await send('GET', `${root}/${resource}`)).body)).toContain('a');
      expect((await send('GET', `${path}/a/status`)).code).toBe(hasStatus ? 200 : 404);
      expect((await send('DELETE', `${path}/a`)).code).toBe(200);
    },
  );

  test('E4.1: the remaining base paths', async () => {
    const { send } = open(EVERYTHING);
    for (const path of [
      '/apis/certificates.orch.io/v1alpha1/clustertrustbundles',
      '/apis/apiregistration.orch.io/v1/apiservices',
      '/apis/networking.orch.io/v1beta1/ipaddresses',
      '/api/v1/namespaces',
      '/api/v1/componentstatuses',
    ]) {
      expect((await send('GET', path)).code).toBe(200);
    }
    expect((await send('GET', '/apis/apiregistration.orch.io/v1/apiservices/v1.apps/status')).code).toBe(200);
  });

  test('E4.2: a namespace has a status and finalize, and no deletecollection', async () => {
    const { put, send } = open();
    const { body } = await send('GET', '/api/v1/namespaces/default');
    expect((await send('GET', '/api/v1/namespaces/default/status')).code).toBe(200);
    expect((await put('/api/v1/namespaces/default/finalize', body)).code).toBe(200);
    expect((await send('GET', '/api/v1/namespaces/default/finalize')).code).toBe(405);
    expect((await send('DELETE', '/api/v1/namespaces')).code).toBe(405);
  });

  test('E4.3: component statuses can only be read', async () => {
    const { post, send } = open();
    const { body } = await send('GET', '/api/v1/componentstatuses');
    expect((await send('GET', `/api/v1/componentstatuses/${names(body)[0]}`)).code).toBe(200);
    expect((await post('/api/v1/componentstatuses', { metadata: { name: 'a' } })).code).toBe(405);
    expect((await send('DELETE', '/api/v1/componentstatuses/a')).code).toBe(405);
  });
});
