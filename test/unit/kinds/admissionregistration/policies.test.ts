/** Validation of admission policies and their bindings. */
import type { ApiObject, Kind } from 'orchplane';
import { mergePatch } from 'orchplane';
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyV1beta1,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { rejectionCauses } from '../rejections.js';

const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };
const matchConstraints = { resourceRules: [rule] };
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

type AnyKind = Kind<ApiObject & Record<string, unknown>, Record<string, unknown>, 'Cluster', never>;

function create(kind: Kind, spec: object): Promise<ApiObject & Record<string, unknown>> {
  const cluster = testCluster();
  cluster.install(kind);
  return cluster.api(kind as unknown as AnyKind).create({ metadata: { name: 'p' }, spec } as never);
}

describe('a ValidatingAdmissionPolicy', () => {
  const spec = { matchConstraints, validations: [{ expression: 'true' }] };
  const matching = (more: object) => ({ ...spec, matchConstraints: { ...matchConstraints, ...more } });
  const ruled = (more: object) => ({ ...spec, matchConstraints: { resourceRules: [{ ...rule, ...more }] } });
  const R = 'spec.matchConstraints.resourceRules[0]';
  const twenty = Array.from({ length: 21 }, (_, index) => ({ key: `k${index}`, valueExpression: "''" }));

  test('gets defaults, and a generation that follows its spec', async () => {
    const cluster = testCluster();
    cluster.install(ValidatingAdmissionPolicy);
    const policies = cluster.api(ValidatingAdmissionPolicy);
    const created = await policies.create({ metadata: { name: 'p' }, spec } as never);
    expect(created).toMatchObject({
      metadata: { generation: 1 },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [{ ...rule, scope: '*' }],
          matchPolicy: 'Equivalent',
        },
      },
      status: {},
    });
    const patched = await policies.patch('p', mergePatch({ spec: { failurePolicy: 'Ignore' } }));
    expect(patched.metadata.generation).toBe(2);
  });

  test.each<[string, object, string[]]>([
    ['no constraints', { validations: spec.validations }, ['spec.matchConstraints: Required value']],
    ['no rules', { ...spec, matchConstraints: {} }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      'an empty rule',
      { ...spec, matchConstraints: { resourceRules: [{}] } },
      ['operations', 'apiGroups', 'apiVersions', 'resources'].map((field) => `${R}.${field}: Required value`),
    ],
    [
      'a wildcard next to other values',
      ruled({ operations: ['*', 'CREATE'], apiGroups: ['*', 'a'], apiVersions: ['*', ''], resources: ['*', 'a'] }),
      [
        `${R}.operations: Invalid value: []admissionregistration.OperationType{"*", "CREATE"}: if '*' is present, must not specify other operations`,
        `${R}.apiGroups: Invalid value: []string{"*", "a"}: if '*' is present, must not specify other API groups`,
        `${R}.apiVersions: Invalid value: []string{"*", ""}: if '*' is present, must not specify other API versions`,
        `${R}.apiVersions[1]: Required value`,
        `${R}.resources: Invalid value: []string{"*", "a"}: if '*' is present, must not specify other resources without subresources`,
      ],
    ],
    [
      'overlapping resources',
      ruled({ resources: ['', '*/*', 'a/*', 'a/b', '*/c', 'd/c'] }),
      [
        `${R}.resources[0]: Required value`,
        `${R}.resources[2]: Invalid value: "a/*": if '*/*' is present, must not specify a/*`,
        `${R}.resources[3]: Invalid value: "a/b": if 'a/*' is present, must not specify a/b`,
        `${R}.resources[4]: Invalid value: "*/c": if '*/*' is present, must not specify */c`,
        `${R}.resources[5]: Invalid value: "d/c": if '*/c' is present, must not specify d/c`,
        `${R}.resources: Invalid value: []string{"", "*/*", "a/*", "a/b", "*/c", "d/c"}: if '*/*' is present, must not specify other resources`,
      ],
    ],
    [
      'unknown enum values',
      { ...ruled({ operations: ['PATCH'], scope: 'Galaxy' }), failurePolicy: 'Cry' },
      [
        'spec.failurePolicy: Unsupported value: "Cry": supported values: "Fail", "Ignore"',
        `${R}.operations[0]: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
        `${R}.scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"`,
      ],
    ],
    [
      'an invalid match policy or selector',
      matching({ matchPolicy: 'Loose', objectSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } }),
      [
        'spec.matchConstraints.matchPolicy: Unsupported value: "Loose": supported values: "Equivalent", "Exact"',
        'spec.matchConstraints.objectSelector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
      ],
    ],
    [
      'invalid resource names',
      ruled({ resourceNames: ['a', 'a', 'b/c'] }),
      [
        `${R}.resourceNames[1]: Duplicate value: "a"`,
        `${R}.resourceNames[2]: Invalid value: "b/c": may not contain '/'`,
      ],
    ],
    [
      'an empty paramKind',
      { ...spec, paramKind: {} },
      ['spec.paramKind.apiVersion: Required value', 'spec.paramKind.kind: Required value'],
    ],
    [
      'an invalid paramKind',
      { ...spec, paramKind: { apiVersion: 'A/', kind: 'a b' } },
      [
        `spec.paramKind.apiVersion: Invalid value: "A": ${SUBDOMAIN}`,
        'spec.paramKind.apiVersion: Invalid value: "A/": version must be specified',
        `spec.paramKind.kind: Invalid value: "a b": may have mixed case, but should otherwise match: ${LABEL}`,
      ],
    ],
    [
      'an invalid paramKind version',
      { ...spec, paramKind: { apiVersion: 'a/b/c', kind: 'K' } },
      ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [
      'invalid match conditions',
      {
        ...spec,
        matchConditions: [
          { name: '', expression: ' ' },
          { name: 'a', expression: 'true' },
          { name: 'a', expression: 'true' },
          { name: 'a b', expression: 'true' },
        ],
      },
      [
        'spec.matchConditions[0].expression: Required value',
        'spec.matchConditions[0].name: Required value',
        'spec.matchConditions[2].name: Duplicate value: "a"',
        `spec.matchConditions[3].name: Invalid value: "a b": ${NAME_PART}`,
      ],
    ],
    [
      'too many match conditions',
      {
        ...spec,
        matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `n${index}`, expression: 'true' })),
      },
      ['spec.matchConditions: Too many: 65: must have at most 64 items'],
    ],
    [
      'invalid variables',
      {
        ...spec,
        variables: [
          { name: '', expression: '' },
          { name: 'in', expression: '1' },
        ],
      },
      [
        'spec.variables[0].name: Required value: name is not specified',
        'spec.variables[0].expression: Required value: expression is not specified',
        'spec.variables[1].name: Invalid value: "in": name is not a valid CEL identifier',
      ],
    ],
    [
      'neither validations nor audit annotations',
      { matchConstraints },
      ['validations', 'auditAnnotations'].map(
        (field) => `spec.${field}: Required value: validations or auditAnnotations must contain at least one item`,
      ),
    ],
    [
      'invalid validations',
      {
        ...spec,
        validations: [
          { expression: ' ', message: ' ', messageExpression: ' ', reason: 'Odd' },
          { expression: 'true', message: 'a\nb' },
        ],
      },
      [
        'spec.validations[0].expression: Required value: expression is not specified',
        'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
        'spec.validations[0].message: Invalid value: " ": message must be non-empty if specified',
        'spec.validations[0].reason: Unsupported value: "Odd": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"',
        'spec.validations[1].message: Invalid value: "a\\nb": message must not contain line breaks',
      ],
    ],
    [
      'invalid audit annotations',
      {
        ...spec,
        auditAnnotations: [
          { key: 'a b', valueExpression: '' },
          { key: 'c', valueExpression: 'x'.repeat(5121) },
          { key: 'c', valueExpression: "''" },
        ],
      },
      [
        `spec.auditAnnotations[0].key: Invalid value: "p/a b": ${NAME_PART}`,
        'spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified',
        'spec.auditAnnotations[1].valueExpression: Required value: must not exceed 5120 bytes in length',
        'spec.auditAnnotations[2].key: Duplicate value: "c"',
      ],
    ],
    [
      'too many audit annotations',
      { ...spec, auditAnnotations: twenty },
      [
        `spec.auditAnnotations: Invalid value: []admissionregistration.AuditAnnotation{${twenty
          .map(({ key }) => `admissionregistration.AuditAnnotation{Key:"${key}", ValueExpression:"''"}`)
          .join(', ')}}: must not have more than 20 auditAnnotations`,
      ],
    ],
  ])('rejects a ValidatingAdmissionPolicy with %s', async (_, invalid, causes) => {
    expect(await rejectionCauses(create(ValidatingAdmissionPolicy, invalid))).toEqual(causes);
  });

  test('has a separate status with validated conditions', async () => {
    const cluster = testCluster();
    cluster.install(ValidatingAdmissionPolicy);
    const policies = cluster.api(ValidatingAdmissionPolicy);
    await policies.create({ metadata: { name: 'p' }, spec, status: { observedGeneration: 3 } } as never);
    const status = policies.subresource('status');
    expect((await policies.get('p')).status).toEqual({});
    const patch = (change: object) => status.patch('p', mergePatch({ status: change } as never));
    expect((await patch({ observedGeneration: 1 })).status).toEqual({ observedGeneration: 1 });
    const warning = { fieldRef: ' ', warning: '' };
    const condition = { type: 'a b', status: 'Perhaps', observedGeneration: -1, reason: '1', message: '' };
    expect(
      await rejectionCauses(patch({ typeChecking: { expressionWarnings: [warning] }, conditions: [condition] })),
    ).toEqual([
      'status.typeChecking.expressionWarnings[0].warning: Required value',
      'status.typeChecking.expressionWarnings[0].fieldRef: Required value',
      `status.conditions[0].type: Invalid value: "a b": ${NAME_PART}`,
      'status.conditions[0].status: Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"',
      'status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero',
      'status.conditions[0].lastTransitionTime: Required value: must be set',
      "status.conditions[0].reason: Invalid value: \"1\": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
    ]);
  });

  test.each([
    ['#', "unrecognized character in action: U+0023 '#'"],
    ['spec[x]', 'invalid array index x'],
    ['spec[', 'unterminated array'],
    ["'x", 'unterminated quoted string'],
    ['spec.validations[0].expression', undefined],
  ])('validates the field path of an expression warning: %s', async (fieldRef, why) => {
    const cluster = testCluster();
    const policies = cluster.api(ValidatingAdmissionPolicy);
    await policies.create({ metadata: { name: 'p' }, spec } as never);
    const status = { typeChecking: { expressionWarnings: [{ fieldRef, warning: 'w' }] } };
    const patched = policies.subresource('status').patch('p', mergePatch({ status } as never));
    if (why === undefined) expect((await patched).status).toEqual(status);
    else {
      expect(await rejectionCauses(patched)).toEqual([
        `status.typeChecking.expressionWarnings[0].fieldRef: Invalid value: ${JSON.stringify(fieldRef)}: invalid JSONPath: ${why}`,
      ]);
    }
  });

  test('warns about the deprecated v1beta1 version', async () => {
    const warnings: string[] = [];
    const cluster = testCluster();
    cluster.install(ValidatingAdmissionPolicyV1beta1);
    const policies = cluster
      .with({ onWarning: (warning) => warnings.push(warning) })
      .api(ValidatingAdmissionPolicyV1beta1);
    await policies.create({ metadata: { name: 'p' }, spec } as never);
    expect(warnings).toEqual([
      'admissionregistration.orch.io/v1beta1 ValidatingAdmissionPolicy is deprecated in v1.31+, unavailable in v1.34+',
    ]);
  });
});

