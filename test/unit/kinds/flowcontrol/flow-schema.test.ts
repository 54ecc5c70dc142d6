/** Validation of FlowSchemas. */
import { mergePatch } from 'orchplane';
import { FlowSchema, type FlowSchemaInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { FlowSchemaSpecInput } from '../../../../src/kinds/generated/flowcontrol-v1.js';
import { invalidWith } from '../rejections.js';

const create = async (spec: object, name = 'f') => {
  const schemas = testCluster().api(FlowSchema);
  // The mandatory FlowSchemas exist already.
  if ((await schemas.find(name)) !== undefined) await schemas.delete(name);
  return schemas.create({
    metadata: { name },
    spec: { priorityLevelConfiguration: { name: 'p' }, ...spec },
  } as FlowSchemaInput);
};

const user = { kind: 'User', user: { name: 'u' } };
const onPods = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['n'] };
const withRule = (rule: object) => create({ rules: [{ subjects: [user], ...rule }] });

describe('a FlowSchema', () => {
  test('gets a default precedence, a generation and a separate status', async () => {
    const schemas = testCluster().api(FlowSchema);
    const spec: FlowSchemaSpecInput = { priorityLevelConfiguration: { name: 'p' }, matchingPrecedence: 0 };
    const status = { conditions: [{ type: 'Dangling' }] };
    const created = await schemas.create({ metadata: { name: 'f' }, spec, status });
    expect(created.spec).toEqual({ priorityLevelConfiguration: { name: 'p' }, matchingPrecedence: 1000 });
    expect(created.status).toEqual({});
    expect(created.metadata.generation).toBe(1);
    const changed = await schemas.patch('f', mergePatch({ spec: { matchingPrecedence: 7 } }));
    expect(changed.metadata.generation).toBe(2);
  });

  test.each([
    [{ matchingPrecedence: -1 }, 'matchingPrecedence', 'Invalid value: -1: must be a positive value'],
    [{ matchingPrecedence: 10_001 }, 'matchingPrecedence', 'Invalid value: 10001: must not be greater than 10000'],
    [
      { matchingPrecedence: 1 },
      'matchingPrecedence',
      "Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    ],
    [
      { distinguisherMethod: { type: 'ByMood' } },
      'distinguisherMethod.type',
      'Unsupported value: flowcontrol.FlowDistinguisherMethod{Type:"ByMood"}: supported values: "ByNamespace", "ByUser"',
    ],
    [
      { priorityLevelConfiguration: {} },
      'priorityLevelConfiguration.name',
      'Required value: must reference a priority level',
    ],
  ])('rejects a FlowSchema with %o', async (spec, field, message) => {
    await expect(create(spec)).rejects.toMatchObject(invalidWith([`spec.${field}`, message]));
  });

  test('requires a valid priority level name', async () => {
    await expect(create({ priorityLevelConfiguration: { name: 'A_B' } })).rejects.toMatchObject({
      status: { details: { causes: [{ field: 'spec.priorityLevelConfiguration.name', reason: 'FieldValueInvalid' }] } },
    });
  });
});

describe('FlowSchema rules', () => {
  test('requires subjects and at least one resource or non-resource rule in a FlowSchema', async () => {
    await expect(withRule({ subjects: [] })).rejects.toMatchObject(
      invalidWith(
        ['spec.rules[0].subjects', 'Required value: subjects must contain at least one value'],
        ['spec.rules[0]', 'Required value: at least one of resourceRules and nonResourceRules has to be non-empty'],
      ),
    );
  });

  test.each([
    [{ kind: 'Robot' }, [['kind', 'Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"']]],
    [{ kind: 'User' }, [['user', "Required value: user is required when subject kind is 'User'"]]],
    [{ kind: 'Group' }, [['group', "Required value: group is required when subject kind is 'Group'"]]],
    [
      { kind: 'ServiceAccount' },
      [['serviceAccount', "Required value: serviceAccount is required when subject kind is 'ServiceAccount'"]],
    ],
    [{ kind: 'User', user: {} }, [['user.name', 'Required value']]],
    [{ kind: 'Group', group: {} }, [['group.name', 'Required value']]],
    [
      { kind: 'ServiceAccount', serviceAccount: {} },
      [
        ['serviceAccount.name', 'Required value'],
        ['serviceAccount.namespace', 'Required value: must specify namespace for service account'],
      ],
    ],
    [
      { kind: 'User', user: { name: 'u' }, group: { name: 'g' }, serviceAccount: { name: '*', namespace: 'n' } },
      [
        ['serviceAccount', "Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'"],
        ['group', "Forbidden: group is forbidden when subject kind is not 'Group'"],
      ],
    ],
    [
      { kind: 'Group', user: { name: 'u' }, group: { name: 'g' }, serviceAccount: { name: '*', namespace: 'n' } },
      [
        ['serviceAccount', "Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'"],
        ['user', "Forbidden: user is forbidden when subject kind is not 'User'"],
      ],
    ],
    [
      { kind: 'ServiceAccount', user: { name: 'u' }, serviceAccount: { name: '*', namespace: 'n' } },
      [['user', "Forbidden: user is forbidden when subject kind is not 'User'"]],
    ],
  ])('rejects the subject %o', async (subject, causes) => {
    const at = (field: string | undefined) => `spec.rules[0].subjects[0].${field}`;
    await expect(withRule({ subjects: [subject], resourceRules: [onPods] })).rejects.toMatchObject(
      invalidWith(...causes.map(([field, message]) => [at(field), `${message}`] as const)),
    );
  });

  test.each([
    [{ verbs: [] }, 'verbs', 'Required value: verbs must contain at least one value'],
    [
      { verbs: ['*', 'get'] },
      'verbs',
      `Invalid value: []string{"*", "get"}: if '*' is present, must not specify other verbs`,
    ],
    [
      { verbs: ['fly'] },
      'verbs',
      'Unsupported value: []string{"fly"}: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
    ],
    [{ apiGroups: null }, 'apiGroups', 'Required value: resource rules must supply at least one api group'],
    [
      { apiGroups: ['*', ''] },
      'apiGroups',
      `Invalid value: []string{"*", ""}: if '*' is present, must not specify other api groups`,
    ],
    [{ resources: [] }, 'resources', 'Required value: resource rules must supply at least one resource'],
    [
      { resources: ['*', 'pods'] },
      'resources',
      `Invalid value: []string{"*", "pods"}: if '*' is present, must not specify other resources`,
    ],
    [
      { namespaces: [] },
      'namespaces',
      'Required value: resource rules that are not cluster scoped must supply at least one namespace',
    ],
    [
      { namespaces: ['*', 'a'] },
      'namespaces',
      `Invalid value: []string{"*", "a"}: if '*' is present, must not specify other namespaces`,
    ],
  ])('rejects the resource rule %o', async (part, field, message) => {
    await expect(withRule({ resourceRules: [{ ...onPods, ...part }] })).rejects.toMatchObject(
      invalidWith([`spec.rules[0].resourceRules[0].${field}`, message]),
    );
  });

  test('requires valid namespace names', async () => {
    await expect(withRule({ resourceRules: [{ ...onPods, namespaces: ['A_B'] }] })).rejects.toMatchObject({
      status: {
        details: {
          causes: [
            {
              field: 'spec.rules[0].resourceRules[0].namespaces[0]',
              message: expect.stringContaining(
                `Invalid value: "A_B": each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label`,
              ),
            },
          ],
        },
      },
    });
  });

  test('requires no namespaces in a FlowSchema rule for cluster-scoped resources, and prints null', async () => {
    const { spec } = await withRule({ resourceRules: [{ ...onPods, clusterScope: true, namespaces: [] }] });
    expect(spec.rules?.[0]?.resourceRules?.[0]).toEqual({ ...onPods, clusterScope: true, namespaces: null });
  });

  test.each([
    [[], '', 'Required value: nonResourceURLs must contain at least one value'],
    [
      ['*', '/x'],
      '',
      `Invalid value: []string{"*", "/x"}: if '*' is present, must not specify other non-resource URLs`,
    ],
    [[''], '[0]', 'Invalid value: "": must not be empty'],
    [['x'], '[0]', 'Invalid value: "x": must start with slash'],
    [['/a b'], '[0]', 'Invalid value: "/a b": must not contain white-space'],
    [['/a//b'], '[0]', 'Invalid value: "/a//b": must not contain double slash'],
    [['/a*'], '[0]', 'Invalid value: "/a*": wildcard can only do suffix matching'],
    [['/*/a/*'], '[0]', 'Invalid value: "/*/a/*": wildcard can only do suffix matching'],
  ])('rejects the URLs %o', async (nonResourceURLs, at, message) => {
    await expect(withRule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] })).rejects.toMatchObject(
      invalidWith([`spec.rules[0].nonResourceRules[0].nonResourceURLs${at}`, message]),
    );
  });

  test.each([[['*']], [['/', '/healthz', '/api/*']]])('accepts the URLs %o', async (nonResourceURLs) => {
    await expect(withRule({ nonResourceRules: [{ verbs: ['*'], nonResourceURLs }] })).resolves.toBeDefined();
  });
});

