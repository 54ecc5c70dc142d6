/** ReplicationController and PodTemplate. */
import { mergePatch } from 'orchplane';
import { PodTemplate, ReplicationController, type ReplicationControllerInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

type Spec = NonNullable<ReplicationControllerInput['spec']>;
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

const create = (spec: Spec) =>
  testCluster()
    .api(ReplicationController)
    .create({ metadata: { name: 'r' }, spec });

describe('a ReplicationController', () => {
  test('defaults labels and selector to the labels of the template', async () => {
    const { metadata, spec, status } = await create({ template });
    expect(metadata).toMatchObject({ labels: { app: 'a' }, generation: 1 });
    expect(spec).toMatchObject({ replicas: 1, selector: { app: 'a' } });
    expect(spec.template?.spec.restartPolicy).toBe('Always');
    expect(status).toEqual({ replicas: 0 });
  });

  test.each<[string, Spec, string[]]>([
    ['an empty spec', {}, ['spec.selector: Required value', 'spec.template: Required value']],
    [
      'negative numbers',
      { template, replicas: -1, minReadySeconds: -1 },
      [
        'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      'a selector that does not match the template',
      { template, selector: { app: 'b' } },
      [
        'spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'a restartPolicy other than Always',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
      ],
    ],
  ])('rejects a ReplicationController with %s', async (_, spec, problems) => {
    expect(await rejectionCauses(create(spec))).toEqual(problems);
  });

  test('validates the counts in its status', async () => {
    const controllers = testCluster().api(ReplicationController);
    await controllers.create({ metadata: { name: 'r' }, spec: { template } });
    const counts = { replicas: 1, readyReplicas: 2, availableReplicas: 3 };
    expect(await rejectionCauses(controllers.status.patch('r', mergePatch({ status: counts })))).toEqual([
      'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas',
    ]);
    await controllers.status.patch('r', mergePatch({ status: { replicas: 2 } }));
    expect((await controllers.list({ fields: 'status.replicas=2' })).items).toHaveLength(1);
  });
});

test('sets the generation and the defaults of a PodTemplate', async () => {
  const templates = testCluster().api(PodTemplate);
  const created = await templates.create({ metadata: { name: 't' }, template });
  expect(created.metadata.generation).toBe(1);
  expect(created.template.spec.restartPolicy).toBe('Always');
  const labelled = await templates.patch('t', mergePatch({ metadata: { labels: { k: 'v' } } }));
  expect(labelled.metadata.generation).toBe(1);
  const changed = await templates.patch('t', mergePatch({ template: { metadata: { labels: { app: 'b' } } } }));
  expect(changed.metadata.generation).toBe(2);
});
