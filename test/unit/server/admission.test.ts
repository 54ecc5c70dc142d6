/**
 * Admission in the write pipeline: order of plugins, their requests, changes and failures, and asynchronous plugins.
 */
import type { AdmissionPlugin, AdmissionRequest, Ids } from 'orchplane';
import { allowAll, defaultAdmission, errors, mergePatch, StatusError } from 'orchplane';
import { ConfigMap, Namespace, Pod, Service } from 'orchplane/kinds';
import { sequentialIds, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf, latch, stateOf, turns } from './watch-reader.js';

/** A plugin that waits, the first time it is called for an operation, until the test releases it. */
function waitsOnce(phase: 'mutate' | 'validate', operation: AdmissionRequest['operation'], name = 'a') {
  const { opened, open } = latch();
  let waited = false;
  const run = (request: AdmissionRequest) => {
    if (waited || request.operation !== operation || request.name !== name) return undefined;
    waited = true;
    return opened;
  };
  const plugin: AdmissionPlugin = { name: 'Waits', [phase]: run };
  return { plugin, open };
}

describe('the order of admission plugins', () => {
  const recordsCalls = (name: string, recorded: string[]): AdmissionPlugin => ({
    name,
    mutate: () => {
      recorded.push(`${name} mutates`);
    },
    validate: () => {
      recorded.push(`${name} validates`);
    },
  });

  test('runs admission plugins in the order of the list, with every mutation before any validation', async () => {
    const recorded: string[] = [];
    const cluster = testCluster({ admission: [recordsCalls('first', recorded), recordsCalls('second', recorded)] });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(recorded).toEqual(['first mutates', 'second mutates', 'first validates', 'second validates']);
  });

  test('keeps the order of admission plugins when the first one is asynchronous', async () => {
    const recorded: string[] = [];
    const { plugin, open } = waitsOnce('mutate', 'CREATE');
    const cluster = testCluster({ admission: [plugin, recordsCalls('second', recorded)] });
    const created = cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await turns();
    expect(recorded).toEqual([]);
    open();
    await created;
    expect(recorded).toEqual(['second mutates', 'second validates']);
  });

  test('stops at the first rejection of a plugin and stores nothing', async () => {
    const recorded: string[] = [];
    const refuses: AdmissionPlugin = {
      name: 'Refuses',
      mutate: ({ served, name }) => {
        throw errors.forbidden(served.groupResource, name, 'not today');
      },
    };
    const cluster = testCluster({ admission: [refuses, recordsCalls('second', recorded)] });
    const error = await failureOf(cluster.api(ConfigMap).create({ metadata: { name: 'a' } }));
    expect(error).toMatchObject({ code: 403, message: 'configmaps "a" is forbidden: not today' });
    expect(recorded).toEqual([]);
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
    expect(cluster.resourceVersion).toBe('4');
  });
});

