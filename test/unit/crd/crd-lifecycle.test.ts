/** The lifecycle of CustomResourceDefinitions: names, conditions and served kinds. */
import { mergePatch } from 'orchplane';
import { ConfigMap, CustomResourceDefinition, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf, Reader } from '../server/watch-reader.js';
import {
  api,
  conditionsOf,
  define,
  definition,
  definitions,
  GROUP,
  http,
  kindOf,
  redefine,
  version,
  WIDGETS,
  widget,
} from './widgets.js';

describe('a new CRD', () => {
  test('serves a new CRD before the create returns', async () => {
    const cluster = testCluster();
    const created = await definitions(cluster).create(definition());
    // The response is the stored object; the status was written afterwards.
    expect(created.status.storedVersions).toEqual(['v1']);
    expect(kindOf(cluster)?.kind).toBe('Widget');
    const { status, metadata } = await definitions(cluster).get(WIDGETS);
    const at = '2030-01-01T00:00:00Z';
    expect(status).toEqual({
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          lastTransitionTime: at,
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: at,
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
      acceptedNames: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      storedVersions: ['v1'],
    });
    expect(metadata.generation).toBe(1);
  });

  test('sends every status update of a new CRD to watches', async () => {
    const cluster = testCluster();
    const reader = new Reader(definitions(cluster).watch());
    await definitions(cluster).create(definition());
    const steps: string[] = [];
    for (;;) {
      const event = await reader.read();
      if (event === 'waiting' || event === 'end') break;
      if (event.type === 'BOOKMARK') continue;
      const conditions = event.object.status.conditions ?? [];
      steps.push(`${event.type} ${conditions.map(({ type, reason }) => `${type}=${reason}`).join(' ')}`.trim());
    }
    expect(steps).toEqual([
      'ADDED',
      'MODIFIED NamesAccepted=NoConflicts Established=Installing',
      'MODIFIED NamesAccepted=NoConflicts Established=InitialNamesAccepted',
    ]);
  });

  test('requires an approval in a protected group and reports it in a condition', async () => {
    const cluster = testCluster({ dialect: 'kubernetes' });
    const group = 'sigs.k8s.io';
    const approved = { annotations: { 'api-approved.kubernetes.io': 'https://github.com/x/y/pull/1' } };
    const failure = await failureOf(definitions(cluster).create(definition({ group, versions: [bare()] })));
    expect(failure).toMatchObject({ code: 422 });
    await definitions(cluster).create(definition({ group, metadata: approved, versions: [bare()] }));
    expect(await conditionsOf(cluster, `widgets.${group}`)).toEqual({
      NamesAccepted: 'True NoConflicts',
      Established: 'True InitialNamesAccepted',
      KubernetesAPIApprovalPolicyConformant: 'True ApprovedAnnotation',
    });
  });

  test('does not serve a CRD after a dry run', async () => {
    const cluster = testCluster();
    await definitions(cluster).create(definition(), { dryRun: true });
    expect(kindOf(cluster)).toBeUndefined();
  });
});

/** A version without fields of only one dialect. */
const bare = () => version({ whole: { type: 'object' } });

