/**
 * Evaluation of policies, compared with recordings of the reference server's validator: single expressions with every
 * variable, and random policies.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ExpressionInput } from '../../../../src/admission/cel/input.js';
import { type Decision, evaluatePolicy } from '../../../../src/admission/policy/evaluate-policy.js';
import { compilePolicy, type PolicySpec } from '../../../../src/admission/policy/policies.js';
import type { ApiObject } from '../../../../src/meta/object.js';
import type { AccessAttributes, ClusterAuthorizer } from '../../../../src/protocol/access.js';
import type { User } from '../../../../src/protocol/request.js';

type Names = Readonly<Record<'Group' | 'Version', string>>;

interface Request {
  readonly object?: Readonly<Record<string, unknown>>;
  readonly oldObject?: Readonly<Record<string, unknown>>;
  readonly namespaceObject?: ApiObject;
  readonly request: {
    readonly operation: string;
    readonly kind: Names & { readonly Kind: string };
    readonly resource: Names & { readonly Resource: string };
    readonly matched?: Names & { readonly Resource: string };
    readonly subresource?: string;
    readonly name: string;
    readonly namespace?: string;
    readonly dryRun?: boolean;
    readonly user: Omit<User, 'user'> & { readonly name: string };
    readonly options?: object;
  };
}

interface Given {
  readonly request: number;
  readonly params?: number;
  readonly allow?: number;
}

/** The action, evaluation, message and reason in the reference server's terms. */
type Outcome = readonly [string, string, string, string];

interface Reference {
  readonly requests: readonly Request[];
  readonly params: readonly Readonly<Record<string, unknown>>[];
  readonly allow: readonly (readonly string[])[];
  readonly common: PolicySpec;
  readonly single: readonly (Given & { readonly expression: string; readonly decision: Outcome })[];
  readonly policies: readonly (Given & {
    readonly spec: PolicySpec;
    readonly decisions: readonly Outcome[];
    readonly annotations: readonly (readonly [key: string, value: string, error: string])[];
  })[];
}

const reference = JSON.parse(readFileSync(new URL('./evaluations.json', import.meta.url), 'utf8')) as Reference;

/**
 * Allows the listed requests, fails for the listed failures and has no opinion otherwise; the recording used the same
 * authorizer.
 */
function accessFor(allowed: readonly string[]): ClusterAuthorizer {
  const keyOf = ({ user }: User, attributes: AccessAttributes): string => {
    const parts =
      attributes.type === 'path'
        ? [attributes.path]
        : [attributes.group, attributes.resource, attributes.subresource, attributes.namespace, attributes.name];
    return [user, attributes.verb, ...parts].join('|');
  };
  return {
    decide(user, attributes) {
      const key = keyOf(user, attributes);
      if (allowed.includes(key)) return { allowed: true, reason: `allowed ${key}` };
      if (allowed.includes(`error:${key}`)) return { allowed: false, reason: '', error: `broken ${key}` };
      return { allowed: false, reason: `no opinion on ${key}` };
    },
    rules: () => ({ resourceRules: [], nonResourceRules: [] }),
  };
}

function evaluate(spec: PolicySpec, given: Given) {
  const { object, oldObject, namespaceObject, request } = reference.requests[given.request] as Request;
  const { name: user, ...rest } = request.user;
  const kind = { group: request.kind.Group, version: request.kind.Version, kind: request.kind.Kind };
  const resourceOf = ({ Group, Version, Resource }: Names & { readonly Resource: string }) => ({
    group: Group,
    version: Version,
    resource: Resource,
  });
  const input = {
    request: {
      operation: request.operation,
      served: { gvr: resourceOf(request.resource), gvk: kind },
      objectKind: kind,
      subresource: request.subresource ?? '',
      namespace: request.namespace ?? '',
      sentName: request.name,
      dryRun: request.dryRun ?? false,
      user: { user, ...rest },
      options: request.options ?? {},
    },
    kind,
    resource: resourceOf(request.matched ?? request.resource),
    object,
    oldObject,
    params: given.params === undefined ? undefined : reference.params[given.params],
    view: { access: accessFor(given.allow === undefined ? [] : (reference.allow[given.allow] ?? [])) },
  };
  return evaluatePolicy(compilePolicy(spec), input as unknown as ExpressionInput, namespaceObject);
}

function outcomeOf(decision: Decision): Outcome {
  if (decision.verdict === 'admit') {
    return ['admit', decision.error === undefined ? 'admit' : 'error', decision.error ?? '', ''];
  }
  return ['deny', decision.error === true ? 'error' : 'deny', decision.message, decision.reason ?? ''];
}

describe('a policy expression', () => {
  test.each(reference.single.map((one, index) => [index, one.expression, one] as const))(
    'evaluates as in the reference server: %i: %s',
    (_index, expression, one) => {
      const spec = { ...reference.common, validations: [{ expression }] } as PolicySpec;
      expect(evaluate(spec, one).decisions.map(outcomeOf)).toEqual([one.decision]);
    },
  );
});

test.each(reference.policies.map((one, index) => [index, one] as const))(
  'evaluates a whole policy as the reference server does: policy %i',
  (_index, one) => {
    const { decisions, annotations } = evaluate(one.spec, one);
    expect(decisions.map(outcomeOf)).toEqual(one.decisions);
    const noted = annotations.map((note) => [note.key, note.error === undefined ? note.value : '', note.error ?? '']);
    expect(noted).toEqual(one.annotations);
  },
);
