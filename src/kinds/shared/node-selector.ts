/**
 * Validation of node selectors, node affinity and pod affinity, for Pods and volumes. Matching is not part of this file.
 * The plain `nodeSelector` of a Pod is a map of labels and is validated as labels.
 */

import { childPath, type FieldError, forbidden, invalid, keyPath, required } from '../../meta/field-error.js';
import type { LabelSelectorExpression, LabelSelectorObject } from '../../meta/labels.js';
import { labelSelectorObjectErrors } from '../../meta/labels.js';
import { dnsLabelProblems, dnsSubdomainProblems, labelValueProblems, qualifiedNameProblems } from '../../meta/names.js';
import { append } from '../../util/arrays.js';

export interface NodeSelector {
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] | undefined;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[] | undefined;
  readonly matchFields?: readonly NodeSelectorRequirement[] | undefined;
}

export interface NodeSelectorRequirement {
  readonly key?: string | undefined;
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt` when valid. */
  readonly operator?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

export interface PreferredSchedulingTerm {
  readonly weight?: number | undefined;
  readonly preference?: NodeSelectorTerm | undefined;
}

export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector | undefined;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[] | undefined;
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelectorObject | undefined;
  readonly namespaceSelector?: LabelSelectorObject | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly topologyKey?: string | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly mismatchLabelKeys?: readonly string[] | undefined;
}

export interface WeightedPodAffinityTerm {
  readonly weight?: number | undefined;
  readonly podAffinityTerm?: PodAffinityTerm | undefined;
}

/** Also used for anti-affinity. */
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | undefined;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[] | undefined;
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity | undefined;
  readonly podAffinity?: PodAffinity | undefined;
  readonly podAntiAffinity?: PodAffinity | undefined;
}

/** Relaxations for updates of objects that already have invalid values. */
export interface NodeSelectorOptions {
  /** Accept values of required node selector terms that are invalid label values. */
  readonly allowInvalidNodeValues?: boolean | undefined;
}

export interface PodAffinityOptions {
  /** Accept values in label selectors that are invalid label values. */
  readonly allowInvalidSelectorValues?: boolean | undefined;
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Validates a Pod's `affinity`. */
export function validateAffinity(
  path: string,
  affinity: Affinity,
  options: NodeSelectorOptions & PodAffinityOptions = {},
): FieldError[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  return [
    ...validateNodeAffinity(childPath(path, 'nodeAffinity'), nodeAffinity ?? {}, options),
    ...validatePodAffinity(childPath(path, 'podAffinity'), podAffinity ?? {}, options),
    ...validatePodAffinity(childPath(path, 'podAntiAffinity'), podAntiAffinity ?? {}, options),
  ];
}

/** Validates the node affinity of a Pod. */
export function validateNodeAffinity(
  path: string,
  affinity: NodeAffinity,
  options: NodeSelectorOptions = {},
): FieldError[] {
  const { [REQUIRED]: selector, [PREFERRED]: terms = [] } = affinity;
  return [
    ...(selector === undefined ? [] : validateNodeSelector(childPath(path, REQUIRED), selector, options)),
    ...validatePreferredSchedulingTerms(childPath(path, PREFERRED), terms),
  ];
}

/** At least one term is required. A term without requirements is valid and matches nothing. */
export function validateNodeSelector(
  path: string,
  selector: NodeSelector,
  options: NodeSelectorOptions = {},
): FieldError[] {
  const terms = selector.nodeSelectorTerms ?? [];
  const at = childPath(path, 'nodeSelectorTerms');
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return terms.flatMap((term, index) => validateNodeSelectorTerm(keyPath(at, index), term, options));
}

/** Validates one term of a node selector. */
export function validateNodeSelectorTerm(
  path: string,
  term: NodeSelectorTerm,
  options: NodeSelectorOptions = {},
): FieldError[] {
  const { matchExpressions = [], matchFields = [] } = term;
  const [expressionsPath, fieldsPath] = [childPath(path, 'matchExpressions'), childPath(path, 'matchFields')];
  return [
    ...matchExpressions.flatMap((one, index) => validateExpression(keyPath(expressionsPath, index), one, options)),
    ...matchFields.flatMap((one, index) => validateField(keyPath(fieldsPath, index), one)),
  ];
}

/** As in the reference server, preferred terms accept invalid label values. */
export function validatePreferredSchedulingTerms(
  path: string,
  terms: readonly PreferredSchedulingTerm[],
): FieldError[] {
  return terms.flatMap(({ weight, preference = {} }, index) => [
    ...validateWeight(childPath(keyPath(path, index), 'weight'), weight),
    ...validateNodeSelectorTerm(childPath(keyPath(path, index), 'preference'), preference, {
      allowInvalidNodeValues: true,
    }),
  ]);
}

/** Validates `podAffinity` or `podAntiAffinity`. */
export function validatePodAffinity(
  path: string,
  affinity: PodAffinity,
  options: PodAffinityOptions = {},
): FieldError[] {
  const { [REQUIRED]: terms = [], [PREFERRED]: weighted = [] } = affinity;
  const [termsPath, weightedPath] = [childPath(path, REQUIRED), childPath(path, PREFERRED)];
  return [
    ...terms.flatMap((term, index) => validatePodAffinityTerm(keyPath(termsPath, index), term, options)),
    ...weighted.flatMap(({ weight, podAffinityTerm = {} }, index) => [
      ...validateWeight(childPath(keyPath(weightedPath, index), 'weight'), weight),
      ...validatePodAffinityTerm(childPath(keyPath(weightedPath, index), 'podAffinityTerm'), podAffinityTerm, options),
    ]),
  ];
}

/** Validates one term. For Pods, {@link withLabelKeys} has been applied to it before. */
export function validatePodAffinityTerm(
  path: string,
  term: PodAffinityTerm,
  options: PodAffinityOptions = {},
): FieldError[] {
  const { labelSelector = {}, namespaceSelector = {}, namespaces = [], topologyKey = '' } = term;
  const selectorOptions = { allowInvalidValues: options.allowInvalidSelectorValues === true };
  const topologyPath = childPath(path, 'topologyKey');
  return [
    ...labelSelectorObjectErrors(labelSelector, childPath(path, 'labelSelector'), selectorOptions),
    ...labelSelectorObjectErrors(namespaceSelector, childPath(path, 'namespaceSelector'), selectorOptions),
    // The reference server reports these at `namespace`, without an index.
    ...namespaces.flatMap((name) =>
      dnsLabelProblems(name).map((problem) => invalid(childPath(path, 'namespace'), name, problem)),
    ),
    ...validateLabelKeys(path, term),
    ...(topologyKey === '' ? [required(topologyPath, 'can not be empty')] : []),
    ...qualifiedNameProblems(topologyKey).map((problem) => invalid(topologyPath, topologyKey, problem)),
  ];
}

/**
 * Converts `matchLabelKeys` and `mismatchLabelKeys` of a term into label selector expressions, with the values of the
 * Pod's labels. This is done when a Pod is created; templates keep the keys. Keys that the Pod lacks add nothing.
 */
export function withLabelKeys<T extends PodAffinityTerm>(term: T, labels: Readonly<Record<string, string>>): T {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const added = [
    ...expressionsFrom(matchLabelKeys, 'In', labels),
    ...expressionsFrom(mismatchLabelKeys, 'NotIn', labels),
  ];
  // An absent selector matches no Pod; adding expressions would make it match some.
  if (labelSelector === undefined || added.length === 0) return term;
  const matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added];
  return { ...term, labelSelector: { ...labelSelector, matchExpressions } };
}

function expressionsFrom(
  keys: readonly string[],
  operator: string,
  labels: Readonly<Record<string, string>>,
): LabelSelectorExpression[] {
  return keys.flatMap((key) => (Object.hasOwn(labels, key) ? [{ key, operator, values: [labels[key] ?? ''] }] : []));
}

function validateExpression(
  path: string,
  requirement: NodeSelectorRequirement,
  options: NodeSelectorOptions,
): FieldError[] {
  const { key = '', values = [] } = requirement;
  const found = validateOperator(path, requirement);
  append(
    found,
    qualifiedNameProblems(key).map((problem) => invalid(childPath(path, 'key'), key, problem)),
  );
  if (options.allowInvalidNodeValues === true) return found;
  for (const [index, value] of values.entries()) {
    const at = keyPath(childPath(path, 'values'), index);
    append(
      found,
      labelValueProblems(value).map((problem) => invalid(at, value, problem)),
    );
  }
  return found;
}

/** Validates the operator and its number of values. */
function validateOperator(path: string, { operator = '', values = [] }: NodeSelectorRequirement): FieldError[] {
  const at = childPath(path, 'values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(at, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      // Whether the value is a number is checked by the scheduler only.
      if (values.length === 1) return [];
      return [required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalidOperator(path, operator)];
  }
}

/** Field requirements support only `metadata.name`, with `In` or `NotIn` and one value. */
function validateField(path: string, requirement: NodeSelectorRequirement): FieldError[] {
  const { key = '', operator = '', values = [] } = requirement;
  const valuesPath = childPath(path, 'values');
  const found: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    found.push(invalidOperator(path, operator));
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    found.push(required(valuesPath, detail));
  }
  if (key !== 'metadata.name') {
    found.push(invalid(childPath(path, 'key'), key, 'not a valid field selector key'));
    return found;
  }
  for (const [index, value] of values.entries()) {
    append(
      found,
      dnsSubdomainProblems(value).map((problem) => invalid(keyPath(valuesPath, index), value, problem)),
    );
  }
  return found;
}

function invalidOperator(path: string, operator: string): FieldError {
  return invalid(childPath(path, 'operator'), operator, 'not a valid selector operator');
}

/** An absent weight counts as 0, which is invalid. */
function validateWeight(path: string, weight = 0): FieldError[] {
  return weight >= 1 && weight <= 100 ? [] : [invalid(path, weight, 'must be in the range 1-100')];
}

function validateLabelKeys(path: string, term: PodAffinityTerm): FieldError[] {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const matchPath = childPath(path, 'matchLabelKeys');
  const found = [
    ...validateKeyNames(matchPath, matchLabelKeys, labelSelector),
    ...validateKeyNames(childPath(path, 'mismatchLabelKeys'), mismatchLabelKeys, labelSelector),
  ];
  // The selector already has an expression for each of matchLabelKeys. An earlier occurrence of the key was written by
  // the client and is a duplicate. As in the reference server, the path is the term with the key's index.
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  const lastIndex = new Map(matchLabelKeys.map((key, index) => [key, index]));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const index = lastIndex.get(key);
    if (index !== undefined && selected.has(key)) {
      found.push(invalid(keyPath(path, index), key, 'exists in both matchLabelKeys and labelSelector'));
    }
    selected.add(key);
  }
  const mismatched = new Set(mismatchLabelKeys);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatched.has(key)) continue;
    found.push(invalid(keyPath(matchPath, index), key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
  }
  return found;
}

function validateKeyNames(
  path: string,
  keys: readonly string[],
  labelSelector: LabelSelectorObject | undefined,
): FieldError[] {
  if (keys.length === 0) return [];
  if (labelSelector === undefined) return [forbidden(path, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, index) =>
    qualifiedNameProblems(key).map((problem) => invalid(keyPath(path, index), key, problem)),
  );
}
