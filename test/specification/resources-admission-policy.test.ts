/** docs/specification.md, R23: ValidatingAdmissionPolicy and its binding. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService, pathOf } from './service.js';

const onMaps = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
};
const policy = (spec: Json) => ({ spec: { matchConstraints: onMaps, validations: [{ expression: 'true' }], ...spec } });
const create = (spec: Json) => openService().create('ValidatingAdmissionPolicy', policy(spec));
const validate = (validation: Json) => create({ validations: [{ expression: 'true', ...validation }] });

/** A service with a policy that is bound. */
async function bound(spec: Json, binding: Json = {}) {
  const service = openService();
  const made = await service.create('ValidatingAdmissionPolicy', policy(spec));
  expect(made.code).toBe(201);
  const bindingMade = await service.create('ValidatingAdmissionPolicyBinding', {
    spec: { policyName: 'a', validationActions: ['Deny'], ...binding },
  });
  expect(bindingMade.code).toBe(201);
  return service;
}
const bind = (...validations: Json[]) => bound({ validations });

/** Whether a ConfigMap with a label is accepted by an expression. */
async function accepts(expression: string, spec: Json = {}): Promise<boolean> {
  const service = await bound({ validations: [{ expression }], ...spec });
  const metadata = { name: 'm', labels: { l: '1' } };
  return (await service.create('ConfigMap', { metadata, data: { k: 'v' } })).code === 201;
}

const AT = 'spec.validations[0]';