describe('the admission request', () => {
  function recordingPlugin(): { readonly recorded: AdmissionRequest[]; readonly plugin: AdmissionPlugin } {
    const recorded: AdmissionRequest[] = [];
    return { recorded, plugin: { name: 'Listens', validate: (request) => void recorded.push(request) } };
  }

  test('passes the object, no old object, and the user of a create to plugins', async () => {
    const { recorded, plugin } = recordingPlugin();
    const cluster = testCluster({ admission: [plugin], authorizer: allowAll() });
    await cluster
      .with({ as: { user: 'alice', groups: ['dev'] } })
      .api(ConfigMap)
      .create({ metadata: { name: 'a' } });
    expect(recorded).toHaveLength(1);
    expect(recorded[0]).toMatchObject({
      operation: 'CREATE',
      namespace: 'default',
      name: 'a',
      subresource: '',
      dryRun: false,
    });
    expect(recorded[0]?.user).toEqual({ user: 'alice', groups: ['dev', 'system:authenticated'] });
    expect(recorded[0]?.object?.metadata.name).toBe('a');
    expect(recorded[0]?.oldObject).toBeUndefined();
  });

  test('passes the new object and the live object of an update and a patch to plugins', async () => {
    const { recorded, plugin } = recordingPlugin();
    const cluster = testCluster({ admission: [plugin] });
    const live = await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { k: 'old' } });
    await cluster.api(ConfigMap).patch('a', mergePatch({ data: { k: 'new' } }));
    expect(recorded[1]).toMatchObject({ operation: 'UPDATE', name: 'a' });
    expect(recorded[1]?.oldObject).toBe(live);
    expect(recorded[1]?.object).toMatchObject({ data: { k: 'new' } });
  });

  test('passes the live object and no new object of a delete to plugins', async () => {
    const { recorded, plugin } = recordingPlugin();
    const cluster = testCluster({ admission: [plugin] });
    const live = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap).delete('a');
    expect(recorded[1]).toMatchObject({ operation: 'DELETE', name: 'a' });
    expect(recorded[1]?.oldObject).toBe(live);
    expect(recorded[1]?.object).toBeUndefined();
  });

  test('calls plugins for each object of a deletecollection', async () => {
    const { recorded, plugin } = recordingPlugin();
    const cluster = testCluster({ admission: [plugin] });
    for (const name of ['a', 'b']) await cluster.api(ConfigMap).create({ metadata: { name } });
    await cluster.api(ConfigMap).deleteCollection();
    expect(recorded.slice(2).map(({ operation, oldObject }) => [operation, oldObject?.metadata.name])).toEqual([
      ['DELETE', 'a'],
      ['DELETE', 'b'],
    ]);
  });

  test('passes the name of a subresource to plugins', async () => {
    const { recorded, plugin } = recordingPlugin();
    const cluster = testCluster({ admission: [plugin] });
    const namespace = await cluster.api(Namespace).create({ metadata: { name: 'dev' } });
    await cluster.api(Namespace).subresource('finalize').update('dev', namespace);
    expect(recorded.map(({ subresource }) => subresource)).toEqual(['', 'finalize']);
  });

  test('passes the dryRun flag of a dry run to plugins', async () => {
    const { recorded, plugin } = recordingPlugin();
    const cluster = testCluster({ admission: [plugin] });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } }, { dryRun: true });
    expect(recorded[0]?.dryRun).toBe(true);
  });

  test('passes the generateName prefix as the name to plugins, while the object has no name', async () => {
    const recorded: (string | undefined)[] = [];
    const plugin: AdmissionPlugin = {
      name: 'Listens',
      mutate: ({ name, object }) => void recorded.push(name, object?.metadata.name),
    };
    const cluster = testCluster({ admission: [plugin] });
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'web-' } });
    expect(recorded).toEqual(['web-', undefined]);
  });

  test('gives plugins access to the namespaces of the cluster', async () => {
    const seen: unknown[] = [];
    const plugin: AdmissionPlugin = {
      name: 'ReadsNamespaces',
      mutate: ({ namespace }, view) => void seen.push(view.namespace(namespace)?.metadata.name, view.namespace('nope')),
    };
    const cluster = testCluster({ admission: [plugin] });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(seen).toEqual(['default', undefined]);
  });
});

