/** Matchers, as any runner has them: what passes, what does not, and what they say. */
import { errors } from 'orchplane';
import { ConfigMap, Deployment, Pod, Secret } from 'orchplane/kinds';
import { ensure, type MatcherResult, matchers, recordRequests, testCluster } from 'orchplane/testing';
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
  test('ignores what the server filled in, and compares amounts by value', async () => {
    const { web } = await deployed();
    expect(web.spec.template.spec.containers[0]?.resources?.limits?.['cpu']).toBe('1');
    expect(passed(matchers.toMatchManifest(web, DEPLOYMENT))).toBe(
      'Deployment default/web is what the manifest says, and should not be',
    );
    passed(matchers.toMatchManifest(web, { spec: { replicas: 2, paused: null } }));
    passed(matchers.toMatchManifest(web, '{"metadata":{"name":"web"}}'));
  });

  test('says where the object differs, and by what', async () => {
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

  test('compares stringData of a Secret with what is stored', async () => {
    const secret = await testCluster()
      .api(Secret)
      .create({ metadata: { name: 'a' }, stringData: { key: 'ü' } });
    passed(matchers.toMatchManifest(secret, 'kind: Secret\nstringData: { key: ü }'));
    failed(matchers.toMatchManifest(secret, 'kind: Secret\nstringData: { key: u }'));
  });

  test('takes one manifest', () => {
    expect(() => matchers.toMatchManifest({}, 'a: 1\n---\nb: 2')).toThrow('takes one manifest, and the text has 2');
    expect(failed(matchers.toMatchManifest(undefined, { a: 1 }))).toContain('it is nothing, and no object');
  });
});

describe('matchers of objects', () => {
  const pod = {
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False', reason: 'NotYet' }] },
  };

  test('toBeReady', () => {
    expect(failed(matchers.toBeReady(pod))).toBe(
      'Pod default/web is not ready:\n  condition Ready is "False" (NotYet)',
    );
    const ready = { ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    expect(passed(matchers.toBeReady(ready))).toBe('Pod default/web is ready, and should not be');
    expect(failed(matchers.toBeReady(undefined))).toContain('it does not exist');
  });

  test('toHaveCondition', () => {
    passed(matchers.toHaveCondition(pod, 'Ready', 'False'));
    passed(matchers.toHaveCondition(pod, 'Ready', { reason: /^Not/ }));
    expect(failed(matchers.toHaveCondition(pod, 'Ready'))).toBe(
      'Pod default/web does not have the condition Ready with status "True":\n  status: expected "True", got "False"',
    );
    expect(failed(matchers.toHaveCondition(pod, 'Other'))).toContain('it has Ready is "False" (NotYet)');
  });

  test('toBeOwnedBy', async () => {
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

  test('toBeStatusError', () => {
    const error = errors.notFound({ group: '', resource: 'pods' }, 'web');
    passed(matchers.toBeStatusError(error));
    // Nobody hears the refusal of a promise that was not awaited: it must not end the process.
    expect(() => matchers.toBeStatusError(Promise.reject(error))).toThrow('a promise, which has to be awaited first');
    expect(() => matchers.toMatchTrace(testCluster(), '')).toThrow(/an object with [a-zA-Z, ]+, …$/);
    passed(matchers.toBeStatusError(error, 'NotFound', '"web" not found'));
    expect(failed(matchers.toBeStatusError(error, 'Conflict'))).toBe(
      'expected a StatusError Conflict:\n  it is NotFound (404): pods "web" not found',
    );
    expect(failed(matchers.toBeStatusError(error, 'NotFound', /api/))).toContain('that says /api/');
    expect(failed(matchers.toBeStatusError(new TypeError('oops')))).toContain('it is TypeError: oops');
  });
});

describe('matchers of logs', () => {
  async function logged() {
    const cluster = testCluster();
    const log = recordRequests(cluster, { verb: 'write' });
    const made = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap).update({ ...made });
    return log;
  }

  test('toHaveRequested', async () => {
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

  test('toHaveNoOpWrites', async () => {
    const log = await logged();
    expect(passed(matchers.toHaveNoOpWrites(log))).toBe(
      '1 of 2 writes changed nothing:\n  update configmaps default/a by local → 200, no change',
    );
    failed(matchers.toHaveNoOpWrites(log, { verb: 'create' }));
  });

  test('toMatchTrace', async () => {
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

test('ensure throws what a matcher says', async () => {
  const pod = { kind: 'Pod', metadata: { name: 'web' }, status: { phase: 'Pending' } };
  ensure(pod).not.toBeReady();
  ensure(pod).toMatchManifest({ status: { phase: 'Pending' } });
  expect(() => ensure(pod).toBeReady()).toThrow('Pod web is not ready:\n  its phase is "Pending"');
  expect(() => ensure(pod).not.toMatchManifest({ kind: 'Pod' })).toThrow(
    'is what the manifest says, and should not be',
  );
});