describe('ValidatingAdmissionPolicy', () => {
  test('R23.1: a validation has a required expression and the documented fields', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'ValidatingAdmissionPolicy', 'Validation')).toEqual({
      expression: 'string!',
      message: 'string',
      messageExpression: 'string',
      reason: 'string',
    });
    expect((await validate({ expression: undefined })).causes).toEqual([`${AT}.expression: Required`]);
    expect((await validate({ expression: '1 +' })).causes).toEqual([`${AT}.expression: Invalid`]);
  });

  test('R23.2: a message has one line, and is required for an expression of several lines', async () => {
    expect((await validate({ message: 'one\ntwo' })).causes).toEqual([`${AT}.message: Invalid`]);
    expect((await validate({ expression: 'true &&\ntrue' })).causes).toEqual([`${AT}.message: Required`]);
    expect((await validate({ expression: 'true &&\ntrue', message: 'm' })).code).toBe(201);
  });

  test.each([
    ["'computed ' + string(object.metadata.name)", 'computed m'],
    ["''", 'given'],
    ["'  '", 'given'],
    ["'a\\nb'", 'given'],
    ['string(object.data.absent)', 'given'],
  ])('R23.3: the messageExpression %s yields the message %s', async (messageExpression, message) => {
    const service = await bind({ expression: 'false', message: 'given', messageExpression });
    const { body } = await service.create('ConfigMap', { metadata: { name: 'm' } });
    expect(body.message).toContain(message);
    expect((await validate({ messageExpression: '1' })).causes).toEqual([`${AT}.messageExpression: Invalid`]);
  });

  test.each([
    ['Unauthorized', 401],
    ['Forbidden', 403],
    ['Invalid', 422],
    ['RequestEntityTooLarge', 413],
    [undefined, 422],
  ])('R23.4: a violation with the reason %s is answered with %i', async (reason, code) => {
    const service = await bind({ expression: 'false', reason }, { expression: 'false', reason: 'Forbidden' });
    const reply = await service.create('ConfigMap', {});
    expect(reply).toMatchObject({ code, body: { reason: reason ?? 'Invalid' } });
  });

  test('R23.4: another reason is rejected', async () => {
    expect((await validate({ reason: 'NotFound' })).causes).toEqual([`${AT}.reason: NotSupported`]);
  });

  test('R23.5: object is null for a DELETE, oldObject for a CREATE', async () => {
    const service = await bind({ expression: 'request.operation == "CREATE" ? oldObject == null : object == null' });
    expect((await service.create('ConfigMap', {})).code).toBe(201);
    expect((await service.merge('ConfigMap', 'a', { data: { k: 'v' } })).code).toBe(422);
    expect((await service.remove('ConfigMap', 'a')).code).toBe(200);
  });

  test('R23.6: an expression reads request, namespaceObject, variables and authorizer', async () => {
    expect(await accepts('request.resource.resource == "configmaps"')).toBe(true);
    expect(await accepts('namespaceObject.metadata.name == "default"')).toBe(true);
    expect(await accepts('variables.k == "v"', { variables: [{ name: 'k', expression: 'object.data.k' }] })).toBe(true);
    expect(await accepts('authorizer.group("").resource("pods").check("get").allowed()')).toBe(true);
    expect(await accepts('authorizer.requestResource.check("create").allowed()')).toBe(true);
    const nodes = { resourceRules: [{ ...onMaps.resourceRules[0], resources: ['namespaces'] }] };
    const service = await bound({ matchConstraints: nodes, validations: [{ expression: 'namespaceObject == null' }] });
    expect((await service.create('Namespace', { metadata: { name: 'n' } })).code).toBe(201);
  });

  test('R23.7: params are available only with a param kind', async () => {
    expect((await validate({ expression: 'params == null' })).code).toBe(422);
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    expect((await create({ paramKind, validations: [{ expression: 'params == null' }] })).code).toBe(201);
  });

  test('R23.8: a messageExpression has no authorizer', async () => {
    expect((await validate({ messageExpression: 'string(authorizer != null)' })).code).toBe(422);
    expect((await validate({ messageExpression: 'string(object.metadata.name)' })).code).toBe(201);
  });

  test('R23.9: type, name and generateName of an object are readable', async () => {
    expect(await accepts('object.apiVersion == "v1" && object.kind == "ConfigMap"')).toBe(true);
    expect(await accepts('object.metadata.name == "m" && !has(object.metadata.generateName)')).toBe(true);
  });

  test('R23.11: variables have unique names that are identifiers, and expressions', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicySpec')).toMatchObject({
      variables: '[]Variable map name',
    });
    expect(await fieldsOf(service, 'ValidatingAdmissionPolicy', 'Variable')).toEqual({
      name: 'string!',
      expression: 'string!',
    });
    const variable = { name: 'x', expression: '1' };
    expect((await create({ variables: [variable, variable] })).causes).toEqual(['spec.variables[1].name: Duplicate']);
    expect((await create({ variables: [{ expression: '1' }] })).causes).toEqual(['spec.variables[0].name: Required']);
    expect((await create({ variables: [{ name: 'x' }] })).causes).toEqual(['spec.variables[0].expression: Required']);
    expect((await create({ variables: [{ ...variable, name: '1x' }] })).causes).toEqual([
      'spec.variables[0].name: Invalid',
    ]);
  });

  test('R23.12: a variable refers to earlier ones only, and conditions to none', async () => {
    const first = { name: 'a', expression: '1' };
    const second = { name: 'b', expression: 'variables.a + 1' };
    expect((await create({ variables: [first, second] })).code).toBe(201);
    expect((await create({ variables: [second, first] })).code).toBe(422);
    const matchConditions = [{ name: 'c', expression: 'variables.a == 1' }];
    expect((await create({ variables: [first], matchConditions })).code).toBe(422);
  });

  test('R23.13: the status has conditions and warnings whose fields are required', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'ValidatingAdmissionPolicy', type);
    expect(await fields('ValidatingAdmissionPolicyStatus')).toEqual({
      conditions: '[]Condition map type',
      observedGeneration: 'int64',
      typeChecking: 'TypeChecking',
    });
    expect(await fields('Condition')).toEqual({
      lastTransitionTime: 'Time!',
      message: 'string!',
      reason: 'string!',
      status: 'string!',
      type: 'string!',
      observedGeneration: 'int64',
    });
    expect(await fields('TypeChecking')).toEqual({ expressionWarnings: '[]ExpressionWarning atomic' });
    expect(await fields('ExpressionWarning')).toEqual({ fieldRef: 'string!', warning: 'string!' });
    await service.create('ValidatingAdmissionPolicy', policy({}));
    const put = (status: Json) => service.merge('ValidatingAdmissionPolicy', 'a/status', { status });
    const condition = {
      type: 'T',
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: '2024-01-02T03:04:05Z',
    };
    expect((await put({ conditions: [condition] })).code).toBe(200);
    for (const field of ['type', 'status', 'reason', 'lastTransitionTime', 'message']) {
      const { code } = await put({ conditions: [{ ...condition, [field]: undefined }] });
      expect([field, code]).toEqual([field, 422]);
    }
    expect((await put({ conditions: [{ ...condition, status: 'Maybe' }] })).code).toBe(422);
    const warnings = (expressionWarning: Json) => put({ typeChecking: { expressionWarnings: [expressionWarning] } });
    expect((await warnings({ fieldRef: 'spec.validations[0].expression', warning: 'w' })).code).toBe(200);
    expect((await warnings({ warning: 'w' })).code).toBe(422);
    expect((await warnings({ fieldRef: 'spec.validations[0].expression' })).code).toBe(422);
  });
});

