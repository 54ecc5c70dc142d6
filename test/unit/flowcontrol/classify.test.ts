/** Matching of requests with FlowSchemas: compared with a slow evaluator and with the reference implementation. */
import { describe, expect, test } from 'vitest';
import { compileFlow, type FlowSource } from '../../../src/flowcontrol/classify.js';
import { byPrecedence } from '../../../src/kinds/flowcontrol/v1/resources.js';
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  ResourcePolicyRule,
  Subject,
} from '../../../src/kinds/generated/flowcontrol-v1.js';
import type { AccessAttributes } from '../../../src/protocol/access.js';
import type { User } from '../../../src/protocol/request.js';
import fc from '../../property/seeded.js';
import { referenceResults } from './reference-results.js';

type Rules = NonNullable<FlowSchemaSpec['rules']>;

const flow = (rules: Rules, name = 's', matchingPrecedence = 1): FlowSource => ({
  metadata: { name, uid: name },
  spec: { priorityLevelConfiguration: { name: 'p' }, matchingPrecedence, rules },
});

describe('FlowSchema matching', () => {
  test('matches requests to FlowSchemas like the reference implementation', () => {
    const flows = referenceResults.match.rules.map((rules) => compileFlow(flow(rules as Rules)));
    for (const [user, groups, [type, verb = '', ...parts], expected] of referenceResults.match.digests) {
      const [group = '', resource = '', subresource = '', namespace = ''] = parts;
      const attributes: AccessAttributes =
        type === 'path'
          ? { type, verb, path: group }
          : { type: 'resource', verb, group, version: 'v1', resource, subresource, namespace, name: '' };
      const found = flows.map((one) => (one.testFor({ user, groups })?.(attributes) ? '1' : '0')).join('');
      expect({ user, groups, attributes, found }).toEqual({ user, groups, attributes, found: expected });
    }
  });

  test('matches requests to compiled rules like a rule-by-rule evaluation', () => {
    let matches = 0;
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 3 }), user, attributes, (rules, requester, requestAttributes) => {
        const found = compileFlow(flow(rules)).testFor(requester)?.(requestAttributes) ?? false;
        if (found) matches++;
        expect(found).toBe(matchesUncompiled(rules, requester, requestAttributes));
      }),
      { numRuns: 3000 },
    );
    // Both results occur often.
    expect(matches).toBeGreaterThan(300);
    expect(matches).toBeLessThan(2700);
  });
});

test('orders schemas by matching precedence, then by name', () => {
  const flows = [flow([], 'b', 5), flow([], 'c', 4), flow([], 'a', 5), flow([], 'd', 10)].sort(byPrecedence);
  expect(flows.map(({ metadata }) => metadata.name)).toEqual(['c', 'a', 'b', 'd']);
});

/** The same without compilation: visits every list and wildcard. */
function matchesUncompiled(rules: Rules, requester: User, requestAttributes: AccessAttributes): boolean {
  for (const { subjects, resourceRules = [], nonResourceRules = [] } of rules) {
    if (!subjects.some((subject) => isSubject(subject, requester))) continue;
    if (requestAttributes.type === 'resource') {
      for (const one of resourceRules) {
        const inNamespace =
          requestAttributes.namespace === ''
            ? one.clusterScope === true
            : has(one.namespaces, requestAttributes.namespace);
        const resource =
          requestAttributes.subresource === ''
            ? requestAttributes.resource
            : `${requestAttributes.resource}/${requestAttributes.subresource}`;
        if (
          has(one.verbs, requestAttributes.verb) &&
          has(one.apiGroups, requestAttributes.group) &&
          has(one.resources, resource) &&
          inNamespace
        )
          return true;
      }
    } else if (
      nonResourceRules.some(
        (one) => has(one.verbs, requestAttributes.verb) && one.nonResourceURLs.some(covers(requestAttributes.path)),
      )
    ) {
      return true;
    }
  }
  return false;
}

function has(list: readonly string[] | null, value: string): boolean {
  return list !== null && (list.join() === '*' || list.includes(value));
}

function covers(path: string): (url: string) => boolean {
  return (url) => {
    if (url === '*' || url === path) return true;
    const folder = url.endsWith('*') ? url.slice(0, -1) : url;
    return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
  };
}

function isSubject(subject: Subject, { user: name, groups = [] }: User): boolean {
  if (subject.kind === 'User') return subject.user?.name === '*' || subject.user?.name === name;
  if (subject.kind === 'Group') return subject.group?.name === '*' || groups.includes(subject.group?.name ?? '');
  const [system, type, namespace, ...rest] = name.split(':');
  if (system !== 'system' || type !== 'serviceaccount' || rest.length === 0) return false;
  const account = subject.serviceAccount;
  return account?.namespace === namespace && (account?.name === '*' || account?.name === rest.join(':'));
}

const name = fc.constantFrom('a', 'b', '*');
const subject: fc.Arbitrary<Subject> = fc.oneof(
  fc.record({
    kind: fc.constant('User' as const),
    user: fc.record({ name: fc.constantFrom('a', 'system:serviceaccount:n:a', '*') }),
  }),
  fc.record({ kind: fc.constant('Group' as const), group: fc.record({ name }) }),
  fc.record({
    kind: fc.constant('ServiceAccount' as const),
    serviceAccount: fc.record({ namespace: fc.constantFrom('n', 'm'), name }),
  }),
);
const list = (...values: string[]): fc.Arbitrary<string[]> =>
  fc.oneof(fc.constant<string[]>(['*']), fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }));
const resourceRule: fc.Arbitrary<ResourcePolicyRule> = fc.record({
  verbs: list('get', 'list'),
  apiGroups: list('', 'apps'),
  resources: list('pods', 'pods/status'),
  clusterScope: fc.boolean(),
  namespaces: fc.oneof(list('n', 'm'), fc.constant(null)),
});
const pathRule: fc.Arbitrary<NonResourcePolicyRule> = fc.record({
  verbs: list('get', 'post'),
  nonResourceURLs: list('/', '/x', '/x/*', '/y/'),
});
const rule = fc.record({
  subjects: fc.array(subject, { minLength: 1, maxLength: 2 }),
  resourceRules: fc.array(resourceRule, { maxLength: 2 }),
  nonResourceRules: fc.array(pathRule, { maxLength: 2 }),
});
const user: fc.Arbitrary<User> = fc.record({
  user: fc.constantFrom(
    'a',
    'c',
    'system:serviceaccount:n:a',
    'system:serviceaccount:m:b',
    'system:serviceaccount:nn:a',
  ),
  groups: fc.subarray(['a', 'b', 'c']),
});
const attributes: fc.Arbitrary<AccessAttributes> = fc.oneof(
  fc.record({
    type: fc.constant('resource' as const),
    verb: fc.constantFrom('get', 'list', 'watch'),
    group: fc.constantFrom('', 'apps'),
    version: fc.constant('v1'),
    resource: fc.constant('pods'),
    subresource: fc.constantFrom('', 'status'),
    namespace: fc.constantFrom('', 'n', 'o'),
    name: fc.constant(''),
  }),
  fc.record({
    type: fc.constant('path' as const),
    verb: fc.constantFrom('get', 'post'),
    path: fc.constantFrom('/', '/x', '/x/', '/x/z', '/xz', '/y', '/y/z'),
  }),
);