describe('the change of a mutating plugin', () => {
  test('stores and validates the change of a mutating plugin like the input of a client', async () => {
    const labels: AdmissionPlugin = {
      name: 'Labels',
      mutate: ({ object }) => void Object.assign(object?.metadata ?? {}, { labels: { team: 'blue' } }),
    };
    const spoils: AdmissionPlugin = {
      name: 'Spoils',
      mutate: ({ object }) => void Object.assign(object?.metadata ?? {}, { labels: { team: 'not ok' } }),
    };
    const stored = await testCluster({ admission: [labels] })
      .api(ConfigMap)
      .create({ metadata: { name: 'a' } });
    expect(stored.metadata.labels).toEqual({ team: 'blue' });
    const error = await failureOf(
      testCluster({ admission: [spoils] })
        .api(ConfigMap)
        .create({ metadata: { name: 'a' } }),
    );
    expect(error).toMatchObject({ reason: 'Invalid', status: { details: { causes: [{ field: 'metadata.labels' }] } } });
  });

  test('rejects the change of a mutating plugin to the namespace', async () => {
    const moves: AdmissionPlugin = {
      name: 'Moves',
      mutate: ({ object }) => void Object.assign(object?.metadata ?? {}, { namespace: 'kube-system' }),
    };
    const cluster = testCluster({ admission: [moves] });
    expect(await failureOf(cluster.api(ConfigMap).create({ metadata: { name: 'a' } }))).toMatchObject({
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    });
    expect((await cluster.all(ConfigMap).list()).items).toEqual([]);
  });

  test('warns about a duplicate owner reference that a mutating plugin adds', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u1' };
    const repeats: AdmissionPlugin = {
      name: 'Repeats',
      mutate: ({ object }) => void Object.assign(object?.metadata ?? {}, { ownerReferences: [owner, { ...owner }] }),
    };
    const warnings: string[] = [];
    const cluster = testCluster({ admission: [repeats], client: { onWarning: (warning) => warnings.push(warning) } });
    const stored = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(stored.metadata.ownerReferences).toEqual([owner]);
    expect(warnings).toEqual([
      '.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1',
    ]);
  });
});

describe('a plugin that fails with an unexpected error', () => {
  const boom = new Error('boom');
  const cases: Record<string, AdmissionPlugin> = {
    'throws while mutating': {
      name: 'Breaks',
      mutate: () => {
        throw boom;
      },
    },
    'rejects while mutating': { name: 'Breaks', mutate: () => Promise.reject(boom) },
    'throws while validating': {
      name: 'Breaks',
      validate: () => {
        throw boom;
      },
    },
    'rejects while validating': { name: 'Breaks', validate: () => Promise.reject(boom) },
  };

  test.each(Object.entries(cases))(
    'responds with an internal error and its cause if a plugin %s',
    async (_how, plugin) => {
      const cluster = testCluster({ admission: [plugin] });
      const error = await failureOf(cluster.api(ConfigMap).create({ metadata: { name: 'a' } }));
      expect(StatusError.is(error, 'InternalError')).toBe(true);
      expect(error).toMatchObject({ code: 500, cause: boom });
    },
  );

  test.each(Object.entries(cases))('stores nothing if a plugin %s', async (_how, plugin) => {
    const cluster = testCluster({ admission: [plugin] });
    await failureOf(cluster.api(ConfigMap).create({ metadata: { name: 'a' } }));
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
    expect(cluster.resourceVersion).toBe('4');
  });
});

