/**
 * Which requests match webhooks, policies and bindings. Most cases are random; the expected results are recordings of
 * the reference server's matcher.
 */
import { readFileSync } from 'node:fs';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import {
  isExemptFromPolicies,
  isExemptFromWebhooks,
  matchResources,
  matchWebhook,
  subresourceGvk,
} from '../../../../src/admission/match/match.js';
import type { MatchCriteria, MatchedRequest, MatchView } from '../../../../src/admission/match/types.js';
import type { ServedKind } from '../../../../src/kinds/served-kind.js';

interface Case {
  readonly criteria: MatchCriteria;
  readonly request: {
    readonly operation: MatchedRequest['operation'];
    readonly resource: readonly [group: string, version: string, resource: string];
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly oldLabels?: Readonly<Record<string, string>>;
  };
  /** What matched; null if nothing matched; a string is the error message. */
  readonly outcome: readonly string[] | string | null;
}

const cases = JSON.parse(readFileSync(new URL('./matches.json', import.meta.url), 'utf8')) as Case[];

const cluster = testCluster({ dialect: 'kubernetes' });

function servedAs(group: string, version: string, resource: string): ServedKind {
  const served = cluster.resolve({ group, version, resource });
  if (served === undefined) throw new Error(`${resource} are not served`);
  return served;
}

const namespaces: Readonly<Record<string, object>> = {
  default: { a: 'b' },
  other: { a: 'c', x: 'y' },
  bare: {},
};

const view: MatchView = {
  namespace: (name) =>
    namespaces[name] === undefined ? undefined : ({ metadata: { name, labels: namespaces[name] } } as never),
  versionsOf: ({ storageKey }) => cluster.kinds().filter((served) => served.storageKey === storageKey),
};

function requestOf({ operation, resource, subresource, namespace, name, labels, oldLabels }: Case['request']) {
  const served = servedAs(...resource);
  const object = (given: typeof labels) =>
    given === undefined ? undefined : ({ metadata: { labels: given } } as never);
  return {
    operation,
    served,
    subresource,
    namespace,
    sentName: name,
    object: object(labels),
    oldObject: object(oldLabels),
    objectKind: subresourceGvk(served, subresource),
  } satisfies MatchedRequest;
}

test.each(cases.map((one, index) => ({ ...one, index })))(
  'matches as the reference server does: case $index',
  ({ criteria, request, outcome }) => {
    const find = () => {
      try {
        const match = matchResources(criteria, requestOf(request), view);
        if (match === undefined) return null;
        const { resource, kind } = match;
        return [resource.group, resource.version, resource.resource, kind.group, kind.version, kind.kind];
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(find()).toEqual(outcome);
  },
);

describe('webhook matching', () => {
  const pods = requestOf({
    operation: 'CREATE',
    resource: ['', 'v1', 'pods'],
    subresource: '',
    namespace: 'default',
    name: 'p',
    labels: {},
  });
  const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
  const selectors = { namespaceSelector: {}, objectSelector: {} };

  test('matches nothing without rules', () => {
    expect(matchWebhook({ ...selectors }, pods, view)).toBeUndefined();
    expect(matchWebhook({ ...selectors, rules: [everything] }, pods, view)?.matched).toBe(pods.served);
  });

  test('matches nothing without selectors', () => {
    expect(matchWebhook({ rules: [everything] }, pods, view)).toBeUndefined();
  });

  test('matches an equivalent version only if that version has the same subresource', () => {
    const rule = { ...everything, apiVersions: ['v2'] };
    const found = (subresource: string) => {
      const served = servedAs('autoscaling', 'v1', 'horizontalpodautoscalers');
      const request = { ...pods, served, subresource, objectKind: served.gvk };
      return matchWebhook({ ...selectors, matchPolicy: 'Equivalent', rules: [rule] }, request, view)?.kind.version;
    };
    expect([found(''), found('status'), found('scale')]).toEqual(['v2', 'v2', undefined]);
  });
});

test('exempts webhook configurations and policies from webhooks', () => {
  const never = new Set(
    cluster
      .kinds()
      .filter(isExemptFromWebhooks)
      .map(({ gvr }) => `${gvr.resource}.${gvr.group}`),
  );
  expect([...never].sort()).toEqual([
    'mutatingwebhookconfigurations.admissionregistration.k8s.io',
    'validatingadmissionpolicies.admissionregistration.k8s.io',
    'validatingadmissionpolicybindings.admissionregistration.k8s.io',
    'validatingwebhookconfigurations.admissionregistration.k8s.io',
  ]);
});

test('exempts policies and authentication and authorization reviews from policies', () => {
  const never = new Set(
    cluster
      .kinds()
      .filter(isExemptFromPolicies)
      .map(({ gvr }) => gvr.resource),
  );
  expect([...never].sort()).toEqual([
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
    'tokenreviews',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ]);
});
