/** The reconciler that writes the type-checking status of policies, and type checking of custom resources. */
import { describe, expect, test } from 'vitest';
import type { PolicySpec } from '../../../../src/admission/policy/policies.js';
import { checkPolicyTypes, policyTypeCheckReconciler } from '../../../../src/admission/policy/type-checking.js';
import { Deployment } from '../../../../src/kinds/apps/v1/deployment.js';
import type { Kind } from '../../../../src/kinds/kind.js';
import type { ReconcilerHost } from '../../../../src/kinds/reconciler.js';
import { serveKind } from '../../../../src/kinds/served-kind.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../../src/meta/object.js';

const deployments = serveKind(Deployment, kubernetesDialect);
const lookups = { kinds: () => [deployments] };
const rules = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments'] }];

function specOf(...expressions: string[]): PolicySpec {
  return {
    matchConstraints: { resourceRules: rules },
    validations: expressions.map((expression) => ({ expression })),
  } as unknown as PolicySpec;
}

/** A server with these policies that records the writes to their status and the field managers. */
function serverWith(policies: ApiObject[]) {
  const written: { readonly name: string; readonly status: unknown; readonly by: string | undefined }[] = [];
  let changes = 1;
  const server = {
    lastChange: () => changes,
    each: (_resource: unknown, visit: (object: ApiObject) => void) => [...policies].forEach(visit),
    writeStatus(object: ApiObject, change: (draft: DraftObject) => void, by?: string) {
      const draft = {} as DraftObject;
      change(draft);
      const at = policies.indexOf(object);
      policies[at] = { ...object, status: draft['status'] } as ApiObject;
      written.push({ name: object.metadata.name ?? '', status: draft['status'], by });
      changes++;
    },
  } as unknown as ReconcilerHost;
  return { server, written, touch: () => changes++ };
}

function policy(name: string, generation: number, spec: PolicySpec): ApiObject {
  return {
    kind: 'ValidatingAdmissionPolicy',
    apiVersion: 'v1',
    metadata: { name, generation },
    spec,
  } as unknown as ApiObject;
}

describe('the policy status reconciler', () => {
  test('reports type-checking warnings and the observed generation', () => {
    const { server, written } = serverWith([
      policy('good', 1, specOf('object.spec.replicas > 1')),
      policy('bad', 3, specOf('object.spec.size > 1')),
    ]);
    policyTypeCheckReconciler(server, lookups).reconcile();
    expect(written).toEqual([
      { name: 'good', status: { observedGeneration: 1, typeChecking: {} }, by: 'validatingadmissionpolicy-status' },
      {
        name: 'bad',
        status: {
          observedGeneration: 3,
          typeChecking: {
            expressionWarnings: [
              {
                fieldRef: 'spec.validations[0].expression',
                warning:
                  "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'size'\n | object.spec.size > 1\n | ...........^\n",
              },
            ],
          },
        },
        by: 'validatingadmissionpolicy-status',
      },
    ]);
  });

  test('writes the status once for each generation', () => {
    const policies = [policy('p', 1, specOf('true'))];
    const { server, written, touch } = serverWith(policies);
    const reconciler = policyTypeCheckReconciler(server, lookups);
    reconciler.reconcile();
    reconciler.reconcile();
    touch();
    reconciler.reconcile();
    expect(written).toHaveLength(1);
    policies[0] = { ...(policies[0] as ApiObject), metadata: { name: 'p', generation: 2 } } as ApiObject;
    touch();
    reconciler.reconcile();
    expect(written).toHaveLength(2);
  });
});

describe('type checking of custom resources', () => {
  const published = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          port: { 'x-kubernetes-int-or-string': true },
          tags: { type: 'object', additionalProperties: { type: 'string' } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          'a-b': { type: 'boolean' },
        },
      },
    },
  };
  const kind = {
    ...Deployment,
    group: 'x.io',
    kind: 'Widget',
    names: { ...Deployment.names, plural: 'widgets' },
    customResourceHandler: { publishedSchema: published },
  };
  const widgets = serveKind(kind as unknown as Kind, kubernetesDialect);
  const check = (expression: string) => {
    const spec = {
      ...specOf(expression),
      matchConstraints: { resourceRules: [{ ...rules[0], apiGroups: ['x.io'], resources: ['widgets'] }] },
    };
    return checkPolicyTypes(spec as unknown as PolicySpec, { kinds: () => [deployments, widgets] }).length;
  };

  test.each([
    ['object.spec.size > 1', 0],
    ['object.spec.size == "x"', 1],
    ['object.spec.port == 1 || object.spec.port == "x"', 0],
    ['object.spec.tags.all(t, t != "")', 0],
    ['object.spec.tags["a"] == 1', 1],
    ['object.spec.free.x == 1', 1],
    ['object.spec.a__dash__b', 0],
    ['object.spec.replicas == 1', 1],
    ['object.metadata.labels["a"] == "b" && object.metadata.namespace == "x"', 0],
    ['object.metadata.generation == "x"', 1],
    ['object.kind == "Widget"', 0],
    ['object.status.x == 1', 1],
  ])('checks the expression %s', (expression, warnings) => {
    expect(check(expression)).toBe(warnings);
  });
});