describe('a ValidatingAdmissionPolicyBinding', () => {
  const spec = { policyName: 'p', validationActions: ['Deny'] };
  test.each<[string, object, string[]]>([
    [
      'an empty spec',
      {},
      [
        'spec.policyName: Required value',
        'spec.validationActions: Required value: at least one validation action is required',
      ],
    ],
    ['an invalid policyName', { ...spec, policyName: 'A_B' }, [`spec.policyName: Invalid value: "A_B": ${SUBDOMAIN}`]],
    [
      'invalid validationActions',
      { ...spec, validationActions: ['Deny', 'Warn', 'Explode', 'Warn'] },
      [
        'spec.validationActions[2]: Unsupported value: "Explode": supported values: "Audit", "Deny", "Warn"',
        'spec.validationActions[3]: Duplicate value: "Warn"',
        'spec.validationActions: Invalid value: []admissionregistration.ValidationAction{"Deny", "Warn", "Explode", "Warn"}: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    [
      'an empty paramRef',
      { ...spec, paramRef: {} },
      [
        'spec.paramRef: Required value: one of name or selector must be specified',
        'spec.paramRef.parameterNotFoundAction: Required value',
      ],
    ],
    [
      'a paramRef with both name and selector',
      { ...spec, paramRef: { name: 'a/b', selector: {}, parameterNotFoundAction: 'Maybe' } },
      [
        `spec.paramRef.name: Invalid value: "a/b": may not contain '/'`,
        'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.parameterNotFoundAction: Unsupported value: "Maybe": supported values: "Deny", "Allow"',
      ],
    ],
    [
      'an invalid match policy or selector',
      { ...spec, matchResources: { matchPolicy: 'x' } },
      ['spec.matchResources.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"'],
    ],
  ])('rejects a ValidatingAdmissionPolicyBinding with %s', async (_, invalid, causes) => {
    expect(await rejectionCauses(create(ValidatingAdmissionPolicyBinding, invalid))).toEqual(causes);
  });

  test('matches everything by default', async () => {
    const created = await create(ValidatingAdmissionPolicyBinding, { ...spec, matchResources: {} });
    expect(created['spec']).toMatchObject({
      matchResources: { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' },
    });
  });
});

describe('a MutatingAdmissionPolicy', () => {
  const mutation = { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } };
  const spec = { matchConstraints, mutations: [mutation], reinvocationPolicy: 'Never' };
  const S = 'spec.mutations[0]';
  test.each<[string, object, string[]]>([
    [
      'no mutations',
      { ...spec, mutations: [] },
      ['spec.mutations: Required value: mutations must contain at least one item'],
    ],
    [
      'no reinvocation policy',
      { matchConstraints, mutations: [mutation] },
      ['spec.reinvocationPolicy: Required value'],
    ],
    [
      'an invalid reinvocation policy',
      { ...spec, reinvocationPolicy: 'Twice' },
      ['spec.reinvocationPolicy: Unsupported value: "Twice": supported values: "IfNeeded", "Never"'],
    ],
    ['no patch type', { ...spec, mutations: [{}] }, [`${S}.patchType: Required value`]],
    [
      'an invalid patch type',
      { ...spec, mutations: [{ patchType: 'X' }] },
      [`${S}.patchType: Unsupported value: "X": supported values: "ApplyConfiguration", "JSONPatch"`],
    ],
    [
      'the patch of another type',
      { ...spec, mutations: [{ patchType: 'JSONPatch', applyConfiguration: {} }] },
      [
        `${S}.jsonPatch: Required value: must be specified when patchType is JSONPatch`,
        `${S}.applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch`,
      ],
    ],
    [
      'an empty patch',
      { ...spec, mutations: [{ ...mutation, applyConfiguration: {} }] },
      [`${S}.applyConfiguration.expression: Required value`],
    ],
  ])('rejects a MutatingAdmissionPolicy with %s', async (_, invalid, causes) => {
    expect(await rejectionCauses(create(MutatingAdmissionPolicy, invalid))).toEqual(causes);
  });

  test('has bindings whose parameterNotFoundAction defaults to Deny', async () => {
    const created = await create(MutatingAdmissionPolicyBinding, { policyName: 'p', paramRef: { name: 'x' } });
    expect(created['spec']).toMatchObject({ paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } });
  });
});