describe('names of a CRD', () => {
  test('rejects names while another CRD of the group uses them and accepts them afterwards', async () => {
    const cluster = testCluster();
    await define(cluster, { names: { shortNames: ['w', 'wd'] } });
    await cluster.clock.advance(10_000);
    const other = { plural: 'gadgets', kind: 'Gadget', singular: 'widget', shortNames: ['w', 'g', 'wd'] };
    await definitions(cluster).create(definition({ names: other }));
    const rejected = await definitions(cluster).get('gadgets.example.com');
    expect(rejected.status.acceptedNames).toEqual({ plural: 'gadgets', kind: 'Gadget', listKind: 'GadgetList' });
    expect(rejected.status.conditions).toMatchObject([
      {
        type: 'NamesAccepted',
        status: 'False',
        reason: 'ShortNamesConflict',
        message: '["w" is already in use, "wd" is already in use]',
      },
      { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ]);
    expect(kindOf(cluster, 'v1', 'gadgets')).toBeUndefined();

    await cluster.clock.advance(5_000);
    await redefine(cluster, ({ names }) => Object.assign(names as object, { singular: 'wi', shortNames: [] }));
    const accepted = await definitions(cluster).get('gadgets.example.com');
    expect(accepted.status.acceptedNames).toMatchObject({ singular: 'widget', shortNames: ['w', 'g', 'wd'] });
    expect(accepted.status.conditions).toMatchObject([
      { type: 'NamesAccepted', status: 'True', lastTransitionTime: '2030-01-01T00:00:15Z' },
      { type: 'Established', status: 'True', lastTransitionTime: '2030-01-01T00:00:15Z' },
    ]);
    expect(kindOf(cluster, 'v1', 'gadgets')?.kind).toBe('Gadget');
  });

  test('accepts names again after their CRD is deleted', async () => {
    const cluster = testCluster();
    await define(cluster);
    await definitions(cluster).create(definition({ names: { plural: 'gadgets', kind: 'Widget' } }));
    expect(await conditionsOf(cluster, 'gadgets.example.com')).toEqual({
      NamesAccepted: 'False ListKindConflict',
      Established: 'False NotAccepted',
    });
    await definitions(cluster).delete(WIDGETS);
    expect(await conditionsOf(cluster, 'gadgets.example.com')).toEqual({
      NamesAccepted: 'True NoConflicts',
      Established: 'True InitialNamesAccepted',
    });
  });

  test('reports no conflict with names of another group', async () => {
    const cluster = testCluster();
    await define(cluster);
    await define(cluster, { group: 'other.com' });
    expect(kindOf(cluster, 'v1', 'widgets', 'other.com')?.kind).toBe('Widget');
  });

  test('keeps a kind established if an update of its names causes a conflict', async () => {
    const cluster = testCluster();
    await define(cluster);
    await define(cluster, { names: { plural: 'gadgets', kind: 'Gadget' } });
    await redefine(cluster, ({ names }) => Object.assign(names as object, { singular: 'gadget', categories: ['all'] }));
    const { status } = await definitions(cluster).get(WIDGETS);
    expect(status.acceptedNames).toMatchObject({ singular: 'widget', categories: ['all'] });
    expect(await conditionsOf(cluster)).toEqual({
      NamesAccepted: 'False SingularConflict',
      Established: 'True InitialNamesAccepted',
    });
    expect(kindOf(cluster)?.names).toMatchObject({ singular: 'widget', categories: ['all'] });
  });

  test('reports a conflict with names of built-in kinds', async () => {
    const cluster = testCluster();
    await define(cluster, { group: 'one.com' });
    const installed = kindOf(cluster, 'v1', 'widgets', 'one.com');
    const second = testCluster();
    second.install({ ...installed, group: GROUP, apiVersion: `${GROUP}/v1` } as never);
    await definitions(second).create(definition({ names: { plural: 'gadgets', kind: 'Widget' } }));
    expect(await conditionsOf(second, 'gadgets.example.com')).toMatchObject({
      NamesAccepted: 'False ListKindConflict',
    });
    expect(kindOf(second, 'v1', 'gadgets')).toBeUndefined();
  });
});

describe('an update of a CRD', () => {
  test('increments the generation on update and keeps the transition times of unchanged conditions', async () => {
    const cluster = testCluster();
    await define(cluster);
    await cluster.clock.advance(60_000);
    await redefine(cluster, ({ names }) => Object.assign(names as object, { shortNames: ['w'] }));
    const { metadata, status } = await definitions(cluster).get(WIDGETS);
    expect(metadata.generation).toBe(2);
    expect(status.acceptedNames.shortNames).toEqual(['w']);
    expect(status.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([
      '2030-01-01T00:00:00Z',
      '2030-01-01T00:00:00Z',
    ]);
    await definitions(cluster).patch(WIDGETS, mergePatch({ metadata: { labels: { a: 'b' } } }) as never);
    expect((await definitions(cluster).get(WIDGETS)).metadata.generation).toBe(2);
  });

  test('adds the storage version to storedVersions and rejects the removal of a stored one', async () => {
    const cluster = testCluster();
    await define(cluster, { versions: [version(), version({ name: 'v2', storage: false })] });
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ storage: false }), version({ name: 'v2' })];
    });
    expect((await definitions(cluster).get(WIDGETS)).status.storedVersions).toEqual(['v1', 'v2']);
    const forget = redefine(cluster, (spec) => {
      spec['versions'] = [version({ name: 'v2' })];
    });
    expect(await failureOf(forget)).toMatchObject({
      code: 422,
      status: { details: { causes: [{ field: 'status.storedVersions[0]' }] } },
    });
    const definition = await definitions(cluster).get(WIDGETS);
    const status = { ...definition.status, storedVersions: ['v2'] };
    await definitions(cluster)
      .subresource('status')
      .update(WIDGETS, { ...definition, status });
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ name: 'v2' })];
    });
    expect(kindOf(cluster)).toBeUndefined();
    expect(kindOf(cluster, 'v2')?.kind).toBe('Widget');
  });

  test('rejects a change of scope or kind once a CRD is established', async () => {
    const cluster = testCluster();
    await define(cluster);
    const failure = await failureOf(
      redefine(cluster, (spec) => {
        spec['scope'] = 'Cluster';
        Object.assign(spec['names'] as object, { kind: 'Gadget' });
      }),
    );
    expect(failure).toMatchObject({
      status: { details: { causes: [{ field: 'spec.scope' }, { field: 'spec.names.kind' }] } },
    });
  });

  test('accepts a change of scope and kind while the names are in conflict', async () => {
    const cluster = testCluster();
    await define(cluster);
    await definitions(cluster).create(definition({ names: { plural: 'gadgets', kind: 'Widget' } }));
    await redefine(
      cluster,
      (spec) => {
        spec['scope'] = 'Cluster';
        spec['names'] = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
      },
      'gadgets.example.com',
    );
    expect(kindOf(cluster, 'v1', 'gadgets')?.scope).toBe('Cluster');
  });
});

