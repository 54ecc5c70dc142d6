/**
 * Type-checks the expressions of ValidatingAdmissionPolicies against the schemas of the kinds that they match, and writes
 * the warnings to `status.typeChecking`. At evaluation time objects are untyped, so a misspelt field name would otherwise
 * surface only with a request. spec: ValidatingAdmissionPolicy
 */
import {
  AUTHORIZER_TYPE,
  BOOL,
  BYTES,
  compile,
  DOUBLE,
  DYN,
  type Environment,
  INT,
  type SimpleType,
  STRING,
  storedExpressionsEnvironment,
  TIMESTAMP,
  type TypeProvider,
} from '../../cel/index.js';
import {
  type DeclType,
  declTypeOf,
  type ObjectDeclType,
  type SelfType,
  selfTypeOf,
} from '../../crd/rules/decl-type.js';
import { escapeName } from '../../crd/rules/escape.js';
import { structuralSchemaOf } from '../../crd/structural-schema.js';
import {
  DECLARED_TYPES,
  NAMESPACE_TYPE,
  REQUEST_TYPE,
} from '../../kinds/admissionregistration/expressions/declared-types.js';
import { VARIABLES_TYPE, VariableTypes } from '../../kinds/admissionregistration/expressions/environment.js';
import type { ExpressionWarning } from '../../kinds/generated/admissionregistration-v1.js';
import type { ReconcilerHost, ServerReconciler } from '../../kinds/reconciler.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { type GroupVersionKind, parseApiVersion } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import type { ObjectNode, ScalarType, SchemaNode } from '../../schema/schema-node.js';
import { getOrInsertComputed } from '../../util/once.js';
import { compareTexts } from '../../util/order.js';
import { POLICIES, type PolicySpec } from './policies.js';

/** The field manager of the status. */
const MANAGER = 'validatingadmissionpolicy-status';

/** Gives access to the kinds of the cluster. */
export interface KindLookups {
  /** All served kinds, including custom resources. */
  kinds(): readonly ServedKind[];
}

/** The server-side reconciler of ValidatingAdmissionPolicy: checks each new generation of a policy. */
export function policyTypeCheckReconciler(server: ReconcilerHost, lookups: KindLookups): ServerReconciler {
  let seen = -1;
  return {
    reconcile() {
      if (server.lastChange(POLICIES) === seen) return;
      server.each(POLICIES, (policy) => checkPolicy(policy, server, lookups));
      // Includes the status writes made here.
      seen = server.lastChange(POLICIES);
    },
  };
}

function checkPolicy(object: ApiObject, server: ReconcilerHost, lookups: KindLookups): void {
  const { generation = 0 } = object.metadata;
  const status = object['status'] as { readonly observedGeneration?: number } | undefined;
  if (generation <= (status?.observedGeneration ?? 0)) return;
  const warnings = checkPolicyTypes(object['spec'] as PolicySpec, lookups);
  const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings };
  server.writeStatus(
    object,
    (draft) => {
      draft['status'] = { observedGeneration: generation, typeChecking };
    },
    MANAGER,
  );
}

/** The warnings for `status.typeChecking.expressionWarnings`; none for a policy that matches arbitrary kinds. */
export function checkPolicyTypes(spec: PolicySpec, lookups: KindLookups): readonly ExpressionWarning[] {
  const kinds = kindsToCheck(spec, lookups.kinds());
  const params = paramKindOf(spec, lookups.kinds());
  const environments = kinds.map((served) => ({ served, environment: environmentFor(served, params, spec) }));
  const warnings: ExpressionWarning[] = [];
  const check = (text: string, fieldRef: string): void => {
    const issues = environments.flatMap(({ served, environment }) => {
      const compiled = compile(text, environment);
      return compiled.checked === undefined ? [`${kindText(served.gvk)}: ${compiled.text}\n`] : [];
    });
    if (issues.length > 0) warnings.push({ fieldRef, warning: issues.join('\n') });
  };
  for (const [index, { expression, messageExpression = '' }] of (spec.validations ?? []).entries()) {
    check(expression, `spec.validations[${index}].expression`);
    if (messageExpression !== '') check(messageExpression, `spec.validations[${index}].messageExpression`);
  }
  return warnings;
}