describe.each(['mutate', 'validate'] as const)('a write that waits for a plugin to %s', (phase) => {
  test('stores no object before a waiting create completes', async () => {
    const { plugin, open } = waitsOnce(phase, 'CREATE');
    const cluster = testCluster({ admission: [plugin] });
    const created = cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await stateOf(created)).toBe('waiting');
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
    open();
    expect((await created).metadata.resourceVersion).toBe('5');
  });

  test('fails a waiting create with AlreadyExists if a faster create took the name', async () => {
    const { plugin, open } = waitsOnce(phase, 'CREATE');
    const cluster = testCluster({ admission: [plugin] });
    const slow = cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { from: 'slow' } });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { from: 'fast' } });
    open();
    expect(await failureOf(slow)).toMatchObject({ reason: 'AlreadyExists' });
    expect((await cluster.api(ConfigMap).get('a')).data).toEqual({ from: 'fast' });
  });

  test('rejects a waiting create whose namespace is deleted meanwhile', async () => {
    const { plugin, open } = waitsOnce(phase, 'CREATE');
    const cluster = testCluster({ admission: [...defaultAdmission, plugin] });
    await cluster.api(Namespace).create({ metadata: { name: 'old' } });
    const created = cluster.api(ConfigMap, 'old').create({ metadata: { name: 'a' } });
    await turns();
    await cluster.api(Namespace).delete('old');
    open();
    expect(await failureOf(created)).toMatchObject({ code: 403, message: expect.stringContaining('being terminated') });
    expect(await cluster.api(ConfigMap, 'old').find('a')).toBeUndefined();
  });

  test('applies a waiting patch to the current object after a concurrent change', async () => {
    const { plugin, open } = waitsOnce(phase, 'UPDATE');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' }, data: { k: '0' } });
    const slow = configMaps.patch('a', mergePatch({ data: { slow: '1' } }));
    await configMaps.patch('a', mergePatch({ data: { fast: '1' } }));
    open();
    expect((await slow).data).toEqual({ k: '0', fast: '1', slow: '1' });
  });

  test('replaces the current object in a waiting update without resourceVersion', async () => {
    const { plugin, open } = waitsOnce(phase, 'UPDATE');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const slow = configMaps.update({ metadata: { name: 'a' }, data: { from: 'slow' } });
    await configMaps.update({ metadata: { name: 'a', labels: { from: 'fast' } } });
    open();
    const stored = await slow;
    expect(stored.data).toEqual({ from: 'slow' });
    expect(stored.metadata.labels).toBeUndefined();
  });

  test('fails a waiting update with resourceVersion with a conflict after a concurrent change', async () => {
    const { plugin, open } = waitsOnce(phase, 'UPDATE');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    const seen = await configMaps.create({ metadata: { name: 'a' } });
    const slow = configMaps.update({ ...seen, data: { from: 'slow' } });
    await configMaps.patch('a', mergePatch({ data: { from: 'fast' } }));
    open();
    expect(await failureOf(slow)).toMatchObject({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    });
    expect((await configMaps.get('a')).data).toEqual({ from: 'fast' });
  });

  test('fails a waiting update with NotFound if the object is deleted meanwhile', async () => {
    const { plugin, open } = waitsOnce(phase, 'UPDATE');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const slow = configMaps.patch('a', mergePatch({ data: { k: '1' } }));
    await configMaps.delete('a');
    open();
    expect(await failureOf(slow)).toMatchObject({ reason: 'NotFound' });
  });

  test('completes a waiting patch if another client removes the last finalizer meanwhile', async () => {
    const { plugin, open } = waitsOnce(phase, 'UPDATE');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a', finalizers: ['example.com/hold'] } });
    await configMaps.delete('a');
    const slow = configMaps.patch('a', mergePatch({ metadata: { finalizers: null } }));
    await configMaps.patch('a', mergePatch({ metadata: { finalizers: null } }));
    open();
    expect((await slow).metadata.name).toBe('a');
    expect(await configMaps.find('a')).toBeUndefined();
  });

  test('retries a waiting delete after a concurrent change', async () => {
    const { plugin, open } = waitsOnce(phase, 'DELETE');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const slow = configMaps.delete('a');
    await configMaps.patch('a', mergePatch({ data: { k: '1' } }));
    open();
    expect(await slow).toMatchObject({ status: 'Success' });
    expect(await configMaps.find('a')).toBeUndefined();
  });

  test('fails a waiting delete with a resourceVersion precondition after a concurrent change', async () => {
    const { plugin, open } = waitsOnce(phase, 'DELETE');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    const { metadata } = await configMaps.create({ metadata: { name: 'a' } });
    const { resourceVersion } = metadata;
    const slow = configMaps.delete('a', { preconditions: { resourceVersion } });
    await configMaps.patch('a', mergePatch({ data: { k: '1' } }));
    open();
    expect(await failureOf(slow)).toMatchObject({ reason: 'Conflict' });
    expect(await configMaps.find('a')).toBeDefined();
  });

  test('ignores changes that the caller makes to its object during a waiting write', async () => {
    const { plugin, open } = waitsOnce(phase, 'CREATE');
    const cluster = testCluster({ admission: [plugin] });
    const input = { metadata: { name: 'a' }, data: { k: 'sent' } };
    const created = cluster.api(ConfigMap).create(input);
    input.data.k = 'changed';
    open();
    expect((await created).data).toEqual({ k: 'sent' });
  });

  test('ignores changes that the caller makes to its patch during a waiting write, also in a retry', async () => {
    const { plugin, open } = waitsOnce(phase, 'UPDATE');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    const body = { data: { k: 'sent' } };
    const slow = configMaps.patch('a', mergePatch(body));
    await configMaps.patch('a', mergePatch({ data: { fast: '1' } }));
    body.data.k = 'changed';
    open();
    expect((await slow).data).toEqual({ fast: '1', k: 'sent' });
  });

  test('continues a waiting deletecollection when the plugin completes', async () => {
    // For a deletecollection, plugins are called without a name.
    const { plugin, open } = waitsOnce(phase, 'DELETE', '');
    const cluster = testCluster({ admission: [plugin] });
    const configMaps = cluster.api(ConfigMap);
    for (const name of ['a', 'b']) await configMaps.create({ metadata: { name } });
    const deleted = configMaps.deleteCollection();
    expect(await stateOf(deleted)).toBe('waiting');
    open();
    await deleted;
    expect((await configMaps.list()).items).toEqual([]);
  });
});