describe('ValidatingAdmissionPolicyBinding', () => {
  test('R23.14: matchResources has the documented fields', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'ValidatingAdmissionPolicyBinding', type);
    expect(await fields('MatchResources')).toMatchObject({
      excludeResourceRules: '[]NamedRuleWithOperations atomic',
      matchPolicy: 'string',
    });
    expect(await fields('NamedRuleWithOperations')).toEqual({
      apiGroups: '[]string atomic',
      apiVersions: '[]string atomic',
      operations: '[]string atomic',
      resourceNames: '[]string atomic',
      resources: '[]string atomic',
      scope: 'string',
    });
    const binding = (matchResources: Json) =>
      openService().create('ValidatingAdmissionPolicyBinding', {
        spec: { policyName: 'a', validationActions: ['Deny'], matchResources },
      });
    for (const matchPolicy of ['Exact', 'Equivalent']) expect((await binding({ matchPolicy })).code).toBe(201);
    expect((await binding({ matchPolicy: 'Near' })).code).toBe(422);
    const rule = { ...onMaps.resourceRules[0] };
    for (const scope of ['Cluster', 'Namespaced', '*']) {
      expect((await binding({ excludeResourceRules: [{ ...rule, scope }] })).code).toBe(201);
    }
    expect((await binding({ excludeResourceRules: [{ ...rule, scope: 'World' }] })).code).toBe(422);
    expect((await binding({ excludeResourceRules: [{ ...rule, operations: ['READ'] }] })).code).toBe(422);
  });

  test('R23.15: a binding restricts the policy, and excluding wins over including', async () => {
    const denied = { validations: [{ expression: 'false' }] };
    const codeOf = async (matchResources: Json) =>
      (await (await bound(denied, { matchResources })).create('ConfigMap', {})).code;
    const [rule] = onMaps.resourceRules;
    expect(await codeOf(undefined)).toBe(422);
    expect(await codeOf(onMaps)).toBe(422);
    expect(await codeOf({ resourceRules: [{ ...rule, resources: ['secrets'] }] })).toBe(201);
    expect(await codeOf({ ...onMaps, excludeResourceRules: [rule] })).toBe(201);
  });

  test('R23.16: a policy is evaluated once, or once for each selected parameter', async () => {
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const validations = [{ expression: 'object.data.k != params.data.k' }];
    const paramRef = {
      selector: { matchLabels: { param: 'yes' } },
      namespace: 'default',
      parameterNotFoundAction: 'Allow',
    };
    const service = await bound({ paramKind, validations }, { paramRef });
    const map = (name: string, k: string, labels: Json = {}) =>
      service.send('POST', pathOf('ConfigMap'), { metadata: { name, labels }, data: { k } });
    for (const k of ['1', '2']) expect((await map(`p${k}`, k, { param: 'yes' })).code).toBe(201);
    expect((await map('x', '1')).code).toBe(422);
    expect((await map('y', '2')).code).toBe(422);
    expect((await map('z', '3')).code).toBe(201);
  });
});
