/**
 * Which rule of an audit policy decides: compared with the reference server (`policy-answers.json`) and with a simple
 * rule-by-rule evaluation.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AUDIT_LEVELS, AUDIT_STAGES } from '../../../src/audit/event.js';
import { type AuditPolicy, type AuditPolicyRule, evaluatorOf } from '../../../src/audit/policy.js';
import type { AccessAttributes } from '../../../src/protocol/access.js';
import type { User } from '../../../src/protocol/request.js';
import fc from '../../property/seeded.js';

interface RecordedRequest {
  readonly r?: 1;
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  readonly sub?: string;
  readonly ns?: string;
  readonly name?: string;
  readonly path?: string;
  readonly user: string | null;
  readonly groups: readonly string[];
}

const recorded = JSON.parse(readFileSync(new URL('policy-answers.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly {
    readonly policy: AuditPolicy;
    readonly requests: readonly RecordedRequest[];
    readonly decisions: readonly (readonly [string, readonly string[], boolean])[];
  }[];
  readonly bad: readonly { readonly policy: AuditPolicy; readonly problems: readonly string[] }[];
};

function attributesOf(request: RecordedRequest): AccessAttributes {
  const { verb, group = '', resource = '', sub = '', ns = '', name = '', path = '' } = request;
  if (request.r === undefined) return { type: 'path', verb, path };
  return { type: 'resource', verb, group, version: 'v1', resource, subresource: sub, namespace: ns, name };
}

describe('audit policy decisions of the reference server', () => {
  test.each(recorded.cases.map((each, index) => [index, each] as const))(
    'evaluates policy %i like the reference server',
    (_, { policy, requests, decisions }) => {
      const evaluate = evaluatorOf(policy);
      const actual = requests.map((one) => {
        const user = one.user === null ? undefined : { user: one.user, groups: one.groups };
        const { level, omitStages, omitManagedFields } = evaluate(attributesOf(one), user);
        return [level, [...omitStages].sort(), omitManagedFields];
      });
      expect(actual).toEqual(decisions);
    },
  );
});

describe('invalid audit policies', () => {
  test.each(recorded.bad.map(({ policy, problems }) => [JSON.stringify(policy), policy, problems] as const))(
    'rejects the policy %s like the reference server',
    (_, policy, problems) => {
      // The reference server does not say which of the resources it means.
      const reported = messageOf(() => evaluatorOf(policy)).replaceAll('.resources[0].', '.resources.');
      expect(reported).toBe(`orchplane: audit policy: ${problems.join('; ')}`);
    },
  );

  test.each([
    [undefined, 'a policy must be an object with rules'],
    [[], 'a policy must be an object with rules'],
    [{}, 'rules: Required value: a policy without rules records nothing'],
    [{ rules: [] }, 'rules: Required value: a policy without rules records nothing'],
    [{ rules: {} }, 'rules: Invalid value: {}: must be a list'],
    [{ rules: [null] }, 'rules[0]: Invalid value: null: must be an object'],
    [{ rules: [{ level: 'None' }], kind: 'Event' }, 'kind: Unsupported value: "Event": supported values: "Policy"'],
    [
      { rules: [{ level: 'None' }], apiVersion: 'audit.k8s.io/v1beta1' },
      'apiVersion: Unsupported value: "audit.k8s.io/v1beta1": supported values: "audit.orch.io/v1", "audit.k8s.io/v1"',
    ],
    [{ rules: [{ level: 'None', users: 'bob' }] }, 'rules[0].users: Invalid value: "bob": must be a list of strings'],
    [
      { rules: [{ level: 'None', omitManagedFields: 1 }] },
      'rules[0].omitManagedFields: Invalid value: 1: must be true or false',
    ],
    [
      { rules: [{ level: 'None', omitStages: 'Panic' }] },
      'rules[0].omitStages: Invalid value: "Panic": must be a list',
    ],
    [{ rules: [{ level: 'None', resources: [7] }] }, 'rules[0].resources[0]: Invalid value: 7: must be an object'],
    [
      { rules: [{ level: 'None', resources: [{ group: 7 }] }] },
      'rules[0].resources[0].group: Invalid value: 7: must be a string',
    ],
  ])('rejects the malformed policy %j', (policy, problem) => {
    expect(messageOf(() => evaluatorOf(policy as AuditPolicy))).toBe(`orchplane: audit policy: ${problem}`);
  });

  test('names a misspelt field and the valid fields', () => {
    const policy = { rules: [{ level: 'Metadata', omitStage: ['Panic'] }] } as unknown as AuditPolicy;
    expect(messageOf(() => evaluatorOf(policy))).toMatch(/rules\[0\]\.omitStage: .*unknown field; there are level, /);
  });

  test.each(['audit.orch.io/v1', 'audit.k8s.io/v1'])('accepts the apiVersion %s', (apiVersion) => {
    const evaluate = evaluatorOf({ apiVersion, kind: 'Policy', rules: [{ level: 'Request' }] });
    expect(evaluate({ type: 'path', verb: 'get', path: '/' }, undefined).level).toBe('Request');
  });
});

describe('rule matching', () => {
  const text = (...texts: string[]) => fc.constantFrom(...texts);
  const some = (arbitrary: fc.Arbitrary<string>) =>
    fc.option(fc.array(arbitrary, { maxLength: 2 }), { nil: undefined });
  const shared = {
    level: fc.constantFrom(...AUDIT_LEVELS),
    users: some(text('alice', 'bob')),
    userGroups: some(text('dev', 'ops')),
    verbs: some(text('get', 'list', 'delete')),
    omitStages: some(fc.constantFrom<string>(...AUDIT_STAGES)),
  };
  const resources = fc.array(
    fc
      .record({
        group: text('', 'apps'),
        resources: some(text('pods', 'pods/log', 'pods/*', '*/log', '*', 'nodes')),
        resourceNames: some(text('a', 'b')),
      })
      .map(({ group, resources: named, resourceNames }) => ({
        group,
        ...(named === undefined ? {} : { resources: named }),
        ...(named?.length && resourceNames ? { resourceNames } : {}),
      })),
    { maxLength: 2 },
  );
  const rule = fc.oneof(
    fc.record({ ...shared, resources, namespaces: some(text('', 'default')) }),
    fc.record({ ...shared, nonResourceURLs: some(text('/healthz', '/healthz*', '*', '/api/*')) }),
  ) as unknown as fc.Arbitrary<AuditPolicyRule>;
  const attributes = fc.oneof(
    fc.record({
      type: fc.constant('resource' as const),
      verb: text('get', 'list', 'delete'),
      group: text('', 'apps'),
      version: fc.constant('v1'),
      resource: text('pods', 'nodes'),
      subresource: text('', 'log', 'status'),
      namespace: text('', 'default'),
      name: text('', 'a', 'b'),
    }),
    fc.record({
      type: fc.constant('path' as const),
      verb: text('get'),
      path: text('/healthz', '/healthz/x', '/api/v1', '/'),
    }),
  );
  const user = fc.option(fc.record({ user: text('alice', 'bob'), groups: fc.subarray(['dev', 'ops']) }), {
    nil: undefined,
  });

  test('evaluates compiled rules like a rule-by-rule evaluation', () => {
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), attributes, user, (rules, checked, requester) => {
        const plain = rules.map(withoutUndefined);
        const expected = plain.find((each) => matchesUncompiled(each, checked, requester));
        const decided = evaluatorOf({ rules: plain })(checked, requester);
        expect(decided.level).toBe(expected?.level ?? 'None');
        expect([...decided.omitStages].sort()).toEqual([...new Set(expected?.omitStages ?? [])].sort());
      }),
      { numRuns: 500 },
    );
  });
});