describe('a generated name', () => {
  /** Returns the same suffix until the test sets others. */
  function repeatingIds(): Ids & { suffixes: string[]; calls: number } {
    const ids = {
      ...sequentialIds(),
      calls: 0,
      suffixes: [] as string[],
      suffix: () => {
        ids.calls++;
        return ids.suffixes.shift() ?? 'bbbbb';
      },
    };
    return ids;
  }

  test('tries eight generated names before a 409 that suggests a retry', async () => {
    const ids = repeatingIds();
    const cluster = testCluster({ ids });
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    ids.calls = 0;
    const error = await failureOf(cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } }));
    expect(ids.calls).toBe(8);
    expect(error).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a-bbbbb" already exists, the server was not able to generate a unique name for the object',
      status: { details: { name: 'a-bbbbb', kind: 'configmaps', retryAfterSeconds: 1 } },
    });
  });

  test('uses the first free generated name', async () => {
    const ids = repeatingIds();
    const cluster = testCluster({ ids });
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    ids.suffixes = ['bbbbb', 'bbbbb', 'ccccc'];
    const stored = await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    expect(stored.metadata).toMatchObject({ name: 'a-ccccc', generateName: 'a-' });
  });

  test('runs validating plugins for every generated name and mutating plugins once', async () => {
    const ids = repeatingIds();
    const calls: string[] = [];
    const plugin: AdmissionPlugin = {
      name: 'Counts',
      mutate: () => void calls.push('mutate'),
      validate: () => void calls.push('validate'),
    };
    const cluster = testCluster({ ids, admission: [plugin] });
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    calls.length = 0;
    ids.suffixes = ['bbbbb', 'ccccc'];
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    expect(calls).toEqual(['mutate', 'validate', 'validate']);
  });

  test('validates each generated name, so errors mention the first name', async () => {
    const ids = repeatingIds();
    const cluster = testCluster({ ids });
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    ids.suffixes = ['bbbbb', 'ccccc'];
    const error = await failureOf(
      cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' }, data: { '!': '' } } as never),
    );
    expect(error).toMatchObject({ message: expect.stringMatching(/^ConfigMap "a-bbbbb" is invalid/) });
    expect(ids.suffixes).toEqual(['ccccc']);
  });

  test('assigns a new uid with each generated name', async () => {
    const ids = repeatingIds();
    const cluster = testCluster({ ids });
    const first = await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    ids.suffixes = ['bbbbb', 'bbbbb', 'ccccc'];
    const second = await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    const number = (uid: string) => Number.parseInt(uid.slice(-12), 16);
    expect(number(second.metadata.uid) - number(first.metadata.uid)).toBe(3);
  });

  test('tries eight generated names for a service', async () => {
    const ids = repeatingIds();
    const cluster = testCluster({ ids });
    const body = { metadata: { generateName: 'a-' }, spec: { ports: [{ port: 80 }] } };
    await cluster.api(Service).create(body);
    ids.calls = 0;
    expect(await failureOf(cluster.api(Service).create(body))).toMatchObject({ code: 409 });
    expect(ids.calls).toBe(8);
  });

  test('tries generated names again with asynchronous plugins', async () => {
    const ids = repeatingIds();
    const plugin: AdmissionPlugin = { name: 'Slow', validate: () => Promise.resolve() };
    const cluster = testCluster({ ids, admission: [plugin] });
    await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } });
    ids.suffixes = ['bbbbb', 'ccccc'];
    expect((await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } })).metadata.name).toBe('a-ccccc');
  });

  test('truncates a long generateName prefix so that the name is a valid label', async () => {
    const stored = await testCluster()
      .api(ConfigMap)
      .create({ metadata: { generateName: 'x'.repeat(70) } });
    expect(stored.metadata.name).toBe(`${'x'.repeat(58)}bbbbb`);
  });

  test('generates no name for an object with a name, and does not retry a collision', async () => {
    const ids = repeatingIds();
    const cluster = testCluster({ ids });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const error = await failureOf(cluster.api(ConfigMap).create({ metadata: { name: 'a', generateName: 'a-' } }));
    expect(ids.calls).toBe(0);
    expect(error).toMatchObject({ code: 409, message: expect.stringContaining('unique name for the object') });
  });

  test('sets the metadata.name label of a namespace with a generated name', async () => {
    const ids = repeatingIds();
    const cluster = testCluster({ ids });
    await cluster.api(Namespace).create({ metadata: { generateName: 'n-' } });
    ids.suffixes = ['bbbbb', 'ccccc'];
    const stored = await cluster.api(Namespace).create({ metadata: { generateName: 'n-' } });
    expect(stored.metadata.labels).toEqual({ 'orch.io/metadata.name': 'n-ccccc' });
  });
});

