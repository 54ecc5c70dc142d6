/**
 * Validation rules that validating and mutating policies and their bindings share: parameter kinds, variables and
 * parameter references.
 */

import { type FieldError, forbidden, invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { dns1035LabelProblems, dnsSubdomainProblems, pathSegmentProblems } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import type { Column } from '../../columns.js';
import type {
  MatchCondition,
  MatchResources,
  ParamKind,
  ParamRef,
  Variable,
} from '../../generated/admissionregistration-v1.js';
import { ageColumn, countColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { optionalValueErrors, valueErrors } from '../../shared/field-rules.js';
import { goStringLabelSelector } from '../../shared/go-syntax.js';
import type { Accepted, DefinedExpressions } from '../expressions/definition.js';
import { FAILURE_POLICIES, matchConditionErrors, matchResourcesErrors } from './match-resources.js';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** The names of these types. */
export const OWN_POLICY_TYPES: readonly string[] = [
  'ValidatingAdmissionPolicySpec',
  'ValidatingAdmissionPolicyStatus',
  'ValidatingAdmissionPolicyBindingSpec',
  'ParamKind',
  'ParamRef',
  'ParameterNotFoundActionType',
  'MatchResources',
  'NamedRuleWithOperations',
  'MatchPolicyType',
  'FailurePolicyType',
  'MatchCondition',
  'Validation',
  'ValidationAction',
  'AuditAnnotation',
  'Variable',
  'TypeChecking',
  'ExpressionWarning',
];

/** The spec fields that all policies have. */
export interface PolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
}

/** Options for the validation of a policy's expressions. */
export interface PolicyValidationOptions {
  readonly expressions: DefinedExpressions;
  /** The expressions of the live policy. */
  readonly accepted: {
    readonly conditions: Accepted;
    readonly variables: Accepted;
  };
  /** True if the match conditions need no validation, because nothing that affects them changed. */
  readonly ignoresConditions: boolean;
}

/** Validates the fields that all policies have. `more` adds rules for `matchConstraints`. */
export function policySpecErrors(
  spec: PolicySpec,
  { expressions, accepted, ignoresConditions }: PolicyValidationOptions,
  more: (match: MatchResources) => FieldError[] = () => [],
): FieldError[] {
  const found = optionalValueErrors('spec.failurePolicy', spec.failurePolicy, FAILURE_POLICIES);
  if (spec.paramKind !== undefined) append(found, paramKindErrors(spec.paramKind, 'spec.paramKind'));
  if (spec.matchConstraints === undefined) found.push(required('spec.matchConstraints'));
  else {
    append(found, matchResourcesErrors(spec.matchConstraints, 'spec.matchConstraints'));
    // The types of the expressions' variables come from the resource rules, so one is required.
    if ((spec.matchConstraints.resourceRules ?? []).length === 0) {
      found.push(required('spec.matchConstraints.resourceRules'));
    }
    append(found, more(spec.matchConstraints));
  }
  if (!ignoresConditions) {
    const scope = { params: spec.paramKind !== undefined, accepted: accepted.conditions };
    append(found, matchConditionErrors(spec.matchConditions, 'spec.matchConditions', scope));
  }
  for (const [index, one] of (spec.variables ?? []).entries()) {
    append(found, variableErrors(one, keyPath('spec.variables', index), { expressions, accepted: accepted.variables }));
  }
  return found;
}

/** True for an update that changes nothing that affects the match conditions. */
export function conditionsAreUntouched(next: PolicySpec, live: PolicySpec | undefined): boolean {
  return (
    live !== undefined &&
    deepEqual(next.paramKind, live.paramKind) &&
    // An empty list equals an absent one.
    deepEqual(next.matchConditions ?? [], live.matchConditions ?? [])
  );
}

/** The set of the live policy's expressions. */
export function acceptedTexts(texts: readonly (string | undefined)[] = []): Accepted {
  return new Set(texts.flatMap((text) => text ?? []));
}

const MIXED_CASE = 'may have mixed case, but should otherwise match: ';

function paramKindErrors({ apiVersion = '', kind = '' }: ParamKind, path: string): FieldError[] {
  const found = apiVersion === '' ? [required(`${path}.apiVersion`)] : apiVersionErrors(apiVersion, path);
  if (kind === '') return [...found, required(`${path}.kind`)];
  const problems = dns1035LabelProblems(kind.toLowerCase());
  return problems.length === 0 ? found : [...found, invalid(`${path}.kind`, kind, MIXED_CASE + problems.join(','))];
}

function apiVersionErrors(apiVersion: string, path: string): FieldError[] {
  const at = `${path}.apiVersion`;
  const parts = apiVersion.split('/');
  if (parts.length > 2) return [invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const [version = '', group = ''] = parts.reverse();
  const groupProblems = group === '' ? [] : dnsSubdomainProblems(group);
  const found = groupProblems.length === 0 ? [] : [invalid(at, group, groupProblems.join(','))];
  if (version === '') return [...found, invalid(at, apiVersion, 'version must be specified')];
  const problems = dns1035LabelProblems(version);
  return problems.length === 0 ? found : [...found, invalid(at, version, problems.join(','))];
}

const CEL_RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

function variableErrors(
  { name, expression }: Variable,
  path: string,
  { expressions, accepted }: { readonly expressions: DefinedExpressions; readonly accepted: Accepted },
): FieldError[] {
  const found: FieldError[] = [];
  if (name.trim() === '') found.push(required(`${path}.name`, 'name is not specified'));
  else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || CEL_RESERVED.has(name)) {
    found.push(invalid(`${path}.name`, name, 'name is not a valid CEL identifier'));
  }
  if (expression.trim() === '') return [...found, required(`${path}.expression`, 'expression is not specified')];
  const at = { path: `${path}.expression`, stored: accepted.has(expression) };
  return [...found, ...expressions.variable(name, expression, at)];
}

/** The spec fields that all bindings have. */
interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
}