function withoutUndefined(rule: AuditPolicyRule): AuditPolicyRule {
  return JSON.parse(JSON.stringify(rule)) as AuditPolicyRule;
}

/** Evaluates every condition without compilation. */
function matchesUncompiled(rule: AuditPolicyRule, attributes: AccessAttributes, requester: User | undefined): boolean {
  const { users = [], userGroups = [], verbs = [], namespaces = [], resources = [], nonResourceURLs = [] } = rule;
  const isResourceRule = namespaces.length > 0 || resources.length > 0;
  const conditions = [
    users.length === 0 || users.some((name) => name === requester?.user),
    userGroups.length === 0 || userGroups.some((group) => requester?.groups?.includes(group)),
    verbs.length === 0 || verbs.some((verb) => verb === attributes.verb),
    !isResourceRule || attributes.type === 'resource',
    namespaces.length === 0 ||
      (attributes.type === 'resource' && namespaces.some((name) => name === attributes.namespace)),
    resources.length === 0 ||
      resources.some(({ group = '', resources: patterns = [], resourceNames = [] }) => {
        if (attributes.type !== 'resource' || group !== attributes.group) return false;
        if (patterns.length === 0) return true;
        if (resourceNames.length > 0 && !resourceNames.includes(attributes.name)) return false;
        const whole =
          attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
        return patterns.some((pattern) => {
          if (pattern === '*' || pattern === whole) return true;
          if (pattern.startsWith('*/'))
            return attributes.subresource !== '' && pattern.slice(2) === attributes.subresource;
          return pattern.endsWith('/*') && pattern.slice(0, -2) === attributes.resource;
        });
      }),
    isResourceRule ||
      nonResourceURLs.length === 0 ||
      nonResourceURLs.some((pattern) => {
        if (attributes.type !== 'path') return false;
        return pattern.endsWith('*') ? attributes.path.startsWith(pattern.slice(0, -1)) : pattern === attributes.path;
      }),
  ];
  return conditions.every((holds) => holds);
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as Error).message;
  }
  return 'nothing was thrown';
}
