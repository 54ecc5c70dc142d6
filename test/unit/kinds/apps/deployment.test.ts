/** Validation and defaulting of Deployments. */
import { mergePatch } from 'orchplane';
import { Deployment } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';
import { MISMATCH, NEGATIVE, pod, selector, template } from './problems.js';

const open = (options = {}) => testCluster(options).api(Deployment);
const input = (more: object = {}) => ({ metadata: { name: 'd' }, spec: { selector, template, ...more } });
const DUMP =
  'v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}';

describe('a Deployment', () => {
  test('sets the defaults of a Deployment', async () => {
    const { spec, status, metadata } = await open().create(input());
    expect(spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    expect(status).toEqual({});
    expect(metadata.generation).toBe(1);
  });

  test('sets no rollingUpdate for a Deployment with strategy Recreate', async () => {
    const { spec } = await open().create(input({ strategy: { type: 'Recreate' } }));
    expect(spec.strategy).toEqual({ type: 'Recreate' });
  });

  const rolling = (rollingUpdate: object) => ({ strategy: { rollingUpdate } });
  const UNAVAILABLE = 'spec.strategy.rollingUpdate.maxUnavailable';
  test.each<[string, object, string[]]>([
    [
      'no selector',
      { selector: undefined },
      [
        'spec.selector: Required value',
        `spec.template.metadata.labels: Invalid value: map[string]string{"a":"b"}: ${MISMATCH}`,
      ],
    ],
    [
      'an empty selector',
      { selector: {} },
      [`spec.selector: Invalid value: ${DUMP}: empty selector is invalid for deployment`],
    ],
    ['negative replicas', { replicas: -1 }, [`spec.replicas: ${NEGATIVE}`]],
    ['a negative revisionHistoryLimit', { revisionHistoryLimit: -1 }, [`spec.revisionHistoryLimit: ${NEGATIVE}`]],
    [
      'a progressDeadlineSeconds that is not above minReadySeconds',
      { minReadySeconds: 600 },
      ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
    ],
    [
      'an unknown strategy',
      { strategy: { type: 'Magic' } },
      [
        'spec.strategy: Unsupported value: apps.DeploymentStrategy{Type:"Magic", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}: supported values: "Recreate", "RollingUpdate"',
      ],
    ],
    [
      'rollingUpdate with strategy Recreate',
      { strategy: { type: 'Recreate', rollingUpdate: {} } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'a rolling update with zero maxSurge and maxUnavailable',
      rolling({ maxSurge: 0, maxUnavailable: 0 }),
      [
        `${UNAVAILABLE}: Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when \`maxSurge\` is 0`,
      ],
    ],
    [
      'a maxUnavailable above 100%',
      rolling({ maxUnavailable: '101%' }),
      [
        `${UNAVAILABLE}: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%`,
      ],
    ],
    [
      'a restartPolicy other than Always',
      { template: { ...template, spec: { ...pod, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
      ],
    ],
  ])('rejects %s', async (_, more, problems) => {
    expect(await rejectionCauses(open().create(input(more) as never))).toEqual(problems);
  });

  test('has an immutable selector', async () => {
    const deployments = open();
    await deployments.create(input());
    const change = deployments.patch('d', mergePatch({ spec: { selector: { matchLabels: { a: 'c' } } } }));
    expect((await rejectionCauses(change)).at(-1)).toMatch(/^spec\.selector: .*: field is immutable$/);
  });

  test('increments its generation for changes of spec and annotations, not of labels and status', async () => {
    const deployments = open();
    await deployments.create(input());
    const generation = async (patch: object) => (await deployments.patch('d', mergePatch(patch))).metadata.generation;
    expect(await generation({ metadata: { labels: { x: 'y' } } })).toBe(1);
    expect(await generation({ metadata: { annotations: { x: 'y' } } })).toBe(2);
    expect(await generation({ spec: { paused: true } })).toBe(3);
    const change = { metadata: { labels: { l: 'l' }, annotations: { z: 'z' } }, status: { replicas: 1 } };
    const { metadata } = await deployments.status.patch('d', mergePatch(change));
    expect(metadata).toMatchObject({ generation: 3, labels: { x: 'y' }, annotations: { x: 'y', z: 'z' } });
    expect(metadata.labels).not.toHaveProperty('l');
  });

  test.each<[object, string[]]>([
    [{ unavailableReplicas: -1 }, [`status.unavailableReplicas: ${NEGATIVE}`]],
    // Omitted counts are zero.
    [
      { replicas: -1 },
      [
        `status.replicas: ${NEGATIVE}`,
        ...['updatedReplicas', 'readyReplicas', 'availableReplicas'].map(
          (field) => `status.${field}: Invalid value: 0: cannot be greater than status.replicas`,
        ),
      ],
    ],
    [{ updatedReplicas: 1 }, ['status.updatedReplicas: Invalid value: 1: cannot be greater than status.replicas']],
    [
      { replicas: 2, availableReplicas: 1 },
      ['status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas'],
    ],
  ])('rejects the status %j', async (status, problems) => {
    const deployments = open();
    await deployments.create(input());
    expect(await rejectionCauses(deployments.status.patch('d', mergePatch({ status })))).toEqual(problems);
  });

  test('rejects a decreasing collisionCount', async () => {
    const deployments = open();
    await deployments.create(input());
    await deployments.status.patch('d', mergePatch({ status: { collisionCount: 2 } }));
    const less = deployments.status.patch('d', mergePatch({ status: { collisionCount: 1 } }));
    expect(await rejectionCauses(less)).toEqual(['status.collisionCount: Invalid value: 1: cannot be decremented']);
  });

  test.each([
    [false, undefined],
    [true, 3],
  ])('keeps terminatingReplicas only if the feature gate is enabled (%s)', async (on, kept) => {
    const deployments = open({ featureGates: { DeploymentReplicaSetTerminatingReplicas: on } });
    await deployments.create(input());
    const { status } = await deployments.status.patch('d', mergePatch({ status: { terminatingReplicas: 3 } }));
    expect(status.terminatingReplicas).toBe(kept);
  });
});
