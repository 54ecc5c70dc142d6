/** Validation of ReplicaSets, DaemonSets, StatefulSets and ControllerRevisions where they differ from Deployments. */
import { mergePatch } from 'orchplane';
import { ControllerRevision, DaemonSet, ReplicaSet, StatefulSet } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';
import { MISMATCH, NEGATIVE, problemsOf, selector, template } from './problems.js';

const input = (more: object = {}) => ({ metadata: { name: 'w' }, spec: { selector, template, ...more } });
const LABELS = `spec.template.metadata.labels: Invalid value: map[string]string{"a":"b"}: ${MISMATCH}`;

describe('a ReplicaSet', () => {
  test('validates a ReplicaSet twice on update', async () => {
    const sets = testCluster().api(ReplicaSet);
    await sets.create(input());
    const problem = `spec.replicas: ${NEGATIVE}`;
    expect(await rejectionCauses(sets.patch('w', mergePatch({ spec: { replicas: -1 } })))).toEqual([problem, problem]);
  });

  test('rejects more ready replicas than replicas', async () => {
    const sets = testCluster().api(ReplicaSet);
    await sets.create(input());
    expect(await rejectionCauses(sets.status.patch('w', mergePatch({ status: { readyReplicas: 1 } })))).toEqual([
      'status.readyReplicas: Invalid value: 1: cannot be greater than status.replicas',
    ]);
  });

  test('does not support status field selectors for ReplicaSets and StatefulSets', async () => {
    const cluster = testCluster();
    const problem = '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"';
    await expect(cluster.api(ReplicaSet).list({ fields: 'status.replicas=0' })).rejects.toThrow(problem);
    await expect(cluster.api(StatefulSet).list({ fields: 'status.replicas=0' })).rejects.toThrow(problem);
  });
});

const LABEL_KEY =
  "metadata.labels: Invalid value: \"-\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

test('validates metadata as often as the reference server does', async () => {
  const cluster = testCluster();
  const wrong = { metadata: { labels: { '-': '' } } };
  await cluster.api(ReplicaSet).create(input());
  await cluster.api(DaemonSet).create(input());
  await cluster.api(ControllerRevision).create({ metadata: { name: 'w' }, data: {}, revision: 1 });
  for (const problems of [
    await rejectionCauses(cluster.api(ReplicaSet).patch('w', mergePatch(wrong))),
    await rejectionCauses(cluster.api(DaemonSet).patch('w', mergePatch(wrong))),
    await rejectionCauses(cluster.api(ControllerRevision).patch('w', mergePatch(wrong))),
  ]) {
    expect(problems).toEqual([LABEL_KEY, LABEL_KEY, LABEL_KEY, LABEL_KEY]);
  }
});

