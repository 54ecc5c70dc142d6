/**
 * Events, compared byte for byte with lines of the reference server for the same requests (`event-lines.json`, without
 * times), and cases that those lines do not cover.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type AuditEvent, type AuditLevel, auditLine, sourceIPs } from '../../../src/audit/event.js';
import { auditLog } from '../../../src/audit/log.js';
import type { AuditPolicy } from '../../../src/audit/policy.js';
import type { AuditedRequest, AuditRecord } from '../../../src/audit/record.js';
import { kubernetesDialect, orchDialect } from '../../../src/meta/dialect.js';
import { errors, failure } from '../../../src/meta/errors.js';
import type { AccessAttributes } from '../../../src/protocol/access.js';
import { deepFreeze, NumberText } from '../../../src/util/json.js';

const recorded = JSON.parse(readFileSync(new URL('event-lines.json', import.meta.url), 'utf8')) as readonly {
  readonly name: string;
  readonly lines: readonly string[];
}[];

const alice = {
  user: 'alice',
  uid: 'u1',
  groups: ['dev', 'system:authenticated'],
  extra: { z: ['1', '2'], a: ['x'] },
};
const bob = { user: 'bob' };

const configMap = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'uid-1',
    resourceVersion: '7',
    creationTimestamp: null,
    managedFields: [{ manager: 'm', operation: 'Update' }],
  },
  data: { k: '<v>&' },
};
const input = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace: 'default', creationTimestamp: null },
  data: { k: '<v>&' },
};

const attributesOf = (
  verb: string,
  more: Partial<Extract<AccessAttributes, { type: 'resource' }>> = {},
): AccessAttributes => ({
  type: 'resource',
  verb,
  group: '',
  version: 'v1',
  resource: 'configmaps',
  subresource: '',
  namespace: 'default',
  name: '',
  ...more,
});

interface Scenario {
  readonly policy?: Partial<AuditPolicy>;
  readonly level?: AuditLevel;
  readonly attributes: AccessAttributes;
  readonly uri: string;
  readonly user?: AuditedRequest['user'];
  readonly from?: Parameters<typeof sourceIPs>[0];
  readonly userAgent?: string;
  readonly run: (record: AuditRecord) => void;
}

const collection = '/api/v1/namespaces/default/configmaps';
const created = (record: AuditRecord): void => {
  record.received();
  record.requestObject(input);
  record.complete({ code: 201, object: configMap });
};
const creation = { attributes: attributesOf('create'), user: alice, uri: `${collection}?fieldManager=x`, run: created };
const bare = { policy: { omitManagedFields: true }, level: 'RequestResponse', user: alice, uri: collection } as const;
const everywhere = { namespace: '' };

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'create None': { ...creation, level: 'None' },
  'create Metadata': { ...creation, level: 'Metadata' },
  'create Request': { ...creation, level: 'Request' },
  'create RequestResponse': { ...creation, level: 'RequestResponse' },
  'create without managed fields': {
    ...bare,
    attributes: attributesOf('create'),
    run(record) {
      record.received();
      record.requestObject(configMap);
      record.complete({ code: 201, object: deepFreeze(structuredClone(configMap)) });
    },
  },
  'list without managed fields': {
    ...bare,
    attributes: attributesOf('list'),
    run(record) {
      record.received();
      record.complete({
        code: 200,
        object: { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: [configMap] },
      });
    },
  },
  update: {
    attributes: attributesOf('update', { name: 'web' }),
    level: 'Request',
    user: alice,
    uri: `${collection}/web`,
    run(record) {
      record.received();
      record.requestObject(configMap);
      record.complete({ code: 200, object: configMap });
    },
  },
  patch: {
    attributes: attributesOf('patch', { name: 'web' }),
    level: 'Request',
    user: alice,
    uri: `${collection}/web`,
    run(record) {
      record.received();
      record.requestObject({ metadata: { uid: 'other' }, data: { a: null } });
      record.complete({ code: 200, object: configMap });
    },
  },
  missing: {
    attributes: attributesOf('get', { name: 'none' }),
    level: 'RequestResponse',
    user: alice,
    uri: `${collection}/none`,
    run(record) {
      record.received();
      record.complete({ code: 404, object: errors.notFound({ group: '', resource: 'configmaps' }, 'none').status });
    },
  },
  delete: {
    attributes: attributesOf('delete', { name: 'web' }),
    uri: `${collection}/web`,
    run(record) {
      record.received();
      const details = { name: 'web', kind: 'configmaps', uid: 'uid-1' };
      record.complete({ code: 200, object: { kind: 'Status', apiVersion: 'v1', status: 'Success', details } });
    },
  },
  watch: {
    attributes: attributesOf('watch', everywhere),
    level: 'RequestResponse',
    uri: '/api/v1/configmaps?watch=true',
    run(record) {
      record.received();
      record.responseStarted(200);
      record.complete();
    },
  },
  'watch that fails': {
    attributes: attributesOf('watch', everywhere),
    uri: '/api/v1/configmaps?watch=true&resourceVersion=1',
    run(record) {
      record.received();
      const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'too old', reason: 'Expired' };
      record.complete({ code: 410, object: { ...status, code: 410 } });
    },
  },
  'watch without a response': {
    attributes: attributesOf('watch', everywhere),
    uri: '/api/v1/configmaps?watch=true',
    run(record) {
      record.received();
      record.complete();
    },
  },
  'request without a response': {
    attributes: attributesOf('list', everywhere),
    uri: '/api/v1/configmaps',
    run(record) {
      record.received();
      record.complete();
    },
  },
  page: {
    attributes: { type: 'path', verb: 'get', path: '/healthz' },
    level: 'RequestResponse',
    uri: '/healthz?verbose',
    run(record) {
      record.received();
      record.complete({ code: 200 });
    },
  },
  panic: {
    attributes: attributesOf('get', { resource: 'namespaces', name: 'default' }),
    uri: '/api/v1/namespaces/default',
    run(record) {
      record.received();
      record.panic('boom');
    },
  },
  'impersonation and annotations': {
    attributes: attributesOf('get', { group: 'apps', resource: 'deployments', name: 'web', subresource: 'scale' }),
    user: alice,
    uri: '/apis/apps/v1/namespaces/default/deployments/web/scale',
    from: { forwardedFor: '1.2.3.4, nonsense,5.6.7.8', realIp: '5.6.7.8' },
    run(record) {
      record.received();
      record.impersonated({ user: 'carol', groups: ['ops'], extra: {} });
      record.decision({ allowed: true, reason: '' });
      record.deprecated({ removedRelease: '1.36' });
      record.decision({ allowed: false, reason: '' });
      record.complete({ code: 200, object: configMap });
    },
  },
  'long user agent': {
    attributes: { type: 'path', verb: 'get', path: '/version' },
    uri: '/version',
    userAgent: 'x'.repeat(1030),
    run(record) {
      record.received();
      record.complete({ code: 200 });
    },
  },
  unauthenticated: {
    attributes: attributesOf('list', { ...everywhere, resource: 'pods' }),
    user: undefined,
    uri: '/api/v1/pods',
    run(record) {
      const message = 'Unauthorized';
      record.unauthenticated({ code: 401, object: failure({ reason: message, message }).status });
    },
  },
};

function eventsOf(scenario: Scenario, dialect = kubernetesDialect): readonly AuditEvent[] {
  const { level = 'Metadata', attributes, uri, from, userAgent = 'oracle/1.0' } = scenario;
  const audit = auditLog({ policy: { rules: [{ level }], ...scenario.policy } });
  const request: AuditedRequest = {
    attributes,
    user: 'user' in scenario ? scenario.user : bob,
    auditId: () => 'id-1',
    requestURI: () => uri,
    sourceIPs: () => sourceIPs({ ...from, remote: '10.0.0.9:4711' }),
    userAgent,
  };
  const record = audit.begin(request, { dialect, now: () => 0 });
  if (record !== undefined) scenario.run(record);
  return audit.events;
}

describe('recorded events of the reference server', () => {
  test('covers every recorded request of the reference server', () => {
    expect(Object.keys(SCENARIOS)).toEqual(recorded.map(({ name }) => name));
  });

  test.each(recorded.map(({ name, lines }) => [name, lines] as const))(
    'records the same events as the reference server: %s',
    (name, lines) => {
      const scenario = SCENARIOS[name];
      if (scenario === undefined) throw new Error(`no scenario for ${name}`);
      const written = eventsOf(scenario).map((event) =>
        auditLine(event).replace(/("\w+Timestamp"):"[^"]*"/g, '$1:"T"'),
      );
      expect(written).toEqual(lines.map((line) => `${line}\n`));
    },
  );
});

describe('audit records', () => {
  test('prints clock times in microseconds, and the latency of a slow request', () => {
    let nowMs = Date.UTC(2024, 0, 2, 3, 4, 5, 678);
    const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }] } });
    const request = {
      attributes: attributesOf('get'),
      auditId: () => 'id',
      requestURI: () => '/',
      receivedMs: nowMs - 0.25,
    };
    const record = audit.begin(request, { dialect: orchDialect, now: () => nowMs });
    record?.received();
    nowMs += 1500;
    record?.complete({ code: 200 });
    const [first, last] = audit.events;
    expect([first?.requestReceivedTimestamp, first?.stageTimestamp]).toEqual([
      '2024-01-02T03:04:05.677750Z',
      '2024-01-02T03:04:05.677750Z',
    ]);
    expect([last?.requestReceivedTimestamp, last?.stageTimestamp]).toEqual([
      '2024-01-02T03:04:05.677750Z',
      '2024-01-02T03:04:07.178000Z',
    ]);
    expect(last?.annotations).toEqual({ 'apiserver.latency.orch.io/total': '1.50025s' });
  });

  test('uses the names of the dialect in audit events', () => {
    const scenario = SCENARIOS['impersonation and annotations'] as Scenario;
    const [, last] = eventsOf(scenario, orchDialect);
    expect(last?.apiVersion).toBe('audit.orch.io/v1');
    expect(last?.annotations).toEqual({
      'authorization.orch.io/decision': 'allow',
      'authorization.orch.io/reason': '',
      'orch.io/deprecated': 'true',
      'orch.io/removed-release': '1.36',
    });
  });

  test('omits the removed-release annotation if the removal is not scheduled', () => {
    const [last] = eventsOf({
      attributes: attributesOf('get'),
      uri: '/',
      run(record) {
        record.deprecated({ removedRelease: '' });
        record.complete({ code: 200 });
      },
    });
    expect(last?.annotations).toEqual({ 'k8s.io/deprecated': 'true' });
  });

  test('records no decision of an authorizer that failed', () => {
    const [last] = eventsOf({
      attributes: attributesOf('get'),
      uri: '/',
      run(record) {
        record.decision({ allowed: false, reason: '', error: 'no rules' });
        record.complete({ code: 500 });
      },
    });
    expect(last?.annotations).toEqual({ 'authorization.k8s.io/reason': 'internal error' });
  });

  test('omits stages that the policy excludes', () => {
    const stages = (omitStages: NonNullable<AuditPolicy['omitStages']>, name: string) =>
      eventsOf({ ...(SCENARIOS[name] as Scenario), policy: { omitStages } }).map(({ stage }) => stage);
    expect(stages(['RequestReceived'], 'watch')).toEqual(['ResponseStarted', 'ResponseComplete']);
    expect(stages(['ResponseStarted', 'ResponseComplete'], 'watch')).toEqual(['RequestReceived']);
    expect(stages(['Panic'], 'panic')).toEqual(['RequestReceived']);
  });

  test('ignores calls on an audit record after its end', () => {
    const events = eventsOf({
      attributes: attributesOf('watch'),
      uri: '/',
      run(record) {
        record.complete({ code: 200 });
        record.complete({ code: 500 });
        record.responseStarted(500);
        record.panic(new Error('late'));
        record.unauthenticated({ code: 401 });
        record.received();
      },
    });
    expect(events.map(({ stage, responseStatus }) => [stage, responseStatus?.code])).toEqual([
      ['ResponseStarted', 200],
      ['ResponseComplete', 200],
    ]);
  });

  test('keeps the first annotation of a key, also if the key is a prototype member name', () => {
    const [last] = eventsOf({
      attributes: attributesOf('get'),
      uri: '/',
      run(record) {
        record.annotate('__proto__', 'a');
        record.annotate('__proto__', 'b');
        record.annotate('toString', 'c');
        record.complete({ code: 200 });
      },
    });
    expect(Object.entries(last?.annotations ?? {})).toEqual([
      ['__proto__', 'a'],
      ['toString', 'c'],
    ]);
  });

  test('limits the annotations of a request', () => {
    const [last] = eventsOf({
      attributes: attributesOf('get'),
      uri: '/',
      run(record) {
        for (let at = 0; at < 10; at++) record.annotate(`n${at}`, 'x'.repeat(1024 * 1024));
        record.annotate('short', 'y');
        record.complete({ code: 200 });
      },
    });
    expect(Object.keys(last?.annotations ?? {})).toEqual([...'0123456'].map((at) => `n${at}`).concat('short'));
  });

  test.each([
    ['Metadata', { plain: '1' }],
    ['Request', { plain: '1', shown: '2' }],
  ] as const)('keeps annotations that contain object data according to the level %s', (level, expected) => {
    const [last] = eventsOf({
      attributes: attributesOf('get'),
      level,
      uri: '/',
      run(record) {
        record.annotate('plain', '1');
        record.annotate('shown', '2', 'body');
        record.complete({ code: 200 });
      },
    });
    expect(last?.annotations).toEqual(expected);
  });

  test('freezes audit events, and ignores later changes of the request object', () => {
    const draft = { metadata: { name: 'web' }, data: { a: '1' } };
    const details = { name: 'web', causes: [] as string[] };
    const [first] = eventsOf({
      attributes: attributesOf('create'),
      level: 'RequestResponse',
      uri: '/',
      run(record) {
        record.requestObject(draft);
        draft.data.a = '2';
        record.complete({ code: 409, object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', details } });
      },
    });
    details.causes.push('late');
    expect(first?.requestObject).toEqual({ metadata: { name: 'web' }, data: { a: '1' } });
    expect(first?.responseStatus?.details).toEqual({ name: 'web', causes: [] });
    expect(() => Object.assign(first?.objectRef ?? {}, { name: 'other' })).toThrow(TypeError);
  });

  test('omits managed fields in the rows of a table', () => {
    const row = (object: unknown) => ({ cells: ['web'], object });
    const [last] = eventsOf({
      attributes: attributesOf('list'),
      policy: { omitManagedFields: true },
      level: 'RequestResponse',
      uri: '/',
      run: (record) => record.complete({ code: 200, object: { kind: 'Table', rows: [row(configMap), row(null)] } }),
    });
    const { managedFields: _gone, ...metadata } = configMap.metadata;
    expect(last?.responseObject).toEqual({ kind: 'Table', rows: [row({ ...configMap, metadata }), row(null)] });
  });

  test.each([
    ['an object of a custom kind Table', { kind: 'Table', spec: {} }],
    ['the rows of another kind', { kind: 'Report', rows: [{ object: configMap }] }],
  ])('leaves %s unchanged', (_what, object) => {
    const [last] = eventsOf({
      ...bare,
      attributes: attributesOf('get'),
      run: (record) => record.complete({ code: 200, object }),
    });
    expect(last?.responseObject).toEqual(object);
  });

  test('keeps managed fields if the rule overrides the policy', () => {
    const [last] = eventsOf({
      attributes: attributesOf('get'),
      policy: { omitManagedFields: true, rules: [{ level: 'RequestResponse', omitManagedFields: false }] },
      uri: '/',
      run: (record) => record.complete({ code: 200, object: configMap }),
    });
    expect(last?.responseObject).toEqual(configMap);
  });

  test('prints numbers of any size and notation as numbers', () => {
    const [last] = eventsOf({
      attributes: attributesOf('patch'),
      level: 'Request',
      uri: '/',
      run(record) {
        record.requestObject({ a: 2n ** 63n - 1n, b: new NumberText('3.0'), c: '\u2028' });
        record.complete({ code: 200 });
      },
    });
    expect(auditLine(last as AuditEvent)).toContain('"requestObject":{"a":9223372036854775807,"b":3,"c":"\\u2028"}');
  });

  test.each([
    ['a list of long texts', Array.from({ length: 11 }, () => 'x'.repeat(1024 * 1024))],
    ['a long key', { ['x'.repeat(11 * 1024 * 1024)]: '' }],
  ])('prints an event without its objects if a line would be too long: %s', (_name, items) => {
    const [last] = eventsOf({
      attributes: attributesOf('list'),
      level: 'RequestResponse',
      uri: '/',
      run(record) {
        record.requestObject({ a: 1 });
        record.annotate('b', '');
        record.complete({ code: 200, object: deepFreeze({ items }) });
      },
    });
    expect(last?.responseObject).toHaveProperty('items');
    const line = JSON.parse(auditLine(last as AuditEvent));
    expect(line).toMatchObject({ requestURI: '/', responseStatus: { code: 200 }, level: 'RequestResponse' });
    expect(line.annotations).toEqual({ 'audit.k8s.io/truncated': 'true', b: '' });
    expect(line).not.toHaveProperty('requestObject');
    expect(line).not.toHaveProperty('responseObject');
  });

  test('terminates for a cyclic body', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const [last] = eventsOf({
      attributes: attributesOf('patch'),
      level: 'Request',
      uri: '/',
      run(record) {
        record.requestObject(circle);
        record.complete({ code: 400 });
      },
    });
    expect(auditLine(last as AuditEvent).length).toBeLessThan(10_000);
  });
});

describe('source addresses', () => {
  test.each([
    [{ remote: '10.0.0.1:80' }, ['10.0.0.1']],
    [{ remote: '[2001:db8::1]:80' }, ['2001:db8::1']],
    [{ remote: '2001:DB8:0::1' }, ['2001:db8::1']],
    [{ remote: '::ffff:10.0.0.1' }, ['10.0.0.1']],
    [{ remote: 'pipe' }, []],
    [{}, []],
    [{ forwardedFor: ' 1.1.1.1 ,, x, 010.0.0.1', remote: '10.0.0.1:1' }, ['1.1.1.1', '10.0.0.1']],
    [{ realIp: '1.1.1.1', forwardedFor: '1.1.1.1,2.2.2.2' }, ['1.1.1.1', '2.2.2.2']],
    [{ realIp: '1.1.1.1', remote: '1.1.1.1:5' }, ['1.1.1.1']],
    [{ realIp: '1.1.1.1 ', forwardedFor: null }, []],
  ])('reads from %j the source addresses %j', (origin, expected) => {
    expect(sourceIPs(origin)).toEqual(expected);
  });

  test('are the last ones of a long header, which clients without credentials can send', () => {
    const found = sourceIPs({ forwardedFor: `${'11.1.1.1,'.repeat(100_000)}2.2.2.2` });
    expect(found.length).toBeLessThan(2_000);
    expect(new Set(found)).toEqual(new Set(['11.1.1.1', '2.2.2.2']));
    expect(found.at(-1)).toBe('2.2.2.2');
  });
});
