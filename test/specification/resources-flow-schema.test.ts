/** docs/specification.md, R5: FlowSchema. */
import { FlowSchema } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { compileFlow, distinguisherOf } from '../../src/flowcontrol/classify.js';
import { fieldsOf, type Json, openService, pathOf } from './service.js';

const user = { kind: 'User', user: { name: '*' } };
const onMaps = { verbs: ['get'], apiGroups: [''], resources: ['configmaps'], namespaces: ['*'] };
const onPaths = { verbs: ['get'], nonResourceURLs: ['/healthz'] };
const rule = { subjects: [user], resourceRules: [onMaps] };
const flow = (spec: Json, name = 'a') => ({
  metadata: { name },
  spec: { priorityLevelConfiguration: { name: 'global-default' }, matchingPrecedence: 2, ...spec },
});
const create = (spec: Json) => openService().create('FlowSchema', flow(spec));
const withRule = (one: Json) => create({ rules: [{ subjects: [user], ...one }] });

const MAP = pathOf('ConfigMap', 'x');

/** The name of the FlowSchema that a GET of alice matches, among these (flow-0, flow-1, …) and the initial ones. */
async function flowOf(path: string, ...specs: Json[]): Promise<string | undefined> {
  const alice = { user: 'alice', groups: ['team', 'system:authenticated'] };
  const { cluster, send } = openService({}, { tokens: { t: alice }, flowControl: true });
  const schemas = cluster.api(FlowSchema);
  for (const [index, spec] of specs.entries()) await schemas.create(flow(spec, `flow-${index}`));
  const { headers } = await send('GET', path, undefined, { authorization: 'Bearer t' });
  const uid = headers.get('x-orch-pf-flowschema-uid');
  return (await schemas.list()).items.find(({ metadata }) => metadata.uid === uid)?.metadata.name;
}