function kindText({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}

/** The number of kinds that are checked for one rule. */
const MAX_KINDS = 10;

/** The kinds that the rules of a policy name, sorted. A rule with a wildcard group or version names none. */
function kindsToCheck({ matchConstraints }: PolicySpec, served: readonly ServedKind[]): readonly ServedKind[] {
  const found = new Set<ServedKind>();
  const words = servedWords(served);
  for (const { apiGroups = [], apiVersions = [], resources = [] } of matchConstraints?.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue;
    let count = 0;
    for (const kind of namedKinds(served, words, { apiGroups, apiVersions, resources })) {
      found.add(kind);
      count++;
      // The reference server stops at a rule that names too many kinds.
      // upstream: apiserver/pkg/admission/plugin/policy/validating/typechecking.go TypeChecker.typesToCheck
      if (count === MAX_KINDS) return sortedKinds([...found]);
    }
  }
  return sortedKinds([...found]);
}

interface NamedResources {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
}

/** The words of rules that can match a served kind. */
interface ServedWords {
  readonly groups: ReadonlySet<string>;
  readonly versions: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
}

function servedWords(served: readonly ServedKind[]): ServedWords {
  return {
    // The empty group matches every group, as in the reference server's resource lookup.
    // upstream: apimachinery/pkg/api/meta/restmapper.go DefaultRESTMapper.KindsFor
    groups: new Set(['', ...served.map(({ gvr }) => gvr.group)]),
    versions: new Set(served.map(({ gvr }) => gvr.version)),
    resources: new Set(served.flatMap(({ gvr, kind }) => [gvr.resource, kind.names.singular])),
  };
}

/** Subresources and wildcards are not checked. */
function* namedKinds(served: readonly ServedKind[], words: ServedWords, named: NamedResources): Generator<ServedKind> {
  const versions = relevantWords([...named.apiVersions].sort(), words.versions);
  const lowerCased = [...named.resources].sort().map((name) => name.toLowerCase());
  const resources = relevantWords(lowerCased, words.resources);
  for (const group of relevantWords([...named.apiGroups].sort(), words.groups)) {
    for (const version of versions) {
      const kinds = served.filter(({ gvr }) => gvr.version === version && (group === '' || gvr.group === group));
      if (kinds.length === 0) continue;
      for (const resource of resources) {
        const isNamed = ({ gvr, kind }: ServedKind) => gvr.resource === resource || kind.names.singular === resource;
        yield* kinds.filter(isNamed);
      }
    }
  }
}

/**
 * The words of a rule that can match. A rule may have many thousands of groups, versions and resources, so words that no
 * kind has are skipped, and so are repetitions after which the maximum number of kinds is reached.
 */
function relevantWords(words: readonly string[], known: ReadonlySet<string>): readonly string[] {
  const counts = new Map<string, number>();
  return words.filter((word) => {
    const count = counts.get(word) ?? 0;
    counts.set(word, count + 1);
    return known.has(word) && count < MAX_KINDS;
  });
}

function sortedKinds(kinds: readonly ServedKind[]): readonly ServedKind[] {
  const key = ({ gvk }: ServedKind) => [gvk.group, gvk.version, gvk.kind];
  return [...kinds].sort((left, right) => compareTexts(key(left), key(right)));
}

function paramKindOf({ paramKind }: PolicySpec, served: readonly ServedKind[]): ServedKind | undefined {
  const gv = paramKind && parseApiVersion(paramKind.apiVersion ?? '');
  if (gv === undefined) return undefined;
  return served.find(({ gvk }) => gvk.group === gv.group && gvk.version === gv.version && gvk.kind === paramKind?.kind);
}

/** Types the policy's variables as well. A variable that does not compile is not reported; expressions that use it are. */
function environmentFor(served: ServedKind, params: ServedKind | undefined, { variables }: PolicySpec): Environment {
  const object = typeOfKind(served, 'object');
  const ofParams = params && typeOfKind(params, 'params');
  const types = new VariableTypes();
  let environment = storedExpressionsEnvironment().extend({
    variables: {
      namespaceObject: NAMESPACE_TYPE,
      request: REQUEST_TYPE,
      object: object.type,
      oldObject: object.type,
      ...(ofParams === undefined ? {} : { params: ofParams.type }),
      authorizer: AUTHORIZER_TYPE,
    },
    provider: DECLARED_TYPES,
  });
  for (const { provider } of ofParams === undefined ? [object] : [object, ofParams]) {
    environment = environment.extend({ provider: withReservedNames(provider) });
  }
  environment = environment.extend({ variables: { variables: VARIABLES_TYPE }, provider: types });
  for (const { name, expression } of variables ?? []) {
    types.add(name, compile(expression, environment).checked?.resultType);
  }
  return environment;
}

/** Object types get unique names; messages do not contain them. */
function typeOfKind(served: ServedKind, role: 'object' | 'params'): SelfType {
  return selfTypeOf(getOrInsertComputed(declTypes, served, readKind), `${served.gvk.kind}${role === 'object' ? 0 : 1}`);
}

/** Fields whose names are reserved words may be written without escaping. */
function withReservedNames(provider: TypeProvider): TypeProvider {
  return {
    ...provider,
    fieldType: (typeName, field) => {
      const found = provider.fieldType(typeName, field);
      if (found !== undefined) return found;
      const escaped = escapeName(field);
      return escaped === `__${field}__` ? provider.fieldType(typeName, escaped) : undefined;
    },
  };
}

const declTypes = new WeakMap<ServedKind, ObjectDeclType>();

/** Sizes only matter for cost estimates, which are not made here. */
const UNSIZED = { maxElements: 0, minSize: 0 };

const SCALARS: Readonly<Partial<Record<ScalarType, SimpleType>>> = {
  string: STRING,
  int32: INT,
  int64: INT,
  number: DOUBLE,
  boolean: BOOL,
  bytes: BYTES,
  time: TIMESTAMP,
  microTime: TIMESTAMP,
  intOrString: DYN,
  duration: STRING,
};

const UNTYPED_OBJECTS: ReadonlySet<string> = new Set(['runtime.RawExtension', 'v1.FieldsV1']);

function readKind({ kind, schema, dialect }: ServedKind): ObjectDeclType {
  const whole = objectDeclType(schema, []);
  const given =
    kind.customResourceHandler &&
    declTypeOf(structuralSchemaOf(kind.customResourceHandler.publishedSchema, dialect), true);
  if (given?.kind !== 'object') return whole;
  // CRD schemas say little about metadata; the published schema has all of it.
  const fields = new Map(given.fields);
  for (const name of ['apiVersion', 'kind', 'metadata']) {
    const own = whole.fields.get(name);
    if (own !== undefined) fields.set(name, own);
  }
  return object(fields);
}

function object(fields: ReadonlyMap<string, DeclType>): ObjectDeclType {
  return { kind: 'object', fields, ...UNSIZED };
}

/** `outer`: the enclosing types. A recursive type becomes an object without fields. */
function objectDeclType(node: ObjectNode, outer: readonly ObjectNode[]): ObjectDeclType {
  const fields = new Map<string, DeclType>();
  if (outer.some(({ goName, fields: known }) => goName === node.goName && known === node.fields)) return object(fields);
  const inner = [...outer, node];
  for (const field of node.fields.values()) {
    const declType = nodeDeclType(field.node, inner);
    const name = escapeName(field.name);
    if (declType !== undefined && name !== undefined) fields.set(name, declType);
  }
  return object(fields);
}

function nodeDeclType(node: SchemaNode, outer: readonly ObjectNode[]): DeclType | undefined {
  switch (node.type) {
    case 'object':
      return objectDeclType(node, outer);
    case 'map': {
      const element = nodeDeclType(node.values, outer);
      return element && { kind: 'map', element, ...UNSIZED };
    }
    case 'list': {
      const element = nodeDeclType(node.items, outer);
      return element && { kind: 'list', element, ...UNSIZED };
    }
    case 'scalar': {
      const type = SCALARS[node.scalar];
      return type && { kind: 'scalar', type, ...UNSIZED };
    }
    case 'any':
      return UNTYPED_OBJECTS.has(node.goType) ? object(new Map()) : undefined;
  }
}
