/** The permissions to read parameters that a user needs to write a policy or binding. */
import type { User } from 'orchplane';
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { AccessAttributes } from '../../../../src/protocol/access.js';
import { bind, definePolicy } from './clusters.js';

const ALICE: User = { user: 'alice', uid: 'u1', groups: ['dev', 'ops'], extra: { b: ['1', '2'], a: ['x'] } };
const SHOWN = '&{alice u1 [dev ops system:authenticated] map[a:[x] b:[1 2]]}';
const POLICIES = 'admissionregistration.k8s.io';

/** Alice may write policies and bindings; `allowed` decides all other requests. */
function start(allowed: (checks: string) => boolean | string) {
  const checks: string[] = [];
  const cluster = testCluster({
    dialect: 'kubernetes',
    runtimeConfig: 'api/all=true',
    featureGates: { MutatingAdmissionPolicy: true },
    authorizer: () => ({
      decide(_user: User, attributes: AccessAttributes) {
        if (attributes.type === 'path' || attributes.group === POLICIES) return { allowed: true, reason: '' };
        const { verb, group, version, resource, namespace, name } = attributes;
        const question = [verb, group, version, resource, namespace, name].join(' ');
        checks.push(question);
        const result = allowed(question);
        return typeof result === 'string'
          ? { allowed: false, reason: '', error: result }
          : { allowed: result, reason: '' };
      },
    }),
  } as never);
  return { cluster, asAlice: cluster.with({ as: ALICE }), checks };
}

const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE' as const], resources: ['pods'] }];
const policy = (paramKind: object) => ({
  metadata: { name: 'p' },
  spec: { paramKind, matchConstraints: { resourceRules: rules }, validations: [{ expression: 'true' }] },
});
const binding = (paramRef: object, policyName = 'p') => ({
  metadata: { name: 'b' },
  spec: {
    policyName,
    paramRef: { parameterNotFoundAction: 'Deny' as const, ...paramRef },
    validationActions: ['Deny' as const],
  },
});
const MAPS = { apiVersion: 'v1', kind: 'ConfigMap' };

describe('a policy with a paramKind', () => {
  test('requires permission to get all objects of the paramKind', async () => {
    const { asAlice, checks } = start(() => false);
    await expect(asAlice.api(ValidatingAdmissionPolicy).create(policy(MAPS))).rejects.toMatchObject({
      status: {
        code: 422,
        reason: 'Invalid',
        message: `ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user ${SHOWN} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`,
      },
    });
    expect(checks).toEqual(['get  v1 configmaps * *']);
  });

  test('requires permission for all resources if the paramKind is unknown', async () => {
    const { asAlice, checks } = start(() => true);
    await asAlice.api(ValidatingAdmissionPolicy).create(policy({ apiVersion: 'x.io/v1', kind: 'Nothing' }));
    expect(checks).toEqual(['get x.io v1 * * *']);
  });

  test('does not check a policy again while its paramKind is unchanged', async () => {
    const { asAlice, checks } = start(() => true);
    const policies = asAlice.api(ValidatingAdmissionPolicy);
    await policies.create(policy(MAPS));
    checks.length = 0;
    await policies.edit('p', (draft) => {
      draft.spec.failurePolicy = 'Ignore';
    });
    expect(checks).toEqual([]);
    await policies.edit('p', (draft) => {
      draft.spec.paramKind = { apiVersion: 'v1', kind: 'Secret' };
    });
    expect(checks).toEqual(['get  v1 secrets * *']);
  });

  test('reports an error of the authorizer', async () => {
    const { asAlice } = start(() => 'no idea');
    const forbidden = /spec\.paramKind: Forbidden: no idea$/;
    await expect(asAlice.api(ValidatingAdmissionPolicy).create(policy(MAPS))).rejects.toThrow(forbidden);
  });

  test('needs no check for a cluster administrator', async () => {
    const { cluster } = start(() => false);
    await definePolicy(cluster, 'p', { paramKind: MAPS, validations: [{ expression: 'true' }] });
    await bind(cluster, 'p', { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } });
    expect((await cluster.api(ValidatingAdmissionPolicy).get('p')).spec.paramKind).toEqual(MAPS);
  });
});

