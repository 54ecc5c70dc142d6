/** docs/specification.md, L: limits. */
import { describe, expect, test } from 'vitest';
import { EVERYTHING, MAPS, open } from './http.js';

const MINUTE = 60_000;

describe('limits of history', () => {
  test('L1.1: changes are kept for five minutes by default', async () => {
    const { clock, map, watch } = open();
    const { body } = await map('a');
    await map('b');
    const first = async () => {
      const { next } = await watch(`${MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
      return (await next())?.type;
    };
    await clock.advance(4 * MINUTE);
    expect(await first()).toBe('ADDED');
    await clock.advance(4 * MINUTE);
    await map('c');
    expect(await first()).toBe('ERROR');
  });

  test('L1.2: a continue token lives for five minutes by default', async () => {
    const { clock, map, send } = open();
    for (const name of ['a', 'b']) await map(name);
    const { body } = await send('GET', `${MAPS}?limit=1`);
    const code = async () => (await send('GET', `${MAPS}?continue=${body.metadata.continue}`)).code;
    await clock.advance(5 * MINUTE);
    expect(await code()).toBe(200);
    await clock.advance(1_000);
    expect(await code()).toBe(410);
  });
});

describe('limits of fields', () => {
  test('L1.3: matchingPrecedence is 1 to 10000, 1000 by default', async () => {
    const { post } = open();
    const rule = {
      subjects: [{ kind: 'Group', group: { name: 'g' } }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    };
    const create = (name: string, more: object) =>
      post('/apis/flowcontrol.apiserver.orch.io/v1/flowschemas', {
        metadata: { name },
        spec: { priorityLevelConfiguration: { name: 'global-default' }, rules: [rule], ...more },
      });
    expect((await create('a', {})).body['spec']).toMatchObject({ matchingPrecedence: 1000 });
    expect((await create('b', { matchingPrecedence: 10_000 })).code).toBe(201);
    expect((await create('c', { matchingPrecedence: 10_001 })).code).toBe(422);
    expect((await create('d', { matchingPrecedence: -1 })).code).toBe(422);
  });

  test('L1.4: nominalConcurrencyShares is 30 by default; 0 stays 0', async () => {
    const { post } = open();
    const create = (name: string, limited: object) =>
      post('/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations', {
        metadata: { name },
        spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...limited } },
      });
    expect((await create('a', {})).body['spec']).toMatchObject({ limited: { nominalConcurrencyShares: 30 } });
    const zero = await create('b', { nominalConcurrencyShares: 0 });
    expect(zero.body['spec']).toMatchObject({ limited: { nominalConcurrencyShares: 0 } });
  });

  test('L1.5, L1.6: parameters and expressions of a device class have at most 10 Ki', async () => {
    const { post } = open(EVERYTHING);
    const create = (name: string, spec: object) =>
      post('/apis/resource.orch.io/v1beta1/deviceclasses', { metadata: { name }, spec });
    const config = (length: number) => ({
      config: [{ opaque: { driver: 'example.com', parameters: { k: 'v'.repeat(length - '{"k":""}'.length) } } }],
    });
    const selector = (length: number) => ({
      selectors: [{ cel: { expression: `"${'v'.repeat(length - '""==""'.length)}"==""` } }],
    });
    for (const [name, spec] of [
      ['config', config],
      ['selector', selector],
    ] as const) {
      expect((await create(`${name}-a`, spec(10 * 1024))).code).toBe(201);
      expect((await create(`${name}-b`, spec(10 * 1024 + 1))).code).toBe(422);
    }
    const costly = '[1,2,3,4,5,6,7,8,9,10].all(a,[1,2,3,4,5,6,7,8,9,10].all(b,device.attributes["d"].all(c,c!="")))';
    const nested = costly.replaceAll('device.attributes["d"]', 'device.attributes');
    const expression = `device.attributes.all(x,device.attributes.all(y,device.attributes.all(z,${nested})))`;
    expect((await create('costly', { selectors: [{ cel: { expression } }] })).code).toBe(422);
  });

  test('L1.7, L1.8: action, reason and reportingInstance of an event have at most 128 characters, the note 1 kB', async () => {
    const { post } = open();
    const create = (name: string, more: object) =>
      post('/apis/events.orch.io/v1/namespaces/default/events', {
        metadata: { name },
        eventTime: '2030-01-01T00:00:00.000000Z',
        ...{ action: 'a', reason: 'r', type: 'Normal' },
        ...{ reportingController: 'example.com/c', reportingInstance: 'i' },
        regarding: { namespace: 'default' },
        ...more,
      });
    for (const [index, field] of ['action', 'reason', 'reportingInstance'].entries()) {
      expect((await create(`a${index}`, { [field]: 'x'.repeat(128) })).code).toBe(201);
      expect((await create(`b${index}`, { [field]: 'x'.repeat(129) })).code).toBe(422);
    }
    expect((await create('c', { note: 'x'.repeat(1024) })).code).toBe(201);
    expect((await create('d', { note: 'x'.repeat(1025) })).code).toBe(422);
  });

  test('L1.9: a version of a CRD has at most 8 selectable fields', async () => {
    const { post } = open();
    const create = (count: number) => {
      const fields = Array.from({ length: count }, (_, index) => `f${index}`);
      const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]));
      const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
      const selectableFields = fields.map((field) => ({ jsonPath: `.spec.${field}` }));
      return post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
        metadata: { name: `w${count}s.example.com` },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: `w${count}s`, kind: `W${count}` },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, selectableFields }],
        },
      });
    };
    expect((await create(8)).code).toBe(201);
    expect((await create(9)).code).toBe(422);
  });

  test('L1.10: the port of a service reference is 1 to 65535, 443 by default', async () => {
    const { post } = open();
    const create = (name: string, port?: number) =>
      post('/apis/apiregistration.orch.io/v1/apiservices', {
        metadata: { name: `v1.${name}.example.com` },
        spec: {
          ...{ group: `${name}.example.com`, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
          service: { name: 's', namespace: 'default', ...(port === undefined ? {} : { port }) },
        },
      });
    expect((await create('a')).body['spec']).toMatchObject({ service: { port: 443 } });
    expect((await create('b', 65_535)).code).toBe(201);
    for (const port of [65_536, -1]) expect((await create('c', port)).code).toBe(422);
  });

  test('L1.11, L1.12: tokens and file modes of a volume have their defaults and limits', async () => {
    const { post } = open();
    await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 's' } });
    const create = (name: string, projected: object) =>
      post('/api/v1/namespaces/default/pods', {
        metadata: { name },
        spec: { serviceAccountName: 's', containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', projected }] },
      });
    const sources = [{ serviceAccountToken: { path: 'p' } }];
    expect((await create('a', { sources })).body['spec']).toMatchObject({
      volumes: [{ projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] } }],
    });
    expect((await create('b', { sources, defaultMode: 511 })).code).toBe(201);
    expect((await create('c', { sources, defaultMode: 512 })).code).toBe(422);
    expect(
      (await create('d', { sources: [{ serviceAccountToken: { path: 'p', expirationSeconds: 599 } }] })).code,
    ).toBe(422);
  });

  test('L1.13: a cron job keeps 3 successful and 1 failed jobs by default', async () => {
    const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };
    const { body } = await open().post('/apis/batch/v1/namespaces/default/cronjobs', {
      metadata: { name: 'c' },
      spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } },
    });
    expect(body['spec']).toMatchObject({ successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
  });

  test('L1.14: the data of a secret has a maximum size', async () => {
    const { post } = open();
    const create = (name: string, size: number) =>
      post('/api/v1/namespaces/default/secrets', { metadata: { name }, stringData: { k: 'v'.repeat(size) } });
    expect((await create('a', 1024 * 1024)).code).toBe(201);
    expect((await create('b', 1024 * 1024 + 1)).code).toBe(422);
  });

  test('L1.15: a webhook has a timeout of 10 s, the failure policy Fail and the match policy Equivalent', async () => {
    const { body } = await open().post('/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations', {
      metadata: { name: 'w' },
      webhooks: [
        {
          name: 'a.example.com',
          clientConfig: { url: 'https://example.com/x' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    expect(body['webhooks']).toMatchObject([{ timeoutSeconds: 10, failurePolicy: 'Fail', matchPolicy: 'Equivalent' }]);
  });
});