describe('a mandatory FlowSchema', () => {
  const all = {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  };
  const group = (name: string) => ({ kind: 'Group', group: { name } });
  const exempt = {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: [group('system:masters')], ...all }],
  };
  const catchAll = {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [group('system:unauthenticated'), group('system:authenticated')], ...all }],
  };

  test.each([
    ['exempt', exempt],
    ['catch-all', catchAll],
  ])('rejects changes of the mandatory FlowSchema %s', async (name, spec) => {
    await expect(create(spec, name)).resolves.toMatchObject({ spec });
    const message = expect.stringContaining(`: spec of '${name}' must equal the fixed value`) as string;
    await expect(create({ ...spec, matchingPrecedence: 2 }, name)).rejects.toMatchObject(
      invalidWith(['spec', message]),
    );
  });

  test('prints a rejected spec in Go syntax', async () => {
    const dump =
      'flowcontrol.FlowSchemaSpec{PriorityLevelConfiguration:flowcontrol.PriorityLevelConfigurationReference{Name:"exempt"}, MatchingPrecedence:2, DistinguisherMethod:(*flowcontrol.FlowDistinguisherMethod)(nil), Rules:[]flowcontrol.PolicyRulesWithSubjects{flowcontrol.PolicyRulesWithSubjects{Subjects:[]flowcontrol.Subject{flowcontrol.Subject{Kind:"Group", User:(*flowcontrol.UserSubject)(nil), Group:(*flowcontrol.GroupSubject)(0xc000000000), ServiceAccount:(*flowcontrol.ServiceAccountSubject)(nil)}}, ResourceRules:[]flowcontrol.ResourcePolicyRule{flowcontrol.ResourcePolicyRule{Verbs:[]string{"*"}, APIGroups:[]string{"*"}, Resources:[]string{"*"}, ClusterScope:true, Namespaces:[]string{"*"}}}, NonResourceRules:[]flowcontrol.NonResourcePolicyRule{flowcontrol.NonResourcePolicyRule{Verbs:[]string{"*"}, NonResourceURLs:[]string{"*"}}}}}}';
    await expect(create({ ...exempt, matchingPrecedence: 2 }, 'exempt')).rejects.toMatchObject(
      invalidWith(['spec', `Invalid value: ${dump}: spec of 'exempt' must equal the fixed value`]),
    );
  });
});

test('rejects duplicate condition types in the status', async () => {
  const schemas = testCluster().api(FlowSchema);
  const spec: FlowSchemaSpecInput = { priorityLevelConfiguration: { name: 'p' } };
  await schemas.create({ metadata: { name: 'f' }, spec });
  // The reconciler reports after the create whether the priority level exists.
  const created = await schemas.get('f');
  const conditions = [{ type: 'A' }, { type: 'A' }, { type: '' }];
  await expect(schemas.status.update('f', { ...created, status: { conditions } })).rejects.toMatchObject(
    invalidWith(
      ['status.conditions[1].type', 'Duplicate value: "A"'],
      ['status.conditions[2].type', 'Required value: must not be empty'],
    ),
  );
  const labels = { k: 'v' };
  const updated = await schemas.status.update('f', {
    ...created,
    metadata: { ...created.metadata, labels },
    spec: { priorityLevelConfiguration: { name: 'q' } },
    status: { conditions: [{ type: 'A', status: 'True' }] },
  });
  expect(updated.status).toEqual({ conditions: [{ type: 'A', status: 'True', lastTransitionTime: null }] });
  expect(updated.spec).toEqual(created.spec);
  expect(updated.metadata.labels).toBeUndefined();
});
