/**
 * What may be written into policies, bindings and webhooks, against what the reference server says to the same objects;
 * and what it says of the types in a policy.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkPolicyTypes } from '../../../src/admission/policy/check-types.js';
import type { PolicySpec } from '../../../src/admission/policy/compiled-policy.js';
import { admissionregistrationKinds } from '../../../src/kinds/admissionregistration/index.js';
import { builtInKinds } from '../../../src/kinds/index.js';
import type { WriteContext } from '../../../src/kinds/kind.js';
import { serveKind } from '../../../src/kinds/served-kind.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { causeReason, printFieldError } from '../../../src/meta/field-error.js';
import type { ApiObject } from '../../../src/meta/object.js';
import { decode } from '../../../src/schema/decode.js';

interface Sent {
  readonly kind: string;
  readonly apiVersion: string;
}

interface Reference {
  readonly definitions: readonly { readonly object: Sent; readonly old?: Sent; readonly errors: readonly string[] }[];
  readonly types: readonly {
    readonly spec: PolicySpec;
    readonly warnings: readonly { readonly fieldRef: string; readonly warning: string }[];
  }[];
}

const reference = JSON.parse(readFileSync(new URL('./definitions.json', import.meta.url), 'utf8')) as Reference;

/** Reason and text of every error, in order. */
function errorsOf(object: Sent, old: Sent | undefined): readonly string[] {
  const kind = admissionregistrationKinds.find((one) => {
    return one.kind === object.kind && object.apiVersion.endsWith(`/${one.version}`);
  });
  if (kind === undefined) throw new Error(`no kind ${object.kind}`);
  const { schema } = serveKind(kind, kubernetesDialect);
  const read = (sent: Sent) => decode(schema, { value: structuredClone(sent) }).value as unknown as ApiObject;
  const context = { dialect: kubernetesDialect } as WriteContext;
  const found = kind.strategy.validate?.(read(object), context, old && read(old)) ?? [];
  return found.map((error) => `${causeReason(error.type)} ${printFieldError(error)}`);
}

test.each(reference.definitions.map((one, index) => [index, one.object.kind, one] as const))(
  'definition %i: %s',
  (_index, _kind, { object, old, errors }) => {
    expect(errorsOf(object, old)).toEqual(errors);
  },
);

describe('what was accepted before', () => {
  const policy = (spec: object) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: '*' },
        ],
      },
      ...spec,
    },
  });
  // Semantic versions are known to stored expressions only.
  const versions = "semver('1.2.3').major() == 1";
  const first = policy({ validations: [{ expression: versions }] });

  test('may use what new expressions may not', () => {
    expect(errorsOf(first, undefined)).toEqual([expect.stringContaining("undeclared reference to 'semver'")]);
    expect(errorsOf(first, first)).toEqual([]);
  });

  test('stays accepted text by text', () => {
    const next = policy({ validations: [{ expression: versions }, { expression: `!(${versions})` }] });
    expect(errorsOf(next, first)).toEqual([expect.stringContaining('spec.validations[1].expression')]);
  });

  test('is not looked at again while conditions stay as they are', () => {
    const conditions = { matchConditions: [{ name: '', expression: '' }], validations: [{ expression: 'true' }] };
    expect(errorsOf(policy(conditions), undefined)).toHaveLength(2);
    expect(errorsOf(policy(conditions), policy(conditions))).toEqual([]);
    const withParams = policy({ ...conditions, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } });
    expect(errorsOf(withParams, policy(conditions))).toHaveLength(2);
  });
});

describe('types', () => {
  const kinds = builtInKinds.map((kind) => serveKind(kind, kubernetesDialect));
  // The names of types have a number that means nothing.
  const masked = (text: string) => text.replace(/([A-Z][A-Za-z]+?)\d+(?=[^A-Za-z0-9])/g, '$1#');

  test.each(reference.types.map((one, index) => [index, one] as const))('policy %i', (_index, { spec, warnings }) => {
    const found = checkPolicyTypes(spec, { kinds: () => kinds });
    expect(found.map(({ fieldRef, warning }) => ({ fieldRef, warning: masked(warning) }))).toEqual(warnings);
  });
});
