/**
 * Whether the expressions of a policy fit the kinds that it is about. Objects have no type when a policy is evaluated,
 * so that a slip in a field's name shows only when a request comes; here the schemas of the kinds are looked at, and what
 * would not fit is a warning. spec: ValidatingAdmissionPolicy
 */
import type { Environment } from '../../cel/engine.js';
import { compile } from '../../cel/index.js';
import { AUTHORIZER_TYPE } from '../../cel/library/authorizer.js';
import { storedEnvironment } from '../../cel/library/environments.js';
import type { TypeProvider } from '../../cel/types.js';
import { escapeName } from '../../crd/rules/escape.js';
import { type SelfType, selfTypeOf } from '../../crd/rules/self-type.js';
import {
  DECLARED_TYPES,
  NAMESPACE_TYPE,
  REQUEST_TYPE,
} from '../../kinds/admissionregistration/expressions/declared-types.js';
import { VARIABLES_TYPE, VariableTypes } from '../../kinds/admissionregistration/expressions/variable-types.js';
import type { ExpressionWarning } from '../../kinds/admissionregistration/types.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { type GroupVersionKind, parseApiVersion } from '../../meta/gvk.js';
import type { PolicySpec } from './compiled-policy.js';
import { kindShape } from './kind-shape.js';

/** What there is to be known of the kinds of a cluster. */
export interface KindLookups {
  /** All that are served, custom ones included. */
  kinds(): readonly ServedKind[];
}

/** The warnings for `status.typeChecking.expressionWarnings`; none for a policy that is about whatever there may be. */
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

/** As many kinds of one rule are looked at. */
const MAX_KINDS = 10;

/** The kinds that the rules of a policy name, in order. A rule with a star for a group or a version names none. */
function kindsToCheck({ matchConstraints }: PolicySpec, served: readonly ServedKind[]): readonly ServedKind[] {
  const found = new Set<ServedKind>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of matchConstraints?.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue;
    let count = 0;
    for (const kind of namedKinds(served, { apiGroups, apiVersions, resources })) {
      found.add(kind);
      count++;
      // Nothing is looked at behind a rule that names too much.
      if (count === MAX_KINDS) return inOrder([...found]);
    }
  }
  return inOrder([...found]);
}

interface NamedResources {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
}

/** What is below an object has no type of its own here. */
function namedKinds(served: readonly ServedKind[], named: NamedResources): readonly ServedKind[] {
  const resources = named.resources.filter((name) => !/[*/]/.test(name)).sort();
  return [...named.apiGroups]
    .sort()
    .flatMap((group) =>
      [...named.apiVersions]
        .sort()
        .flatMap((version) =>
          resources.flatMap((resource) => served.filter((kind) => answersTo(kind, { group, version, resource }))),
        ),
    );
}

/** The empty group stands for whatever group: that is how the reference server looks resources up. */
function answersTo(
  { gvr, kind }: ServedKind,
  named: { readonly group: string; readonly version: string; readonly resource: string },
): boolean {
  if (gvr.version !== named.version || (named.group !== '' && gvr.group !== named.group)) return false;
  const resource = named.resource.toLowerCase();
  return gvr.resource === resource || kind.names.singular === resource;
}

function inOrder(kinds: readonly ServedKind[]): readonly ServedKind[] {
  const key = ({ gvk }: ServedKind) => [gvk.group, gvk.version, gvk.kind];
  return [...kinds].sort((left, right) => {
    const [mine, theirs] = [key(left), key(right)];
    const at = mine.findIndex((part, index) => part !== theirs[index]);
    return at < 0 ? 0 : (mine[at] as string) < (theirs[at] as string) ? -1 : 1;
  });
}

function paramKindOf({ paramKind }: PolicySpec, served: readonly ServedKind[]): ServedKind | undefined {
  const gv = paramKind && parseApiVersion(paramKind.apiVersion ?? '');
  if (gv === undefined) return undefined;
  return served.find(({ gvk }) => gvk.group === gv.group && gvk.version === gv.version && gvk.kind === paramKind?.kind);
}

/** The variables of a policy are typed too, as far as they go. One that does not fit is not told apart: its users are. */
function environmentFor(served: ServedKind, params: ServedKind | undefined, { variables }: PolicySpec): Environment {
  const object = typeOfKind(served, 'object');
  const ofParams = params && typeOfKind(params, 'params');
  const types = new VariableTypes();
  let environment = storedEnvironment().extend({
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

/** Types of objects have names of their own, of which nothing is known but that they are not alike. */
function typeOfKind(served: ServedKind, role: 'object' | 'params'): SelfType {
  return selfTypeOf(kindShape(served), `${served.gvk.kind}${role === 'object' ? 0 : 1}`);
}

/** Fields that are called like a word of the language may be written as they are. */
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
