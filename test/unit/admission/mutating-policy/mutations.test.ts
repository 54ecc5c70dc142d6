/**
 * Results of mutation expressions, compared with recordings of the reference server's code. The policies are passed
 * directly to the plugin, because the API would reject many of them.
 */
import { readFileSync } from 'node:fs';
import { fakeClock, testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { decodeDraft, wireObject } from '../../../../src/admission/match/wire-object.js';
import { mutatingAdmissionPolicy } from '../../../../src/admission/mutating-policy/plugin.js';
import type { AdmissionRequest, ClusterView } from '../../../../src/admission/types.js';
import { featureGates } from '../../../../src/kinds/feature-gates.js';
import type { ServedKind } from '../../../../src/kinds/served-kind.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../../src/meta/object.js';
import { allowAll } from '../../../../src/protocol/access.js';
import { copyJson } from '../../../../src/util/json.js';

interface Case {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
  readonly kind: string;
  readonly expression: string;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  /** The name of the object to mutate. */
  readonly object: number;
  readonly error?: string;
  readonly status?: string;
  readonly result?: object;
}

const { objects, cases } = JSON.parse(readFileSync(new URL('./mutations.json', import.meta.url), 'utf8')) as {
  readonly objects: readonly object[];
  readonly cases: readonly Case[];
};

const cluster = testCluster({ dialect: 'kubernetes' });
const resources: Readonly<Record<string, readonly [group: string, resource: string]>> = {
  Deployment: ['apps', 'deployments'],
  ConfigMap: ['', 'configmaps'],
  Service: ['', 'services'],
};

function servedFor(kind: string): ServedKind {
  const [group = '', resource = ''] = resources[kind] ?? [];
  const served = cluster.resolve({ group, version: 'v1', resource });
  if (served === undefined) throw new Error(`${kind} is not served`);
  return served;
}

const features = featureGates({ MutatingAdmissionPolicy: true });
const setting = { clock: fakeClock(), dialect: kubernetesDialect, features };

function viewWith(policies: readonly unknown[], bindings: readonly unknown[]): ClusterView {
  const view: Partial<ClusterView> = {
    ...setting,
    access: allowAll,
    lastChange: () => 1,
    list: ({ resource }) => (resource === 'mutatingadmissionpolicies' ? policies : bindings) as ApiObject[],
    namespace: (name) => ({ metadata: { name } }) as ApiObject,
    versionsOf: (served) => [served],
    kindNamed: () => undefined,
  };
  return view as ClusterView;
}

function requestFor(served: ServedKind, object: DraftObject): AdmissionRequest<DraftObject> {
  const request: Partial<AdmissionRequest<DraftObject>> = {
    operation: 'CREATE',
    served,
    subresource: '',
    namespace: 'default',
    name: 'a',
    sentName: 'a',
    object,
    objectKind: served.gvk,
    options: {},
    dryRun: false,
    user: { user: 'u' },
    warnings: [],
    rounds: { round: 0, requestReinvocation: () => undefined, pluginState: new Map() },
  };
  return request as AdmissionRequest<DraftObject>;
}

/** The object as it would be passed on. */
function shown(value: unknown, served: ServedKind): unknown {
  return wireObject(decodeDraft(value, served, setting), served);
}

/** Mutates an object with one policy. */
async function mutated({ type, kind, expression, variables, object }: Case) {
  const served = servedFor(kind);
  const field = type === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
  const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] };
  const policy = {
    metadata: { name: 'p' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] },
      mutations: [{ patchType: type, [field]: { expression } }],
      ...(variables === undefined ? {} : { variables }),
    },
  };
  const view = viewWith([policy], [{ metadata: { name: 'b' }, spec: { policyName: 'p' } }]);
  const draft = copyJson({ kind, apiVersion: served.apiVersion, ...objects[object] }) as unknown as DraftObject;
  const outcome: unknown = await Promise.resolve()
    .then(() => mutatingAdmissionPolicy.mutate?.(requestFor(served, draft), view))
    .catch((failure: unknown) => failure);
  return { served, draft, outcome };
}

test.each(cases)('evaluates the $type mutation as the reference server does: $expression', async (tried) => {
  const { error, status, result } = tried;
  const { served, draft, outcome } = await mutated(tried);
  if (error !== undefined) {
    const message = `policy 'p' with binding 'b' denied request: ${error}`;
    expect(outcome).toMatchObject({ message, code: 403, reason: 'Invalid' });
  } else if (status !== undefined) expect(outcome).toMatchObject({ message: status, code: 500 });
  else {
    expect(outcome).toBeUndefined();
    expect(shown(draft, served)).toEqual(shown(result, served));
  }
});

test('refuses a patch whose value contains one list more than 500,000 times', async () => {
  const depth = 12;
  const level = (index: number) => `[${Array<string>(4).fill(`variables.v${index}`).join(', ')}]`;
  const variables = [
    { name: 'v0', expression: '[1]' },
    ...Array.from({ length: depth }, (_, index) => ({ name: `v${index + 1}`, expression: level(index) })),
  ];
  const expression = `[JSONPatch{op: "add", path: "/data/y", value: variables.v${depth}}]`;
  const { outcome } = await mutated({ type: 'JSONPatch', kind: 'ConfigMap', expression, variables, object: 1 });
  expect(outcome).toMatchObject({
    message: expect.stringContaining('more than 500000 objects and lists'),
    code: 403,
  });
});
