/** Matchers for any test runner: when they pass, when they fail, and their messages. */
import { errors } from 'orchplane';
import { ConfigMap, Deployment, Pod, Secret } from 'orchplane/kinds';
import {
  ensure,
  type MatcherResult,
  matchers,
  type OrchplaneMatchers,
  recordRequests,
  testCluster,
} from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

function failed({ pass, message }: MatcherResult): string {
  expect(pass).toBe(false);
  return message();
}

function passed({ pass, message }: MatcherResult): string {
  expect(pass).toBe(true);
  return message();
}

const DEPLOYMENT = `
  apiVersion: apps/v1
  kind: Deployment
  metadata: { name: web }
  spec:
    replicas: 2
    selector: { matchLabels: { app: web } }
    template:
      metadata: { labels: { app: web } }
      spec:
        containers:
          - name: web
            image: nginx
            args: [a, b]
            resources: { limits: { cpu: 1000m, memory: 1024Mi } }
            ports: [{ containerPort: 80 }]
`;

async function deployed() {
  const cluster = testCluster();
  await cluster.applyYaml(DEPLOYMENT);
  return { cluster, web: await cluster.api(Deployment).get('web') };
}

describe('toMatchManifest', () => {
  test('ignores server defaults and compares quantities by value', async () => {
    const { web } = await deployed();
    expect(web.spec.template.spec.containers[0]?.resources?.limits?.['cpu']).toBe('1');
    expect(passed(matchers.toMatchManifest(web, DEPLOYMENT))).toBe(
      'Deployment default/web is what the manifest says, and should not be',
    );
    passed(matchers.toMatchManifest(web, { spec: { replicas: 2, paused: null } }));
    passed(matchers.toMatchManifest(web, '{"metadata":{"name":"web"}}'));
  });

  test('reports each difference with its path', async () => {
    const { web } = await deployed();
    const wrong = {
      metadata: { name: 'web', labels: { 'a/b': 'c' } },
      spec: {
        replicas: 3,
        template: {
          spec: {
            containers: [{ name: 'web', args: ['a'], image: 'httpd' }, { name: 'log' }],
            restartPolicy: null,
          },
        },
      },
    };
    const result = matchers.toMatchManifest(web, wrong);
    expect(failed(result)).toBe(
      [
        'Deployment default/web is not what the manifest says:',
        '  metadata.labels: expected {"a/b":"c"}, got nothing',
        '  spec.replicas: expected 3, got 2',
        '  spec.template.spec.containers[name="web"].args: expected 1 items, got 2: ["a","b"]',
        '  spec.template.spec.containers[name="web"].image: expected "httpd", got "nginx"',
        '  spec.template.spec.containers[name="log"]: there is no such item; there are "web"',
        '  spec.template.spec.restartPolicy: expected nothing, got "Always"',
      ].join('\n'),
    );
    expect(result.actual).toMatchObject({ spec: { replicas: 2 } });
    expect(JSON.stringify(result.actual)).not.toContain('progressDeadlineSeconds');
  });

  test('compares stringData with the stored data of a Secret', async () => {
    const secret = await testCluster()
      .api(Secret)
      .create({ metadata: { name: 'a' }, stringData: { key: 'ü' } });
    passed(matchers.toMatchManifest(secret, 'kind: Secret\nstringData: { key: ü }'));
    failed(matchers.toMatchManifest(secret, 'kind: Secret\nstringData: { key: u }'));
  });

  test('accepts exactly one manifest', () => {
    expect(() => matchers.toMatchManifest({}, 'a: 1\n---\nb: 2')).toThrow('takes one manifest, and the text has 2');
  });

  /** Received object, expected object, and the problem or undefined. */
  const compared: Readonly<Record<string, readonly (readonly [unknown, unknown, string?])[]>> = {
    'expected items with equal keys match different items': [
      [
        {
          l: [
            { name: 'v', mountPath: '/a' },
            { name: 'v', mountPath: '/b' },
          ],
        },
        { l: [{ name: 'v', mountPath: '/b' }] },
      ],
      [
        {
          l: [
            { port: 53, protocol: 'TCP' },
            { port: 53, protocol: 'UDP' },
          ],
        },
        { l: [{ port: 53, protocol: 'UDP' }] },
      ],
      [
        { l: [{ port: 53, protocol: 'TCP' }, { port: 80 }, { port: 53, protocol: 'UDP' }] },
        {
          l: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
        },
      ],
      [
        {
          l: [
            { key: 'a', effect: 'X' },
            { key: 'a', effect: 'Y' },
          ],
        },
        { l: [{ key: 'a', effect: 'Y' }] },
      ],
      // The first could match either; the second matches only the item that the first would take.
      [
        {
          l: [
            { key: 'a', effect: 'X' },
            { key: 'a', effect: 'Y' },
          ],
        },
        { l: [{ key: 'a' }, { key: 'a', effect: 'X' }] },
      ],
      [
        {
          l: [
            { key: 'a', effect: 'X' },
            { key: 'b', effect: 'X' },
          ],
        },
        { l: [{ key: 'a' }, { key: 'a', effect: 'X' }] },
        'l[key="a"]: there are not as many such items; there are "a", "b"',
      ],
      [
        {
          l: [
            { key: 'a', effect: 'X', value: 'v' },
            { key: 'a', effect: 'Y', value: 'w' },
          ],
        },
        {
          l: [
            { key: 'a', effect: 'Y', value: 'v', n: 1 },
            { key: 'a', effect: 'X' },
          ],
        },
        'l[key="a"].value: expected "v", got "w"\n  l[key="a"].n: expected 1, got nothing',
      ],
      [{ l: [{ key: 'a' }] }, { l: [{ key: 'b' }] }, 'l[key="b"]: there is no such item; there are "a"'],
    ],
    'the nearest of several items is reported': [
      [
        {
          l: [
            { key: 'a', x: 1, y: 1 },
            { key: 'a', x: 2, y: 2 },
          ],
        },
        { l: [{ key: 'a', x: 2, y: 3 }] },
        'l[key="a"].y: expected 3, got 2',
      ],
    ],
    'quantities of built-in kinds are found by schema': [
      [
        { apiVersion: 'v1', kind: 'Pod', spec: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] } },
        { spec: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1024Mi' } }] } },
      ],
      [
        { apiVersion: 'v1', kind: 'ResourceQuota', status: { used: { pods: '2k' } } },
        { status: { used: { pods: 2000 } } },
      ],
      [
        { apiVersion: 'v1', kind: 'LimitRange', spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } },
        { spec: { limits: [{ type: 'Pod', max: { cpu: '1000m' } }] } },
      ],
      [
        { apiVersion: 'v1', kind: 'ConfigMap', data: { limits: '1000m' } },
        { data: { limits: '1' } },
        'data.limits: expected "1", got "1000m"',
      ],
      [
        { apiVersion: 'v1', kind: 'Pod', spec: { nodeSelector: { capacity: '1k' } } },
        { spec: { nodeSelector: { capacity: '1000' } } },
        'spec.nodeSelector.capacity: expected "1000", got "1k"',
      ],
    ],
    'quantities of other kinds are found by field name': [
      [{ emptyDir: { sizeLimit: '1Gi' } }, { emptyDir: { sizeLimit: '1024Mi' } }],
      [{ resources: { limits: { 'a.io/b': '1000m' } } }, { resources: { limits: { 'a.io/b': 1 } } }],
      [{ requests: { storage: '1Gi' } }, { requests: { storage: '1024Mi' } }],
      [
        {
          kind: 'Mine',
          spec: { template: { spec: { containers: [{ name: 'a', resources: { requests: { cpu: '1' } } }] } } },
        },
        { spec: { template: { spec: { containers: [{ name: 'a', resources: { requests: { cpu: '1000m' } } }] } } } },
      ],
      [{ spec: { hard: { pods: '1k' } } }, { spec: { hard: { pods: '1000' } } }],
      [{ status: { allocatable: { cpu: '2' } } }, { status: { allocatable: { cpu: '2000m' } } }],
      [
        { metadata: { labels: { used: '1e3' } } },
        { metadata: { labels: { used: '1000' } } },
        'metadata.labels.used: expected "1000", got "1e3"',
      ],
      [
        { data: { resources: { limits: { cpu: '1' } } } },
        { data: { resources: { limits: { cpu: '1000m' } } } },
        'data.resources.limits.cpu: expected "1000m", got "1"',
      ],
      [{ spec: { used: '1k' } }, { spec: { used: '1000' } }, 'spec.used: expected "1000", got "1k"'],
    ],
    'integers of any size are compared by value': [
      [{ a: 9007199254740993n }, { a: 5 }, 'a: expected 5, got 9007199254740993'],
      [{ a: [9007199254740993n] }, { a: 'b' }, 'a: expected "b", got [9007199254740993]'],
      [{ a: 9007199254740993n }, { a: 9007199254740993n }],
      [{ a: 5 }, { a: 5n }],
      [{ a: 1.5 }, { a: 1n }, 'a: expected 1, got 1.5'],
      [{ a: 0 }, { a: -0 }],
    ],
    'inherited property names are not fields': [
      [{ data: {} }, { data: { constructor: null } }],
      [{ data: {} }, { data: { toString: 'x' } }, 'data.toString: expected "x", got nothing'],
      [{ data: {} }, JSON.parse('{"data":{"__proto__":{}}}'), 'data.__proto__: expected {}, got nothing'],
      [JSON.parse('{"data":{"__proto__":"a"}}'), JSON.parse('{"data":{"__proto__":"a"}}')],
    ],
  };
  test.each(Object.entries(compared))('compares manifests so that %s', (_name, cases) => {
    for (const [received, expected, problem] of cases) {
      const { pass, message } = matchers.toMatchManifest(received, expected as object);
      const reported = message().split(':\n  ').slice(1).join(':\n  ');
      expect({ expected, pass, reported }).toEqual({ expected, pass: problem === undefined, reported: problem ?? '' });
    }
  });

  test('includes only compared items in the diff', () => {
    const l = [
      { key: 'a', x: 1 },
      { key: 'a', x: 2, y: 2 },
    ];
    const { actual } = matchers.toMatchManifest({ l }, { l: [{ key: 'a', x: 2, y: 3 }] });
    expect(actual).toEqual({ l: [{ key: 'a', x: 2, y: 2 }] });
  });

  test('compares thousands of items quickly', () => {
    const l = Array.from({ length: 3000 }, (_, index) => ({ name: `n${index}`, index }));
    passed(matchers.toMatchManifest({ l }, { l: [...l].reverse() }));
  });
});