describe('a binding with a paramRef', () => {
  test('requires permission to get the named parameter, or all that the selector may match', async () => {
    const { cluster, asAlice, checks } = start(() => false);
    await cluster.api(ValidatingAdmissionPolicy).create(policy(MAPS));
    const bindings = asAlice.api(ValidatingAdmissionPolicyBinding);
    await expect(bindings.create(binding({ name: 'm', namespace: 'ns' }))).rejects.toMatchObject({
      status: {
        code: 422,
        message: `ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io "b" is invalid: spec.paramRef: Forbidden: user ${SHOWN} does not have "get" permission on the object referenced by paramRef`,
      },
    });
    await expect(bindings.create(binding({ selector: {} }))).rejects.toThrow('does not have "list" permission');
    expect(checks).toEqual(['get  v1 configmaps ns m', 'list  v1 configmaps  ']);
  });

  test('requires permission for everything if the policy or its paramKind is unknown', async () => {
    const { cluster, asAlice, checks } = start(() => false);
    const bindings = asAlice.api(ValidatingAdmissionPolicyBinding);
    const everything = `to determine minimum required permissions and user ${SHOWN} does not have "get" permission for all groups, versions and resources`;
    await expect(bindings.create(binding({ name: 'm' }))).rejects.toThrow(`unable to get policy p ${everything}`);
    await cluster.api(ValidatingAdmissionPolicy).create(policy({ apiVersion: 'x.io/v1', kind: 'Nothing' }));
    await expect(bindings.create(binding({ name: 'm' }))).rejects.toThrow(
      `unable to resolve paramKind &{x.io/v1 Nothing} ${everything}`,
    );
    expect(checks).toEqual(['get * * *  m', 'get x.io v1 *  m']);
  });

  test('checks a binding with a paramRef on every write', async () => {
    const { cluster, asAlice, checks } = start(() => true);
    await cluster.api(ValidatingAdmissionPolicy).create(policy(MAPS));
    const bindings = asAlice.api(ValidatingAdmissionPolicyBinding);
    await bindings.create(binding({ name: 'm' }));
    await bindings.edit('b', (draft) => {
      draft.metadata.labels = { a: 'b' };
    });
    expect(checks).toEqual(['get  v1 configmaps  m', 'get  v1 configmaps  m']);
  });

  test('reports an error of the authorizer', async () => {
    const { asAlice } = start(() => 'no idea');
    await expect(asAlice.api(ValidatingAdmissionPolicyBinding).create(binding({ name: 'm' }))).rejects.toThrow(
      'spec.paramRef: Forbidden: failed to authorize request: no idea',
    );
  });
});

test('checks mutating policies and their bindings in the same way', async () => {
  const { cluster, asAlice } = start(() => false);
  const mutations = [{ patchType: 'ApplyConfiguration' as const, applyConfiguration: { expression: 'Object{}' } }];
  const mutating = {
    metadata: { name: 'p' },
    spec: {
      paramKind: MAPS,
      matchConstraints: { resourceRules: rules },
      mutations,
      reinvocationPolicy: 'Never' as const,
    },
  };
  await expect(asAlice.api(MutatingAdmissionPolicy).create(mutating)).rejects.toThrow('must have "get" permission');
  await cluster.api(MutatingAdmissionPolicy).create(mutating);
  const { validationActions: _none, ...spec } = binding({ name: 'm' }).spec;
  // The reference server swaps the user and the resource in this message.
  await expect(asAlice.api(MutatingAdmissionPolicyBinding).create({ metadata: { name: 'b' }, spec })).rejects.toThrow(
    `user get does not have "${SHOWN}" permission on the object referenced by paramRef`,
  );
});