describe('a DaemonSet', () => {
  const GENERATION = 'deprecated.daemonset.template.generation';
  const ROLLING = 'spec.updateStrategy.rollingUpdate';

  test('counts its template generation, regardless of the value that a client sends', async () => {
    const sets = testCluster().api(DaemonSet);
    const created = await sets.create({ ...input(), metadata: { name: 'w', annotations: { z: 'z' } } });
    expect(Object.entries(created.metadata.annotations ?? {})).toEqual([
      [GENERATION, '1'],
      ['z', 'z'],
    ]);
    const same = await sets.patch('w', mergePatch({ metadata: { annotations: { [GENERATION]: '9' } } }));
    expect(same.metadata.annotations?.[GENERATION]).toBe('1');
    const change = { spec: { template: { spec: { containers: [{ name: 'c', image: 'z' }] } } } };
    expect((await sets.patch('w', mergePatch(change))).metadata).toMatchObject({
      generation: 2,
      annotations: { [GENERATION]: '2' },
    });
  });

  test('sets the defaults of a DaemonSet', async () => {
    const { spec } = await testCluster().api(DaemonSet).create(input());
    expect(spec.updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
    expect(spec.revisionHistoryLimit).toBe(10);
  });

  test.each<[string, object, string[]]>([
    ['no selector', { selector: undefined }, [LABELS]],
    [
      'a rolling update with zero maxSurge and maxUnavailable',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      [`${ROLLING}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`],
    ],
    [
      'both maxSurge and maxUnavailable',
      { updateStrategy: { rollingUpdate: { maxSurge: 1 } } },
      [
        `${ROLLING}.maxSurge: Invalid value: intstr.IntOrString{Type:0, IntVal:1, StrVal:""}: may not be set when maxUnavailable is non-zero`,
      ],
    ],
    [
      'an unknown strategy',
      { updateStrategy: { type: 'Odd' } },
      [
        'spec.updateStrategy: Unsupported value: apps.DaemonSetUpdateStrategy{Type:"Odd", RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}: supported values: "RollingUpdate", "OnDelete"',
      ],
    ],
  ])('rejects %s', async (_, more, problems) => {
    expect(
      await rejectionCauses(
        testCluster()
          .api(DaemonSet)
          .create(input(more) as never),
      ),
    ).toEqual(problems);
  });
});

describe('a StatefulSet', () => {
  const open = (options = {}) => testCluster(options).api(StatefulSet);

  test('sets the defaults of a StatefulSet and of its volumeClaimTemplates', async () => {
    const { spec, status } = await open().create(input({ volumeClaimTemplates: [{ metadata: { name: 'x' } }] }));
    expect(spec).toMatchObject({
      serviceName: '',
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    });
    expect(spec.volumeClaimTemplates?.[0]).toMatchObject({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      spec: { volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    });
    expect(status).toEqual({ replicas: 0, availableReplicas: 0 });
  });

  test.each([
    [{ type: 'RollingUpdate' }, { type: 'RollingUpdate' }],
    [{}, { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }],
    [{ rollingUpdate: {} }, { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }],
    [{ type: 'OnDelete' }, { type: 'OnDelete' }],
  ] as const)('completes the update strategy %o', async (updateStrategy, filledIn) => {
    expect((await open().create(input({ updateStrategy }))).spec.updateStrategy).toEqual(filledIn);
  });

  test('requires a StatefulSet to have a DNS label as name', async () => {
    expect(await rejectionCauses(open().create({ ...input(), metadata: { name: 'a.b' } }))).toHaveLength(1);
  });

  test.each<[string, object, string[]]>([
    [
      'an unknown podManagementPolicy',
      { podManagementPolicy: 'Odd' },
      [`spec.podManagementPolicy: Invalid value: "Odd": must be 'OrderedReady' or 'Parallel'`],
    ],
    ['negative ordinals', { ordinals: { start: -1 } }, [`spec.ordinals.start: ${NEGATIVE}`]],
    [
      'an unknown retention policy',
      { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Odd' } },
      [
        'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Odd": supported values: "Retain", "Delete"',
      ],
    ],
    [
      'rollingUpdate with strategy OnDelete',
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      [
        `spec.updateStrategy.rollingUpdate: Invalid value: apps.RollingUpdateStatefulSetStrategy{Partition:1, MaxUnavailable:(*intstr.IntOrString)(nil)}: only allowed for updateStrategy 'RollingUpdate'`,
      ],
    ],
  ])('rejects %s', async (_, more, problems) => {
    expect(await rejectionCauses(open().create(input(more) as never))).toEqual(problems);
  });

  test.each<[object, boolean]>([
    [{ replicas: 2, ordinals: { start: 1 }, minReadySeconds: 1, revisionHistoryLimit: 1 }, true],
    [{ serviceName: 'other' }, false],
    [{ podManagementPolicy: 'Parallel' }, false],
  ])('allows or rejects the update %j: %s', async (spec, allowed) => {
    const sets = open();
    await sets.create(input());
    const message =
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    expect(await problemsOf(sets.patch('w', mergePatch({ spec })))).toEqual(allowed ? [] : [message]);
  });

  test.each([
    [false, undefined],
    [true, 2],
  ])('keeps maxUnavailable only if the feature gate is enabled (%s)', async (on, kept) => {
    const sets = open({ featureGates: { MaxUnavailableStatefulSet: on } });
    const { spec } = await sets.create(input({ updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } }));
    expect(spec.updateStrategy.rollingUpdate?.maxUnavailable).toBe(kept);
  });
});

describe('a ControllerRevision', () => {
  // Data is optional in the other dialect.
  const open = () => testCluster({ dialect: 'kubernetes' }).api(ControllerRevision);
  const revision = (data: unknown, number = 1) => ({ metadata: { name: 'r' }, data, revision: number });

  test.each<[unknown, string[]]>([
    [{}, []],
    [null, ['data: Required value: data is mandatory']],
    ['abc', ['data: Required value: data must be a valid JSON object']],
    [[1], ['data: Required value: data must be a valid JSON object']],
  ])('validates the data %j', async (data, problems) => {
    expect(await problemsOf(open().create(revision(data)))).toEqual(problems);
  });

  test('rejects a negative revision', async () => {
    expect(await rejectionCauses(open().create(revision({}, -1)))).toEqual([`revision: ${NEGATIVE}`]);
  });

  test('has immutable data', async () => {
    const revisions = open();
    await revisions.create(revision({ a: 1 }));
    await revisions.patch('r', mergePatch({ revision: 0 }));
    expect(await rejectionCauses(revisions.patch('r', mergePatch({ data: { a: 2 } })))).toEqual([
      'data: Invalid value: runtime.RawExtension{Raw:[]uint8{0x7b, 0x22, 0x61, 0x22, 0x3a, 0x32, 0x7d}, Object:runtime.Object(nil)}: field is immutable',
    ]);
  });
});