test('prints table cells of policies and bindings', () => {
  const metadata = { name: 'a', creationTimestamp: '2030-01-01T00:00:00Z' };
  const cells = (kind: Kind, spec: object) =>
    kind.columns?.map(({ cell }) =>
      cell({ metadata, spec } as unknown as ApiObject, { nowMs: Date.UTC(2030, 0, 1, 0, 1, 0), dialect: orchDialect }),
    );
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  expect(cells(ValidatingAdmissionPolicy, { validations: [{}, {}], paramKind })).toEqual([
    'a',
    2,
    'v1/ConfigMap',
    '60s',
  ]);
  expect(cells(ValidatingAdmissionPolicy, {})).toEqual(['a', 0, '<unset>', '60s']);
  expect(cells(MutatingAdmissionPolicy, { mutations: [{}], paramKind })).toEqual(['a', 1, 'v1/ConfigMap', '60s']);
  for (const kind of [ValidatingAdmissionPolicyBinding, MutatingAdmissionPolicyBinding] as Kind[]) {
    expect(cells(kind, { policyName: 'p' })).toEqual(['a', 'p', '<unset>', '60s']);
    expect(cells(kind, { policyName: 'p', paramRef: { name: 'x', namespace: 'n' } })).toEqual(['a', 'p', 'n/x', '60s']);
    expect(cells(kind, { policyName: 'p', paramRef: { name: 'x' } })?.[2]).toBe('*/x');
    const matchExpressions = [{ key: 'x', operator: 'In', values: ['a', 'b'] }];
    const selector = { matchLabels: { c: 'd', a: 'b' }, matchExpressions };
    expect(cells(kind, { policyName: 'p', paramRef: { selector } })?.[2]).toBe(
      '&LabelSelector{MatchLabels:map[string]string{a: b,c: d,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:x,Operator:In,Values:[a b],},},}',
    );
  }
});