describe('FlowSchema', () => {
  test('R5.1: has the documented fields', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'FlowSchema', type);
    expect(await fields('FlowSchema')).toMatchObject({ spec: 'FlowSchemaSpec', status: 'FlowSchemaStatus' });
    expect(await fields('FlowSchemaSpec')).toEqual({
      distinguisherMethod: 'FlowDistinguisherMethod',
      matchingPrecedence: 'int32',
      priorityLevelConfiguration: 'PriorityLevelConfigurationReference!',
      rules: '[]PolicyRulesWithSubjects atomic',
    });
    expect(await fields('PolicyRulesWithSubjects')).toEqual({
      subjects: '[]Subject atomic!',
      nonResourceRules: '[]NonResourcePolicyRule atomic',
      resourceRules: '[]ResourcePolicyRule atomic',
    });
    expect(await fields('Subject')).toEqual({
      kind: 'string!',
      group: 'GroupSubject',
      user: 'UserSubject',
      serviceAccount: 'ServiceAccountSubject',
    });
    expect(await fields('NonResourcePolicyRule')).toEqual({ nonResourceURLs: '[]string set!', verbs: '[]string set!' });
    expect(await fields('ResourcePolicyRule')).toEqual({
      apiGroups: '[]string set!',
      resources: '[]string set!',
      verbs: '[]string set!',
      clusterScope: 'boolean',
      namespaces: '[]string set',
    });
  });

  test('R5.2: the distinguisher is the user, the namespace or empty', async () => {
    const attributes = {
      type: 'resource',
      verb: 'get',
      group: '',
      version: 'v1',
      resource: 'pods',
      subresource: '',
      namespace: 'n',
      name: '',
    } as const;
    const distinguisher = (method: Json) => {
      const { spec } = flow(method === undefined ? {} : { distinguisherMethod: { type: method } });
      const compiled = compileFlow({ metadata: { name: 'a', uid: 'u' }, spec });
      return distinguisherOf(compiled, { user: 'alice' }, attributes);
    };
    expect(['ByUser', 'ByNamespace', undefined].map(distinguisher)).toEqual(['alice', 'n', '']);
    expect((await create({ distinguisherMethod: { type: 'ByUser' } })).code).toBe(201);
    for (const distinguisherMethod of [{}, { type: 'ByMood' }]) {
      const { causes } = await create({ distinguisherMethod });
      expect(causes).toEqual([expect.stringContaining('spec.distinguisherMethod.type: ')]);
    }
  });

  test('R5.3: the precedence is from 1 to 10000, by default 1000', async () => {
    expect((await create({ matchingPrecedence: undefined })).body.spec.matchingPrecedence).toBe(1000);
    expect((await create({ matchingPrecedence: 10_000 })).code).toBe(201);
    for (const matchingPrecedence of [-1, 10_001]) {
      expect((await create({ matchingPrecedence })).causes).toEqual(['spec.matchingPrecedence: Invalid']);
    }
  });

  test('R5.4: the matching FlowSchema with the smallest precedence is selected', async () => {
    const [two, three] = [2, 3].map((matchingPrecedence) => ({ matchingPrecedence, rules: [rule] }));
    expect(await flowOf(MAP, three, two)).toBe('flow-1');
    expect(await flowOf(MAP, two, three)).toBe('flow-0');
  });

  test('R5.5: the priority level is required; a FlowSchema without an existing one is ignored and marked', async () => {
    const service = openService();
    for (const level of [undefined, {}]) {
      const body = flow({ priorityLevelConfiguration: level });
      const { causes } = await service.create('FlowSchema', body);
      expect(causes).toEqual(['spec.priorityLevelConfiguration.name: Required']);
    }
    const dangling = { priorityLevelConfiguration: { name: 'absent' }, rules: [rule] };
    expect(await flowOf(MAP, dangling)).not.toBe('flow-0');
    const marked = openService({}, { flowControl: true });
    await marked.create('FlowSchema', flow(dangling));
    await marked.list('ConfigMap');
    const { status } = (await marked.get('FlowSchema', 'a')).body;
    expect(status.conditions).toEqual([expect.objectContaining({ type: 'Dangling', status: 'True' })]);
  });

  test('R5.6: one matching rule suffices, and no rules match nothing', async () => {
    const other = { subjects: [{ kind: 'User', user: { name: 'bob' } }], resourceRules: [onMaps] };
    expect(await flowOf(MAP, { rules: [other, rule] })).toBe('flow-0');
    expect(await flowOf(MAP, { rules: [other] })).not.toBe('flow-0');
    expect(await flowOf(MAP, { rules: [] })).not.toBe('flow-0');
  });

  test('R5.7: a rule matches if a subject and a member of one of its lists match', async () => {
    const both = { subjects: [user], resourceRules: [onMaps], nonResourceRules: [onPaths] };
    expect(await flowOf(MAP, { rules: [both] })).toBe('flow-0');
    expect(await flowOf('/healthz', { rules: [both] })).toBe('flow-0');
    expect(await flowOf(pathOf('Secret', 'x'), { rules: [both] })).not.toBe('flow-0');
    const groups = ['system:authenticated', 'system:unauthenticated'];
    const subjects = groups.map((name) => ({ kind: 'Group', group: { name } }));
    expect(await flowOf(MAP, { rules: [{ ...rule, subjects }] })).toBe('flow-0');
  });

  test('R5.8: a rule has a subject, and a rule for resources or for paths', async () => {
    expect((await withRule({ subjects: [], resourceRules: [onMaps] })).causes).toEqual([
      'spec.rules[0].subjects: Required',
    ]);
    expect((await withRule({})).causes).toEqual([expect.stringContaining('spec.rules[0]')]);
    expect((await withRule({ resourceRules: [onMaps] })).code).toBe(201);
    expect((await withRule({ nonResourceRules: [onPaths] })).code).toBe(201);
  });

  test.each<[string, Json, boolean]>([
    ['the user', { kind: 'User', user: { name: 'alice' } }, true],
    ['another user', { kind: 'User', user: { name: 'bob' } }, false],
    ['all users', user, true],
    ['a group', { kind: 'Group', group: { name: 'team' } }, true],
    ['all groups', { kind: 'Group', group: { name: '*' } }, true],
    ['service accounts', { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'default' } }, false],
  ])('R5.9: the subject %s matches its users', async (_, subject, matches) => {
    const found = await flowOf(MAP, { rules: [{ ...rule, subjects: [subject] }] });
    expect(found === 'flow-0').toBe(matches);
  });

  test.each<[string, Json, string]>([
    ['no kind', {}, 'kind'],
    ['no user', { kind: 'User' }, 'user'],
    ['a user without a name', { kind: 'User', user: {} }, 'user.name'],
    ['a group without a name', { kind: 'Group', group: {} }, 'group.name'],
    [
      'an account without a namespace',
      { kind: 'ServiceAccount', serviceAccount: { name: 'x' } },
      'serviceAccount.namespace',
    ],
    [
      'an account without a name',
      { kind: 'ServiceAccount', serviceAccount: { namespace: 'x' } },
      'serviceAccount.name',
    ],
  ])('R5.9: a subject with %s is rejected', async (_, subject, field) => {
    const { code, causes } = await withRule({ subjects: [subject], resourceRules: [onMaps] });
    expect(code).toBe(422);
    expect(causes.join()).toContain(`spec.rules[0].subjects[0].${field}: `);
  });

  test.each<[string[], number]>([
    [['/healthz'], 201],
    [['/hea'], 201],
    [['/healthz/*'], 201],
    [['*'], 201],
    [['/hea*'], 422],
    [['*', '/healthz'], 422],
    [[], 422],
  ])('R5.10: the URLs %j of a rule are answered with %i', async (nonResourceURLs, code) => {
    expect((await withRule({ nonResourceRules: [{ ...onPaths, nonResourceURLs }] })).code).toBe(code);
  });

  test.each<[string, string, boolean]>([
    ['/healthz', '/healthz', true],
    ['/hea', '/healthz', false],
    ['/hea/*', '/healthz', false],
    ['/healthz/*', '/healthz/ping', true],
    ['*', '/healthz', true],
  ])('R5.10: the URL %s and a request for %s', async (url, path, matches) => {
    const nonResourceRules = [{ verbs: ['get'], nonResourceURLs: [url] }];
    expect((await flowOf(path, { rules: [{ subjects: [user], nonResourceRules }] })) === 'flow-0').toBe(matches);
  });

  test.each<[string, Json]>([
    ['verbs', { nonResourceRules: [{ ...onPaths, verbs: [] }] }],
    ['several verbs besides *', { nonResourceRules: [{ ...onPaths, verbs: ['*', 'get'] }] }],
    ['resource verbs', { resourceRules: [{ ...onMaps, verbs: [] }] }],
    ['resource verbs besides *', { resourceRules: [{ ...onMaps, verbs: ['get', '*'] }] }],
    ['groups', { resourceRules: [{ ...onMaps, apiGroups: [] }] }],
    ['groups besides *', { resourceRules: [{ ...onMaps, apiGroups: ['', '*'] }] }],
    ['resources', { resourceRules: [{ ...onMaps, resources: [] }] }],
    ['resources besides *', { resourceRules: [{ ...onMaps, resources: ['*', 'pods'] }] }],
    ['namespaces', { resourceRules: [{ ...onMaps, namespaces: [] }] }],
  ])('R5.11: rejects a rule with invalid %s', async (_, one) => {
    expect((await withRule(one)).code).toBe(422);
  });

  test('R5.12: a resource rule matches verb, group, resource and namespace or cluster scope', async () => {
    const matches = async (path: string, change: Json) =>
      (await flowOf(path, { rules: [{ subjects: [user], resourceRules: [{ ...onMaps, ...change }] }] })) === 'flow-0';
    expect(await matches(MAP, {})).toBe(true);
    expect(await matches(MAP, { verbs: ['list'] })).toBe(false);
    expect(await matches(MAP, { apiGroups: ['apps'] })).toBe(false);
    expect(await matches(MAP, { resources: ['pods'] })).toBe(false);
    expect(await matches(MAP, { namespaces: ['other'] })).toBe(false);
    expect(await matches(MAP, { namespaces: ['default'] })).toBe(true);
    const nodes = { resources: ['nodes', 'nodes/status'] };
    expect(await matches('/api/v1/nodes/n', nodes)).toBe(false);
    expect(await matches('/api/v1/nodes/n', { ...nodes, namespaces: undefined, clusterScope: true })).toBe(true);
    expect(await matches('/api/v1/nodes/n/status', { ...nodes, clusterScope: true })).toBe(true);
    expect(await matches(MAP, { namespaces: undefined, clusterScope: true })).toBe(false);
  });

  test('R5.13: conditions have a type as key and a known status', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'FlowSchema', 'FlowSchemaStatus')).toEqual({
      conditions: '[]FlowSchemaCondition map type',
    });
    expect(await fieldsOf(service, 'FlowSchema', 'FlowSchemaCondition')).toEqual({
      type: 'string',
      status: 'string',
      lastTransitionTime: 'Time',
      reason: 'string',
      message: 'string',
    });
    await service.create('FlowSchema', flow({}));
    const put = (status: string) =>
      service.merge('FlowSchema', 'a/status', { status: { conditions: [{ type: 'Dangling', status }] } });
    for (const status of ['True', 'False', 'Unknown']) expect((await put(status)).code).toBe(200);
    expect((await put('Maybe')).causes).toEqual(['status.conditions[0].status: NotSupported']);
  });
});
