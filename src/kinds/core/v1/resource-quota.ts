/**
 * The ResourceQuota kind: limits for the total usage of a namespace. The quota admission plugin enforces it.
 * spec: ResourceQuota
 */

import { childPath, type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import { asSent } from '../../../schema/empty-values.js';
import { originalQuantityText } from '../../../schema/quantity-texts.js';
import { quote, stringSlice, type Verbatim, verbatim } from '../../../text/go/go-text.js';
import { own } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ResourceQuotaKind,
  type ResourceQuotaObject,
  type ResourceQuotaSpec,
  resourceQuotaBase,
  type ScopedResourceSelectorRequirement,
} from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { listReporter } from '../../shared/list-reporter.js';
import {
  isStandardQuotaResource,
  type ResourceList,
  roundResourceList,
  validateQuotaResourceName,
  validateResourceQuantity,
} from '../../shared/resources.js';
import { statusSubresource } from '../../shared/strategies.js';

export interface ResourceQuota extends ResourceQuotaObject {}

export const ResourceQuota: ResourceQuotaKind<ResourceQuota> = defineBuiltIn({
  ...resourceQuotaBase,
  names: { shortNames: ['quota'] },
  columns: [
    nameColumn,
    textColumn('Request', 'The usage and the hard limit of each resource except limits.', (object) =>
      usage(object, (name) => !name.startsWith('limits.')),
    ),
    textColumn('Limit', 'The usage and the hard limit of resource limits.', (object) =>
      usage(object, (name) => name.startsWith('limits.')),
    ),
    ageColumn,
  ],
  strategy: {
    delete: { returnDeletedObject: true },
    write: { separateStatus: true },
    decode: { defaults },
    create: { validate: (object, context) => specProblems(object, context) },
    update: { validate: (next, live, context) => [...specProblems(next, context), ...scopesChanged(next, live)] },
  },
  subresources: { status: statusSubresource({ validate: statusUpdateProblems }) },
});

function defaults(draft: ResourceQuota): void {
  const { spec, status } = draft;
  for (const list of [spec.hard, status.hard, status.used]) roundResourceList(list);
}

function specProblems(object: ResourceQuota, context: HookContext): FieldError[] {
  const { spec } = object;
  return [...amountProblems('spec.hard', spec.hard, context), ...scopeProblems(spec), ...scopeSelectorProblems(spec)];
}

function amountProblems(path: string, list: ResourceList = {}, context: HookContext): FieldError[] {
  return Object.keys(list)
    .sort()
    .flatMap((name) => {
      const at = keyPath(path, name);
      const amount = own(list, name) ?? '0';
      const quantityContext = { ...context, name, sent: originalQuantityText(list, name) };
      return [...validateQuotaResourceName(at, name), ...validateResourceQuantity(at, amount, quantityContext)];
    });
}

const SCOPES: readonly string[] = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'VolumeAttributesClass',
  'CrossNamespacePodAffinity',
];
const CLAIM_RESOURCES = ['persistentvolumeclaims', 'requests.storage'];
const CONFLICTS: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
/** Scopes by class name, whose selector has values. */
const CLASS_SCOPES: readonly string[] = ['PriorityClass', 'VolumeAttributesClass'];
const SCOPES_PATH = 'spec.scopes';

function scopeProblems({ hard, scopes = [] }: ResourceQuotaSpec): FieldError[] {
  const report = listReporter(SCOPES_PATH, () => goSyntaxScopes(scopes));
  const unsupportedBy = unsupportedResources(hard);
  const problems = scopes.flatMap((scope) => [
    ...(SCOPES.includes(scope) ? [] : report('unsupported scope')),
    ...unsupportedBy(scope).flatMap(() => report('unsupported scope applied to resource')),
  ]);
  return [
    ...problems,
    ...conflictsIn(scopes).map(() => invalid(SCOPES_PATH, goSyntaxScopes(scopes), 'conflicting scopes')),
  ];
}

/** The resources in `hard` that a scope does not support. BestEffort pods have no requests, so they can only be counted. */
function unsupportedResources(hard: ResourceList = {}): (scope: string) => readonly string[] {
  const standard = Object.keys(hard).filter(isStandardQuotaResource);
  const forBestEffort = standard.filter((name) => name !== 'pods');
  const forClaims = standard.filter((name) => !CLAIM_RESOURCES.includes(name));
  const forOthers = standard.filter((name) => !POD_RESOURCES.includes(name));
  return (scope) => {
    if (!SCOPES.includes(scope)) return [];
    if (scope === 'VolumeAttributesClass') return forClaims;
    return scope === 'BestEffort' ? forBestEffort : forOthers;
  };
}