describe('object matchers', () => {
  const pod = {
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False', reason: 'NotYet' }] },
  };

  test('toBeReady reports the condition of a pod that is not ready', () => {
    expect(failed(matchers.toBeReady(pod))).toBe(
      'Pod default/web is not ready:\n  condition Ready is "False" (NotYet)',
    );
    const ready = { ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    expect(passed(matchers.toBeReady(ready))).toBe('Pod default/web is ready, and should not be');
  });

  test('toHaveCondition compares status and reason', () => {
    passed(matchers.toHaveCondition(pod, 'Ready', 'False'));
    passed(matchers.toHaveCondition(pod, 'Ready', { reason: /^Not/ }));
    expect(failed(matchers.toHaveCondition(pod, 'Ready'))).toBe(
      'Pod default/web does not have the condition Ready with status "True":\n  status: expected "True", got "False"',
    );
    expect(failed(matchers.toHaveCondition(pod, 'Other'))).toContain('it has Ready is "False" (NotYet)');
  });

  test('toBeOwnedBy compares uid and controller', async () => {
    const configMaps = testCluster().api(ConfigMap);
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
    const owned = await configMaps.create({ metadata: { name: 'owned', ownerReferences: [ref] } });
    passed(matchers.toBeOwnedBy(owned, owner));
    expect(failed(matchers.toBeOwnedBy(owned, owner, { controller: true }))).toContain(
      'an owner, but not the controller',
    );
    expect(failed(matchers.toBeOwnedBy(owner, owned))).toContain('it has no owners');
    await configMaps.delete('owner');
    const another = await configMaps.create({ metadata: { name: 'owner' } });
    expect(failed(matchers.toBeOwnedBy(owned, another))).toContain('that is another object of this name');
    expect(() => matchers.toBeOwnedBy(owned, {})).toThrow('takes the owner as it came from the server');
    expect(() => matchers.toBeOwnedBy(owned, undefined as never)).toThrow('as it came from the server, not nothing');
  });

  test('rejects values that are not objects, also when negated', async () => {
    const owner = await testCluster()
      .api(ConfigMap)
      .create({ metadata: { name: 'owner' } });
    const calls: readonly ((of: OrchplaneMatchers) => void)[] = [
      (of) => of.toBeReady(),
      (of) => of.toBeOwnedBy(owner),
      (of) => of.toMatchManifest({ a: 1 }),
      (of) => of.toHaveCondition('Ready'),
    ];
    const wrong: readonly (readonly [() => unknown, string])[] = [
      [() => Promise.resolve(owner), 'not at a promise, which has to be awaited first'],
      // The rejection of this promise must not end the process.
      [() => Promise.reject(new Error('no')), 'not at a promise, which has to be awaited first'],
      // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable of another library
      [() => ({ then: () => undefined }), 'not at a promise, which has to be awaited first'],
      [() => undefined, 'looks at an object, not at nothing'],
      [() => null, 'not at null'],
      [() => 'text', 'not at "text"'],
      [() => 5n, 'not at 5'],
      [() => [owner], 'looks at an object, not at ['],
      [() => errors.notFound({ group: '', resource: 'pods' }, 'web'), 'not at StatusError: pods "web" not found'],
    ];
    for (const [received, message] of wrong) {
      for (const call of calls) {
        expect(() => call(ensure(received()))).toThrow(message);
        expect(() => call(ensure(received()).not)).toThrow(message);
        expect(() => call(ensure(received()).not)).toThrow(TypeError);
      }
    }
  });

  test('rejects invalid arguments of toHaveCondition', () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [null, 'or an object with status, reason, message, not null'],
      [true, 'takes a status ("True", "False", "Unknown") or an object'],
      [/True/, 'message, not /True/'],
      [{ Status: 'True' }, 'toHaveCondition has no option "Status"'],
    ];
    for (const [expected, message] of wrong) {
      expect(() => ensure(pod).toHaveCondition('Ready', expected as never)).toThrow(message);
      expect(() => ensure(pod).not.toHaveCondition('Ready', expected as never)).toThrow(TypeError);
    }
    expect(() => ensure(pod).toHaveCondition(undefined as never)).toThrow('takes the type of a condition');
  });

  test('toBeStatusError compares reason and message', () => {
    const error = errors.notFound({ group: '', resource: 'pods' }, 'web');
    passed(matchers.toBeStatusError(error));
    // The rejection of a promise that was not awaited must not end the process.
    expect(() => matchers.toBeStatusError(Promise.reject(error))).toThrow('a promise, which has to be awaited first');
    expect(() => matchers.toMatchTrace(testCluster(), '')).toThrow(/an object with [a-zA-Z, ]+, …$/);
    expect(() => matchers.toMatchTrace(['x'.repeat(301)], '')).toThrow(/\["x{298} …$/);
    passed(matchers.toBeStatusError(error, 'NotFound', '"web" not found'));
    expect(failed(matchers.toBeStatusError(error, 'Conflict'))).toBe(
      'expected a StatusError Conflict:\n  it is NotFound (404): pods "web" not found',
    );
    expect(failed(matchers.toBeStatusError(error, 'NotFound', /api/))).toContain('that says /api/');
    expect(failed(matchers.toBeStatusError(new TypeError('oops')))).toContain('it is TypeError: oops');
  });
});

describe('request log matchers', () => {
  async function logged() {
    const cluster = testCluster();
    const log = recordRequests(cluster, { verb: 'write' });
    const made = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap).update({ ...made });
    return log;
  }

  test('toHaveRequested counts matching requests and prints the log', async () => {
    const log = await logged();
    passed(matchers.toHaveRequested(log, ConfigMap));
    passed(matchers.toHaveRequested(log, { verb: 'create' }, 1));
    expect(failed(matchers.toHaveRequested(log, Pod))).toBe(
      [
        'expected at least one request that matches:',
        '  there are 0; the log has:',
        '  create configmaps default/a by local → 201',
        '  update configmaps default/a by local → 200, no change',
      ].join('\n'),
    );
    expect(failed(matchers.toHaveRequested(log, { verb: 'create' }, 2))).toContain('there is 1; those are:');
    expect(() => matchers.toHaveRequested({}, Pod)).toThrow('toHaveRequested looks at a log of recordRequests');
  });

  test('rejects an invalid request filter', async () => {
    const log = await logged();
    for (const filter of [null, 'get', ['get'], 7] as never[]) {
      const message = `takes a kind or an object that says which requests are meant, such as { verb: 'get' }, not ${JSON.stringify(filter)}`;
      expect(() => ensure(log).toHaveRequested(filter)).toThrow(`toHaveRequested ${message}`);
      expect(() => ensure(log).not.toHaveNoOpWrites(filter)).toThrow(`toHaveNoOpWrites ${message}`);
    }
    for (const times of ['1', -1, Number.NaN] as never[])
      expect(() => ensure(log).not.toHaveRequested(Pod, times)).toThrow('times is a whole number from 0 on');
    ensure(log).toHaveRequested(Pod, 0);
  });

  test('toHaveNoOpWrites reports writes without a change', async () => {
    const log = await logged();
    expect(passed(matchers.toHaveNoOpWrites(log))).toBe(
      '1 of 2 writes changed nothing:\n  update configmaps default/a by local → 200, no change',
    );
    failed(matchers.toHaveNoOpWrites(log, { verb: 'create' }));
  });

  test('toMatchTrace prints a diff of the requests', async () => {
    const log = await logged();
    const golden = `
      create configmaps default/a by local → 201
      update configmaps default/a by local → 200, no change
    `;
    passed(matchers.toMatchTrace(log, golden));
    passed(matchers.toMatchTrace(log.trace(), golden));
    expect(failed(matchers.toMatchTrace(log, 'create configmaps default/a by local → 201'))).toBe(
      [
        'the requests are others (- expected, + received):',
        '    create configmaps default/a by local → 201',
        '  + update configmaps default/a by local → 200, no change',
      ].join('\n'),
    );
  });
});

test('throws the message of a matcher from ensure', async () => {
  const pod = { kind: 'Pod', metadata: { name: 'web' }, status: { phase: 'Pending' } };
  ensure(pod).not.toBeReady();
  ensure(pod).toMatchManifest({ status: { phase: 'Pending' } });
  expect(() => ensure(pod).toBeReady()).toThrow('Pod web is not ready:\n  its phase is "Pending"');
  expect(() => ensure(pod).not.toMatchManifest({ kind: 'Pod' })).toThrow(
    'is what the manifest says, and should not be',
  );
});
