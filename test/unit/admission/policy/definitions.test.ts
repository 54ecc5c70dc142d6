/**
 * Validation of policies, bindings and webhook configurations, and type checking of policies, compared with recordings
 * of the reference server.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { PolicySpec } from '../../../../src/admission/policy/policies.js';
import { checkPolicyTypes } from '../../../../src/admission/policy/type-checking.js';
import { admissionregistrationKinds } from '../../../../src/kinds/admissionregistration/index.js';
import { builtInKinds } from '../../../../src/kinds/index.js';
import type { HookContext } from '../../../../src/kinds/kind.js';
import { serveKind } from '../../../../src/kinds/served-kind.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { causeReason, printFieldError } from '../../../../src/meta/field-error.js';
import type { ApiObject } from '../../../../src/meta/object.js';
import { decode } from '../../../../src/schema/decode.js';

/** The fields of a case that differ from the defaults of its kind. */
type Fields = Readonly<Record<string, unknown>>;

interface Reference {
  readonly definitions: readonly {
    readonly kind: string;
    readonly next: Fields;
    readonly live?: Fields;
    readonly errors: readonly string[];
  }[];
  readonly types: readonly {
    readonly spec: PolicySpec;
    readonly warnings: readonly { readonly fieldRef: string; readonly warning: string }[];
  }[];
}

const reference = JSON.parse(readFileSync(new URL('./definitions.json', import.meta.url), 'utf8')) as Reference;

const RULES = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: '*' }];

function whole(kind: string, fields: Fields): object {
  const version = kind.startsWith('MutatingAdmission') ? 'v1alpha1' : 'v1';
  const typed = { apiVersion: `admissionregistration.k8s.io/${version}`, kind, metadata: { name: 'p' } };
  if (kind.endsWith('Binding')) return { ...typed, spec: fields };
  const match = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };
  if (!kind.endsWith('Configuration')) {
    const matchConstraints = { ...match, resourceRules: RULES };
    return { ...typed, spec: { failurePolicy: 'Fail', reinvocationPolicy: 'Never', matchConstraints, ...fields } };
  }
  const webhook = {
    name: 'a.b.c',
    rules: RULES,
    ...match,
    clientConfig: { url: 'https://x.y/z' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  return { ...typed, webhooks: [{ ...webhook, ...fields }] };
}

/** The reason and message of every error, in order. */
function errorsOf(name: string, next: Fields, live?: Fields): readonly string[] {
  const version = name.startsWith('MutatingAdmission') ? 'v1alpha1' : 'v1';
  const kind = admissionregistrationKinds.find((one) => one.kind === name && one.version === version);
  if (kind === undefined) throw new Error(`no kind ${name}`);
  const { schema } = serveKind(kind, kubernetesDialect);
  const read = (fields: Fields) => decode(schema, { value: whole(name, fields) }).value as unknown as ApiObject;
  const context = { dialect: kubernetesDialect } as HookContext;
  const found = kind.strategy.create.validate?.(read(next), context, live && read(live)) ?? [];
  return found.map((error) => `${causeReason(error.type)} ${printFieldError(error)}`);
}

test.each(reference.definitions.map((one, index) => [index, one.kind, one] as const))(
  'validates as the reference server does: definition %i: %s',
  (_index, kind, { next, live, errors }) => {
    expect(errorsOf(kind, next, live)).toEqual(errors);
  },
);

describe('expressions that are already stored', () => {
  const check = (next: Fields, live?: Fields) => errorsOf('ValidatingAdmissionPolicy', next, live);
  // Only stored expressions may use the semver library.
  const versions = "semver('1.2.3').major() == 1";
  const first = { validations: [{ expression: versions }] };

  test('allows stored expressions to use functions that new expressions may not use', () => {
    expect(check(first)).toEqual([expect.stringContaining("undeclared reference to 'semver'")]);
    expect(check(first, first)).toEqual([]);
  });

  test('accepts stored expressions only where their text is unchanged', () => {
    const next = { validations: [{ expression: versions }, { expression: `!(${versions})` }] };
    expect(check(next, first)).toEqual([expect.stringContaining('spec.validations[1].expression')]);
  });

  test('does not validate stored expressions again while the match conditions are unchanged', () => {
    const conditions = { matchConditions: [{ name: '', expression: '' }], validations: [{ expression: 'true' }] };
    expect(check(conditions)).toHaveLength(2);
    expect(check(conditions, conditions)).toEqual([]);
    const withParams = { ...conditions, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
    expect(check(withParams, conditions)).toHaveLength(2);
  });
});

describe('policy type checking', () => {
  const kinds = builtInKinds.map((kind) => serveKind(kind, kubernetesDialect));
  // Type names contain an arbitrary number.
  const masked = (text: string) => text.replace(/([A-Z][A-Za-z]+?)\d+(?=[^A-Za-z0-9])/g, '$1#');

  test.each(reference.types.map((one, index) => [index, one] as const))(
    'reports the warnings of the reference server: policy %i',
    (_index, { spec, warnings }) => {
      const found = checkPolicyTypes(spec, { kinds: () => kinds });
      expect(found.map(({ fieldRef, warning }) => ({ fieldRef, warning: masked(warning) }))).toEqual(warnings);
    },
  );
});
