/** Validation of access reviews. Their results for roles are tested in test/unit/rbac. */
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

test('answers an access review without storing it', async () => {
  const before = cluster.resourceVersion;
  const response = await reviews.create({
    spec: { user: 'alice', resourceAttributes: pods },
    status: { allowed: true },
  });
  expect(response).toEqual({
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
const NO_SUBJECT = 'spec.user: Invalid value: "": at least one of user or group must be specified';
const SELECTOR = 'spec.resourceAttributes.fieldSelector';

describe('an access review', () => {
  test.each([
    ['without attributes and user', {}, `[${NEITHER}, ${NO_SUBJECT}]`],
    ['without attributes', { user: 'u' }, NEITHER],
    ['without a user and groups', { resourceAttributes: pods }, NO_SUBJECT],
    [
      'with resource and non-resource attributes',
      { user: 'u', resourceAttributes: pods, nonResourceAttributes: { path: '/x', verb: 'get' } },
      'spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/x", Verb:"get"}: cannot be specified in combination with resourceAttributes',
    ],
    [
      'with rawSelector and requirements',
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
      'with a requirement without a key',
      { user: 'u', resourceAttributes: { ...pods, fieldSelector: { requirements: [{ key: '', operator: 'In' }] } } },
      `[${SELECTOR}.requirements[0].key: Required value: must be specified, ${SELECTOR}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn']`,
    ],
    [
      'with values for an operator without values',
      {
        user: 'u',
        resourceAttributes: {
          ...pods,
          labelSelector: { requirements: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
        },
      },
      "spec.resourceAttributes.labelSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ])('rejects an access review %s', async (_what, spec, message) => {
    await expect(reviews.create({ spec })).rejects.toThrow(`.authorization.k8s.io "" is invalid: ${message}`);
  });

  test('rejects an access review with a name', async () => {
    const spec = { user: 'u', resourceAttributes: pods };
    await expect(reviews.create({ metadata: { name: 'x' }, spec })).rejects.toThrow(
      'metadata: Invalid value: v1.ObjectMeta{Name:"x", GenerateName:"",',
    );
  });
});

describe('an unparsable selector of an access review', () => {
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
  ])('reports an unparsable selector of an access review as evaluationError: %j', async (selectors, error) => {
    const { status } = await reviews.create({ spec: { user: 'u', resourceAttributes: { ...pods, ...selectors } } });
    expect(status.evaluationError).toBe(error);
  });
});

test('requires no user in a SelfSubjectAccessReview', async () => {
  const own = cluster.api(SelfSubjectAccessReview);
  expect((await own.create({ spec: { resourceAttributes: pods } })).status.allowed).toBe(true);
  await expect(own.create({ spec: {} })).rejects.toThrow(NEITHER);
});

test('limits a LocalSubjectAccessReview to its namespace', async () => {
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

test('requires a namespace in a SelfSubjectRulesReview, and returns the rules there', async () => {
  const rules = cluster.api(SelfSubjectRulesReview);
  await expect(rules.create({ spec: {} })).rejects.toThrow('no namespace on request');
  const response = await rules.create({ spec: { namespace: 'default' } });
  expect(response.spec).toEqual({});
  expect(response.status.resourceRules[0]).toEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
});

test.each(['labelSelector', 'fieldSelector'])(
  'ignores a %s that is longer than the header of a request',
  async (name) => {
    const statusOf = async (rawSelector: string) => {
      const selector =
        name === 'labelSelector' ? { labelSelector: { rawSelector } } : { fieldSelector: { rawSelector } };
      const resourceAttributes = { verb: 'list', resource: 'pods', ...selector };
      return (await testCluster().api(SelfSubjectAccessReview).create({ spec: { resourceAttributes } })).status;
    };
    expect(await statusOf('a=b,'.repeat(1_000).slice(0, -1))).toEqual({ allowed: true });
    expect(await statusOf('a=b,'.repeat(300_000).slice(0, -1))).toEqual({
      allowed: true,
      evaluationError: `spec.resourceAttributes.${name} ignored due to parse error`,
    });
  },
);