describe('the served versions', () => {
  test('serves the versions marked as served, whether stored or not', async () => {
    const cluster = testCluster();
    await define(cluster, {
      versions: [version({ name: 'v2', storage: false }), version({ served: false })],
    });
    expect(kindOf(cluster)).toBeUndefined();
    const widgets = api(cluster, 'v2');
    await widgets.create(widget('a', { size: 1 }));
    expect(await widgets.get('a')).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { size: 1 } });
    const created = await http(cluster)(`GET /apis/${GROUP}/v1/namespaces/default/widgets`);
    expect(created).toMatchObject({ code: 404 });
  });

  test('keeps the objects of a CRD without served versions', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await widgets.create(widget('a'));
    await redefine(cluster, (spec) => {
      spec['versions'] = [version({ served: false })];
    });
    expect(kindOf(cluster)).toBeUndefined();
    expect(await failureOf(widgets.get('a'))).toMatchObject({ reason: 'NotFound' });
    await redefine(cluster, (spec) => {
      spec['versions'] = [version()];
    });
    expect((await api(cluster).get('a')).metadata.name).toBe('a');
  });

  test('lists served versions in discovery at once and in version order', async () => {
    const cluster = testCluster();
    const send = http(cluster);
    const before = cluster.kinds();
    expect(await send(`GET /apis/${GROUP}`)).toMatchObject({ code: 404 });
    const names = ['v1alpha1', 'v1', 'foo', 'v2beta1', 'v10'];
    await define(cluster, { versions: names.map((name) => version({ name, storage: name === 'v1' })) });
    expect(cluster.kinds()).not.toBe(before);
    expect(cluster.kinds().length).toBe(before.length + 5);
    const { body } = await send(`GET /apis/${GROUP}`);
    expect((body['versions'] as { version: string }[]).map(({ version }) => version)).toEqual([
      'v10',
      'v1',
      'v2beta1',
      'v1alpha1',
      'foo',
    ]);
    expect(body['preferredVersion']).toEqual({ groupVersion: `${GROUP}/v10`, version: 'v10' });
    await definitions(cluster).delete(WIDGETS);
    expect(await send(`GET /apis/${GROUP}`)).toMatchObject({ code: 404 });
    expect(cluster.kinds().length).toBe(before.length);
  });

  test('serves fewer verbs and rejects creates while the CRD is terminating', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await widgets.create(widget('a', {}, { metadata: { name: 'a', finalizers: ['example.com/hold'] } }));
    await definitions(cluster).delete(WIDGETS);
    const { body } = await http(cluster)(`GET /apis/${GROUP}/v1`);
    const [resource] = body['resources'] as { verbs: string[] }[];
    expect(resource?.verbs).toEqual(['delete', 'deletecollection', 'get', 'list', 'watch']);
    expect(await failureOf(widgets.create(widget('b')))).toMatchObject({
      code: 405,
      message: 'create not allowed while custom resource definition is terminating',
    });
    expect((await api(cluster).get('a')).metadata.deletionTimestamp).toBe('2030-01-01T00:00:00Z');
  });

  test('accepts creates again when the objects are deleted and another finalizer keeps the CRD', async () => {
    const cluster = testCluster();
    const widgets = await define(cluster);
    await definitions(cluster).edit(WIDGETS, (draft) => {
      draft.metadata.finalizers = ['example.com/hold'];
    });
    await widgets.create(widget('a'));
    await definitions(cluster).delete(WIDGETS);
    const { metadata, status } = await definitions(cluster).get(WIDGETS);
    expect(metadata.finalizers).toEqual(['example.com/hold']);
    expect(status?.conditions?.find(({ type }) => type === 'Terminating')).toMatchObject({
      status: 'False',
      reason: 'InstanceDeletionCompleted',
    });
    const { body } = await http(cluster)(`GET /apis/${GROUP}/v1`);
    const [resource] = body['resources'] as { verbs: string[] }[];
    expect(resource?.verbs).toContain('create');
    expect((await widgets.create(widget('b'))).metadata.name).toBe('b');
  });
});

test('serves no custom resources in a cluster without the CRD kind', async () => {
  const cluster = testCluster({ kinds: [ConfigMap] });
  const failure = await failureOf(cluster.api(CustomResourceDefinition).create(definition()));
  expect(failure).toMatchObject({ reason: 'NotFound' });
  cluster.install(CustomResourceDefinition);
  await define(cluster);
  expect(kindOf(cluster)?.kind).toBe('Widget');
  expect((await cluster.api(Namespace).list()).items.length).toBe(4);
});