const POD_RESOURCES = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];

function conflictsIn(scopes: readonly string[]): readonly (readonly [string, string])[] {
  return CONFLICTS.filter(([left, right]) => scopes.includes(left) && scopes.includes(right));
}

const EXPRESSIONS_PATH = 'spec.scopeSelector.matchExpressions';

/** As in the reference server, errors are reported at the list without an index. */
function scopeSelectorProblems({ hard, scopes, scopeSelector: selector }: ResourceQuotaSpec): FieldError[] {
  if (selector === undefined) return [];
  const { matchExpressions = [] } = selector;
  const report = listReporter(EXPRESSIONS_PATH, () => goSyntaxScopeSelector(matchExpressions));
  const unsupportedBy = unsupportedResources(hard);
  const problems = matchExpressions.flatMap((requirement) => [
    ...(SCOPES.includes(requirement.scopeName)
      ? []
      : [invalid(childPath(EXPRESSIONS_PATH, 'scopeName'), requirement.scopeName, 'unsupported scope')]),
    ...unsupportedBy(requirement.scopeName).flatMap(() => report('unsupported scope applied to resource')),
    ...operatorProblems(requirement),
  ]);
  const names = matchExpressions.map(({ scopeName }) => scopeName);
  const conflicts = conflictsIn(names).map(() =>
    invalid(EXPRESSIONS_PATH, goSyntaxScopes(scopes), 'conflicting scopes'),
  );
  return [...problems, ...conflicts];
}

const OPERATOR_DETAIL =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function operatorProblems({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement): FieldError[] {
  const [operatorPath, valuesPath] = [childPath(EXPRESSIONS_PATH, 'operator'), childPath(EXPRESSIONS_PATH, 'values')];
  const problems: FieldError[] = [];
  const hasValues = CLASS_SCOPES.includes(scopeName) || !SCOPES.includes(scopeName);
  if (!hasValues && operator !== 'Exists') problems.push(invalid(operatorPath, operator, OPERATOR_DETAIL));
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return problems;
      return [
        ...problems,
        required(valuesPath, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
      ];
    case 'Exists':
    case 'DoesNotExist': {
      if (values.length === 0) return problems;
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      return [...problems, invalid(valuesPath, stringSlice(values), detail)];
    }
    default:
      return [...problems, invalid(operatorPath, operator, 'not a valid selector operator')];
  }
}

function scopesChanged(next: ResourceQuota, live: ResourceQuota): FieldError[] {
  const [now, before] = [new Set(next.spec.scopes), new Set(live.spec.scopes)];
  if (now.size === before.size && [...now].every((scope) => before.has(scope))) return [];
  return [invalid(SCOPES_PATH, goSyntaxScopes(asSent(next.spec, 'scopes')), 'field is immutable')];
}

function statusUpdateProblems(next: ResourceQuota, _live: ResourceQuota, context: HookContext): readonly FieldError[] {
  const { status } = next;
  return [
    ...amountProblems('status.hard', status.hard, context),
    ...amountProblems('status.used', status.used, context),
  ];
}

/** Prints scopes as Go's `%#v`. */
function goSyntaxScopes(scopes: readonly string[] | undefined): Verbatim {
  const type = '[]core.ResourceQuotaScope';
  if (scopes === undefined) return verbatim(`${type}(nil)`);
  return verbatim(`${type}{${scopes.map(quote).join(', ')}}`);
}

function goSyntaxScopeSelector(expressions: readonly ScopedResourceSelectorRequirement[]): Verbatim {
  const type = 'core.ScopedResourceSelectorRequirement';
  const items = expressions.map(
    (requirement) =>
      `${type}{ScopeName:${quote(requirement.scopeName)}, Operator:${quote(requirement.operator)}, Values:${stringSlice(asSent(requirement, 'values')).verbatim}}`,
  );
  return verbatim(`core.ScopeSelector{MatchExpressions:[]${type}{${items.join(', ')}}}`);
}

/** `pods: 1/5, requests.cpu: 500m/2`: used and hard quantities of the selected resources. */
function usage(object: ResourceQuota, isSelected: (name: string) => boolean): string {
  const { hard = {}, used = {} } = object.status;
  return Object.keys(hard)
    .filter(isSelected)
    .sort()
    .map((name) => `${name}: ${own(used, name) ?? '0'}/${own(hard, name)}`)
    .join(', ');
}
