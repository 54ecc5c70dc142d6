/** Reviews of access: shapes and rules. What they say about roles is in test/unit/rbac. */
import {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const cluster = testCluster({ dialect: 'kubernetes' });
const reviews = cluster.api(SubjectAccessReview);
const pods = { namespace: 'default', verb: 'get', resource: 'pods' };

test('an access review is answered and not stored', async () => {
  const before = cluster.resourceVersion;
  const answer = await reviews.create({
    spec: { user: 'alice', resourceAttributes: pods },
    status: { allowed: true },
  });
  expect(answer).toEqual({
    kind: 'SubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { creationTimestamp: null, managedFields: [expect.objectContaining({ operation: 'Update' })] },
    spec: { resourceAttributes: pods, user: 'alice' },
    status: { allowed: false },
  });
  expect(cluster.resourceVersion).toBe(before);
});

const NEITHER =
  'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified';
const NOBODY = 'spec.user: Invalid value: "": at least one of user or group must be specified';
const SELECTOR = 'spec.resourceAttributes.fieldSelector';

describe('an access review is refused', () => {
  test.each([
    ['that asks nothing of nobody', {}, `[${NEITHER}, ${NOBODY}]`],
    ['that asks nothing', { user: 'u' }, NEITHER],
    ['about nobody', { resourceAttributes: pods }, NOBODY],
    [
      'that asks two things',
      { user: 'u', resourceAttributes: pods, nonResourceAttributes: { path: '/x', verb: 'get' } },
      'spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/x", Verb:"get"}: cannot be specified in combination with resourceAttributes',
    ],
    [
      'with a selector given twice',
      {
        user: 'u',
        resourceAttributes: {
          ...pods,
          fieldSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
        },
      },
      `${SELECTOR}.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
    ],
    [
      'with an empty selector',
      { user: 'u', resourceAttributes: { ...pods, fieldSelector: {} } },
      `${SELECTOR}.requirements: Required value: when ${SELECTOR} is specified, requirements or rawSelector is required`,
    ],
    [
      'with a requirement on nothing',
      { user: 'u', resourceAttributes: { ...pods, fieldSelector: { requirements: [{ key: '', operator: 'In' }] } } },
      `[${SELECTOR}.requirements[0].key: Required value: must be specified, ${SELECTOR}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn']`,
    ],
    [
      'with values where none belong',
      {
        user: 'u',
        resourceAttributes: {
          ...pods,
          labelSelector: { requirements: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
        },
      },
      "spec.resourceAttributes.labelSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ])('%s', async (_what, spec, message) => {
    await expect(reviews.create({ spec })).rejects.toThrow(`.authorization.k8s.io "" is invalid: ${message}`);
  });

  test('that has a name', async () => {
    const spec = { user: 'u', resourceAttributes: pods };
    await expect(reviews.create({ metadata: { name: 'x' }, spec })).rejects.toThrow(
      'metadata: Invalid value: v1.ObjectMeta{Name:"x", GenerateName:"",',
    );
  });
});

describe('what cannot be understood of a selector is left out of account', () => {
  const fields = 'spec.resourceAttributes.fieldSelector';
  const labels = 'spec.resourceAttributes.labelSelector';
  const known = { key: 'a', operator: 'In', values: ['b'] };
  test.each([
    [{ labelSelector: { requirements: [{ key: 'a', operator: 'Like' }] } }, `${labels} ignored due to parse error`],
    [
      { labelSelector: { requirements: [{ key: 'a', operator: 'Like' }, known] } },
      `${labels} partially ignored due to parse error`,
    ],
    [{ labelSelector: { rawSelector: 'a in (' } }, `${labels} ignored due to parse error`],
    [{ labelSelector: { rawSelector: 'a in (b),!c' } }, undefined],
    [{ fieldSelector: { rawSelector: '!!' } }, `${fields} ignored due to parse error`],
    [{ fieldSelector: { rawSelector: 'a=b' } }, undefined],
    [{ fieldSelector: { requirements: [known] } }, undefined],
    [{ fieldSelector: { requirements: [{ key: 'a', operator: 'Exists' }] } }, `${fields} ignored due to parse error`],
    [
      { fieldSelector: { requirements: [known, { ...known, values: ['b', 'c'] }] } },
      `${fields} partially ignored due to parse error`,
    ],
    [
      { fieldSelector: { rawSelector: '!!' }, labelSelector: { rawSelector: '!!' } },
      `${fields} ignored due to parse error; ${labels} ignored due to parse error`,
    ],
  ])('%j', async (selectors, error) => {
    const { status } = await reviews.create({ spec: { user: 'u', resourceAttributes: { ...pods, ...selectors } } });
    expect(status.evaluationError).toBe(error);
  });
});

test('a review of oneself needs no user', async () => {
  const own = cluster.api(SelfSubjectAccessReview);
  expect((await own.create({ spec: { resourceAttributes: pods } })).status.allowed).toBe(true);
  await expect(own.create({ spec: {} })).rejects.toThrow(NEITHER);
});

test('a local review stays in its namespace', async () => {
  const local = cluster.api(LocalSubjectAccessReview, 'default');
  const user = 'u';
  expect((await local.create({ spec: { user, resourceAttributes: pods } })).metadata.namespace).toBe('default');
  await expect(local.create({ spec: { user, resourceAttributes: { ...pods, namespace: 'other' } } })).rejects.toThrow(
    'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
  );
  await expect(local.create({ spec: { user, nonResourceAttributes: { path: '/x', verb: 'get' } } })).rejects.toThrow(
    'disallowed on this kind of request',
  );
});

test('a review of rules names a namespace, and is answered with what is allowed there', async () => {
  const rules = cluster.api(SelfSubjectRulesReview);
  await expect(rules.create({ spec: {} })).rejects.toThrow('no namespace on request');
  const answer = await rules.create({ spec: { namespace: 'default' } });
  expect(answer.spec).toEqual({});
  expect(answer.status.resourceRules[0]).toEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
});