test('rejects nothing that the API allows if there are no plugins', async () => {
  const cluster = testCluster({ admission: [] });
  const stored = await cluster.api(ConfigMap, 'nowhere').create({ metadata: { name: 'a' } });
  expect(stored.metadata.namespace).toBe('nowhere');
  expect(defaultAdmission.map(({ name }) => name)).toEqual([
    'NamespaceLifecycle',
    'LimitRanger',
    'TaintNodesByCondition',
    'PodSecurity',
    'Priority',
    'DefaultTolerationSeconds',
    'DefaultStorageClass',
    'StorageObjectInUseProtection',
    'PersistentVolumeClaimResize',
    'RuntimeClass',
    'CertificateApproval',
    'CertificateSigning',
    'ClusterTrustBundleAttest',
    'CertificateSubjectRestriction',
    'DefaultIngressClass',
    'PodTopologyLabels',
    'MutatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionWebhook',
    'ResourceQuota',
  ]);
});

test('lets a plugin change nested fields of another object', async () => {
  const address = { group: '', resource: 'pods', namespace: 'default', name: 'p' };
  const plugin: AdmissionPlugin = {
    name: 'Reaches',
    validate: ({ served }, view) => {
      if (served.kind.kind !== 'ConfigMap') return;
      view.change(address, (draft) => {
        const pod = draft as unknown as { spec: { containers: { image: string }[] } };
        for (const container of pod.spec.containers) container.image = 'new';
        (draft.metadata.labels as Record<string, string>)['seen'] = 'yes';
      });
    },
  };
  const cluster = testCluster({ admission: [plugin] });
  const metadata = { name: 'p', labels: { app: 'web' } };
  await cluster.api(Pod).create({ metadata, spec: { containers: [{ name: 'c', image: 'old' }] } });
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  const pod = await cluster.api(Pod).get('p');
  expect(pod.metadata.labels).toEqual({ app: 'web', seen: 'yes' });
  expect(pod.spec.containers[0]?.image).toBe('new');
});
