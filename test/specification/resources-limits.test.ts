/** docs/specification.md, R6 and R7: LimitRange and ResourceQuota. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService } from './service.js';

const pod = (resources: Json, name = 'p', more: Json = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources }], ...more },
});

/** A service with a LimitRange for containers. */
async function limited(item: Json) {
  const service = openService();
  await service.create('LimitRange', { spec: { limits: [{ type: 'Container', ...item }] } });
  return (resources: Json) => service.create('Pod', pod(resources));
}

describe('LimitRange', () => {
  test('R6.1: has required limits, an atomic list', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'LimitRange', 'LimitRangeSpec')).toEqual({ limits: '[]LimitRangeItem atomic!' });
    for (const body of [{}, { spec: {} }, { spec: { limits: null } }]) {
      expect(await service.create('LimitRange', body)).toMatchObject({ code: 422, causes: ['spec.limits: Required'] });
    }
    expect((await service.create('LimitRange', { spec: { limits: [] } })).code).toBe(201);
  });

  test('R6.2: an item has a required type and maps of quantities', async () => {
    const service = openService();
    const amounts = 'map[Quantity]';
    expect(await fieldsOf(service, 'LimitRange', 'LimitRangeItem')).toEqual({
      type: 'string!',
      default: amounts,
      defaultRequest: amounts,
      max: amounts,
      min: amounts,
      maxLimitRequestRatio: amounts,
    });
    const { causes } = await service.create('LimitRange', { spec: { limits: [{ max: { cpu: '1' } }] } });
    expect(causes).toContain('spec.limits[0].type: Invalid');
  });

  test('R6.3: sets default limits and requests that are omitted', async () => {
    const create = await limited({ default: { cpu: '2' }, defaultRequest: { cpu: '1' } });
    const { body } = await create({});
    expect(body.spec.containers[0].resources).toEqual({ limits: { cpu: '2' }, requests: { cpu: '1' } });
  });

  test('R6.4: rejects usage above the maximum and below the minimum', async () => {
    const create = await limited({ max: { cpu: '2' }, min: { cpu: '1' } });
    expect((await create({ limits: { cpu: '3' } })).code).toBe(403);
    expect((await create({ requests: { cpu: '500m' }, limits: { cpu: '1' } })).code).toBe(403);
    expect((await create({ limits: { cpu: '2' }, requests: { cpu: '1' } })).code).toBe(201);
  });

  test('R6.5: the ratio of limit and request is bounded, and both are needed', async () => {
    const create = await limited({ maxLimitRequestRatio: { cpu: '2' } });
    expect((await create({ limits: { cpu: '3' }, requests: { cpu: '1' } })).code).toBe(403);
    expect((await create({})).code).toBe(403);
    expect((await create({ limits: { cpu: '2' }, requests: { cpu: '1' } })).code).toBe(201);
  });
});

describe('ResourceQuota', () => {
  const bestEffort = { scopes: ['BestEffort'] };
  const selector = (...matchExpressions: Json[]) => ({ scopeSelector: { matchExpressions } });

  test('R7.1: has the documented fields', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'ResourceQuota', 'ResourceQuota')).toMatchObject({
      spec: 'ResourceQuotaSpec',
      status: 'ResourceQuotaStatus',
    });
    expect(await fieldsOf(service, 'ResourceQuota', 'ResourceQuotaSpec')).toEqual({
      hard: 'map[Quantity]',
      scopes: '[]string atomic',
      scopeSelector: 'ScopeSelector',
    });
    expect(await fieldsOf(service, 'ResourceQuota', 'ScopeSelector')).toEqual({
      matchExpressions: '[]ScopedResourceSelectorRequirement atomic',
    });
    expect(await fieldsOf(service, 'ResourceQuota', 'ScopedResourceSelectorRequirement')).toEqual({
      operator: 'string!',
      scopeName: 'string!',
      values: '[]string atomic',
    });
  });

  /** A service with a quota of one pod, whose usage is computed. */
  async function quota(spec: Json) {
    const service = openService();
    await service.create('ResourceQuota', { spec: { hard: { pods: '1' }, ...spec } });
    await service.merge('ResourceQuota', 'a/status', { status: { hard: { pods: '1' }, used: { pods: '0' } } });
    return service;
  }

  test('R7.2: usage is limited per namespace, and the status has limits and usage', async () => {
    const service = await quota({});
    expect((await service.create('Pod', pod({}))).code).toBe(201);
    expect((await service.get('ResourceQuota', 'a')).body.status).toEqual({ hard: { pods: '1' }, used: { pods: '1' } });
    expect((await service.create('Pod', pod({}, 'q'))).code).toBe(403);
  });

  test('R7.3: a quota with scopes tracks only the objects that match all of them', async () => {
    const service = await quota({ scopes: ['BestEffort', 'NotTerminating'] });
    const used = async () => (await service.get('ResourceQuota', 'a')).body.status.used.pods;
    await service.create('Pod', pod({ requests: { cpu: '1' } }));
    await service.create('Pod', pod({}, 'q', { activeDeadlineSeconds: 5 }));
    expect(await used()).toBe('0');
    await service.create('Pod', pod({}, 'r'));
    expect(await used()).toBe('1');
  });

  test.each<[string, Json, number]>([
    ['In with values', { operator: 'In', scopeName: 'PriorityClass', values: ['high'] }, 201],
    ['NotIn with values', { operator: 'NotIn', scopeName: 'PriorityClass', values: ['high'] }, 201],
    ['Exists', { operator: 'Exists', scopeName: 'PriorityClass' }, 201],
    ['DoesNotExist', { operator: 'DoesNotExist', scopeName: 'PriorityClass' }, 201],
    ['In without values', { operator: 'In', scopeName: 'PriorityClass' }, 422],
    ['NotIn without values', { operator: 'NotIn', scopeName: 'PriorityClass' }, 422],
    ['Exists with values', { operator: 'Exists', scopeName: 'PriorityClass', values: ['x'] }, 422],
    ['DoesNotExist with values', { operator: 'DoesNotExist', scopeName: 'PriorityClass', values: ['x'] }, 422],
    ['another operator', { operator: 'Near', scopeName: 'PriorityClass' }, 422],
    ['no operator', { scopeName: 'PriorityClass' }, 422],
    ['no scope', { operator: 'Exists' }, 422],
  ])('R7.4: a selector with %s is answered as documented', async (_, expression, code) => {
    const spec = { hard: { pods: '1' }, ...selector(expression) };
    expect((await openService().create('ResourceQuota', { spec })).code).toBe(code);
  });

  test('R7.5: an object must match the scopes and the selector', async () => {
    const service = await quota({ ...bestEffort, ...selector({ operator: 'Exists', scopeName: 'NotTerminating' }) });
    const used = async () => (await service.get('ResourceQuota', 'a')).body.status.used.pods;
    await service.create('Pod', pod({ requests: { cpu: '1' } }));
    await service.create('Pod', pod({}, 'q', { activeDeadlineSeconds: 5 }));
    expect(await used()).toBe('0');
    await service.create('Pod', pod({}, 'r'));
    expect(await used()).toBe('1');
  });
});