/** Validates the fields that all bindings have. */
export function bindingSpecErrors({
  policyName = '',
  paramRef: ref,
  matchResources: match,
}: BindingSpec): FieldError[] {
  const found =
    policyName === ''
      ? [required('spec.policyName')]
      : dnsSubdomainProblems(policyName).map((detail) => invalid('spec.policyName', policyName, detail));
  if (ref !== undefined) append(found, paramRefErrors(ref, 'spec.paramRef'));
  if (match !== undefined) append(found, matchResourcesErrors(match, 'spec.matchResources'));
  return found;
}

const NOT_BOTH = 'name and selector are mutually exclusive';

/** The table columns of policies, with the number of their validations or mutations. */
export function policyColumns<Policy extends { readonly spec: { readonly paramKind?: ParamKind } }>(
  name: string,
  description: string,
  count: (policy: Policy) => number | undefined,
): Column<Policy>[] {
  return [
    nameColumn,
    countColumn<Policy>(name, description, (object) => count(object) ?? 0),
    textColumn<Policy>('ParamKind', 'The kind of its parameters.', ({ spec: { paramKind } }) => {
      if (paramKind === undefined) return '<unset>';
      return [paramKind.apiVersion ?? '', paramKind.kind ?? ''].filter(Boolean).join('/');
    }),
    ageColumn,
  ];
}

/** The table columns of bindings. */
export const bindingColumns: readonly Column<{ readonly spec: BindingSpec }>[] = [
  nameColumn,
  textColumn('PolicyName', 'The policy that it binds.', ({ spec }) => spec.policyName ?? ''),
  textColumn('ParamRef', 'The parameters of the policy.', ({ spec }) => paramRefCell(spec.paramRef)),
  ageColumn,
];

/** A name without a namespace is printed with `*`, because the scope of the parameter kind is not known here. */
function paramRefCell(ref: ParamRef | undefined): string {
  const { name = '', namespace = '', selector } = ref ?? {};
  if (name !== '') return `${namespace === '' ? '*' : namespace}/${name}`;
  return selector === undefined ? '<unset>' : goStringLabelSelector(selector);
}

function paramRefErrors(ref: ParamRef, path: string): FieldError[] {
  const { name = '', selector } = ref;
  const action: string = ref.parameterNotFoundAction ?? '';
  const found: FieldError[] = [];
  if (name !== '') {
    append(
      found,
      pathSegmentProblems(name).map((detail) => invalid(`${path}.name`, name, detail)),
    );
    if (selector !== undefined) found.push(forbidden(`${path}.name`, NOT_BOTH));
  }
  if (selector !== undefined) {
    append(found, labelSelectorObjectErrors(selector, `${path}.selector`));
    if (name !== '') found.push(forbidden(`${path}.selector`, NOT_BOTH));
  }
  if (name === '' && selector === undefined) found.push(required(path, 'one of name or selector must be specified'));
  const actionPath = `${path}.parameterNotFoundAction`;
  const known = ['Deny', 'Allow'];
  // The action has no default.
  if (action === '') found.push(required(actionPath));
  else append(found, valueErrors(actionPath, action, known));
  return found;
}

/** Rejects other operations. */
export function operationErrors({ resourceRules = [] }: MatchResources, path: string): FieldError[] {
  return resourceRules
    .flatMap(({ operations = [] }) => operations)
    .filter((operation) => !OPERATIONS.includes(operation))
    .map((operation) => notSupported(`${path}.resourceRules.operations`, operation, OPERATIONS));
}
