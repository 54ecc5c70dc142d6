/**
 * Decides which requests a webhook, a policy or a binding matches, and in which version.
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import type { AnySubresource } from '../../kinds/subresource.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { GroupVersionKind, GroupVersionResource } from '../../meta/gvk.js';
import {
  type LabelSelector,
  type LabelSelectorObject,
  type Labels,
  labelSelectorFromObject,
  matchesLabels,
} from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { isRecord, own } from '../../util/json.js';
import type {
  Match,
  MatchCriteria,
  MatchedRequest,
  MatchRule,
  MatchSelectors,
  MatchView,
  WebhookCriteria,
} from './types.js';

/**
 * Matches a request against the rules and selectors of a webhook. Returns the version that the webhook receives, or
 * undefined if it does not match. Throws 404 if the namespace whose labels are needed does not exist.
 */
export function matchWebhook(webhook: WebhookCriteria, request: MatchedRequest, view: MatchView): Match | undefined {
  return matchSelected(webhook, request, view, () => matchRules(webhook.rules ?? [], webhook, request, view));
}

/**
 * Matches a request against the match resources of a policy or a binding. Undefined: no match. Throws 404 if the
 * namespace whose labels are needed does not exist; policies treat that as a configuration error.
 */
export function matchResources(criteria: MatchCriteria, request: MatchedRequest, view: MatchView): Match | undefined {
  return matchSelected(criteria, request, view, () => {
    const { resourceRules = [], excludeResourceRules = [] } = criteria;
    if (matchRules(excludeResourceRules, criteria, request, view) !== undefined) return undefined;
    return resourceRules.length === 0 ? asRequested(request) : matchRules(resourceRules, criteria, request, view);
  });
}

/** Webhook configurations and policies are never sent to webhooks: a broken webhook could not be repaired otherwise. */
export function isExemptFromWebhooks({ kind }: ServedKind): boolean {
  return kind.group === serviceGroup('admissionregistration') && CONFIGURATIONS.has(kind.kind);
}

const CONFIGURATIONS: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** Policies do not apply to policies, nor to authentication and authorization reviews. */
export function isExemptFromPolicies({ kind }: ServedKind): boolean {
  return own(EXEMPT_FROM_POLICIES, kind.group)?.includes(kind.names.plural) ?? false;
}

const EXEMPT_FROM_POLICIES: Readonly<Record<string, readonly string[]>> = {
  [serviceGroup('admissionregistration')]: [
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ],
  [serviceGroup('authentication')]: ['selfsubjectreviews', 'tokenreviews'],
  [serviceGroup('authorization')]: [
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ],
};

/** Reports a missing namespace only if the request matches in every other respect. */
function matchSelected(
  selectors: MatchSelectors,
  request: MatchedRequest,
  view: MatchView,
  match: () => Match | undefined,
): Match | undefined {
  const byNamespace = namespaceSelected(selectors.namespaceSelector, request, view);
  if (byNamespace === false) return undefined;
  if (!objectSelected(selectors.objectSelector, request)) return undefined;
  const found = match();
  if (found !== undefined && byNamespace !== true) throw byNamespace;
  return found;
}

/** The first rule for the requested version; with `Equivalent`, else the first rule for another served version. */
function matchRules(
  rules: readonly MatchRule[],
  { matchPolicy }: MatchSelectors,
  request: MatchedRequest,
  view: MatchView,
): Match | undefined {
  const { gvr } = request.served;
  const fits = (rule: MatchRule, resource = gvr) => ruleMatches(rule, request, resource) && nameMatches(rule, request);
  if (rules.some((rule) => fits(rule))) return asRequested(request);
  if (matchPolicy !== 'Equivalent' || rules.length === 0) return undefined;
  const others = view.versionsOf(request.served).filter((other) => other !== request.served);
  for (const rule of rules) {
    for (const other of others) {
      if (fits(rule, other.gvr) && hasSubresource(other, request.subresource))
        return matchInVersion(other, request.subresource);
    }
  }
  return undefined;
}

function asRequested({ served, objectKind, subresource }: MatchedRequest): Match {
  return { matched: served, kind: objectKind, resource: served.gvr, subresource };
}

function matchInVersion(matched: ServedKind, subresource: string): Match {
  return { matched, kind: subresourceGvk(matched, subresource), resource: matched.gvr, subresource };
}

/** Another version is equivalent only if it has the same subresource. */
function hasSubresource({ kind }: ServedKind, subresource: string): boolean {
  if (subresource === '') return true;
  return (
    own(kind.subresources, subresource) !== undefined || own(kind.connectSubresources ?? {}, subresource) !== undefined
  );
}

/** The kind of a subresource's objects: connect subresources and some others have their own. */
export function subresourceGvk(served: ServedKind, subresource: string): GroupVersionKind {
  const connectSubresource = own(served.kind.connectSubresources ?? {}, subresource);
  if (connectSubresource !== undefined) return { ...served.gvk, kind: connectSubresource.optionsKind };
  const below: AnySubresource | undefined = own(served.kind.subresources, subresource);
  if (below === undefined || below.type === undefined) return served.gvk;
  const { group, version, kind } = below.kind;
  return { group: served.dialect.group(group), version, kind };
}

/** Whether a rule matches the request when its resource is called `resource`. */
function ruleMatches(rule: MatchRule, request: MatchedRequest, resource: GroupVersionResource): boolean {
  return (
    scopeMatches(rule.scope, request, resource) &&
    includesOrWildcard(rule.operations, request.operation) &&
    includesOrWildcard(rule.apiGroups, resource.group) &&
    includesOrWildcard(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((text) => resourceMatches(text, resource.resource, request.subresource))
  );
}

/** Webhook rules have no resourceNames; an empty list matches every name. */
function nameMatches({ resourceNames = [] }: MatchRule, request: MatchedRequest): boolean {
  return resourceNames.length === 0 || resourceNames.includes(request.sentName);
}

/** A namespace is cluster-scoped, although its requests carry its own name as the namespace. */
function scopeMatches(scope: string | undefined, { namespace }: MatchedRequest, resource: GroupVersionResource) {
  if (scope === undefined || scope === '*') return true;
  const { group, version } = resource;
  const isNamespace = group === '' && version === 'v1' && resource.resource === 'namespaces';
  const isNamespaced = !isNamespace && namespace !== '';
  if (scope === 'Namespaced') return isNamespaced;
  return scope === 'Cluster' && !isNamespaced;
}

function includesOrWildcard(list: readonly string[] | undefined, value: string): boolean {
  return list?.some((item) => item === '*' || item === value) ?? false;
}

function resourceMatches(text: string, resource: string, subresource: string): boolean {
  const slash = text.indexOf('/');
  const main = slash < 0 ? text : text.slice(0, slash);
  const below = slash < 0 ? '' : text.slice(slash + 1);
  return (main === '*' || main === resource) && (below === '*' || below === subresource);
}

/** Selectors of stored objects are frozen, so each is parsed once. */
const selectors = new WeakMap<LabelSelectorObject, LabelSelector>();

function selectorOf(object: LabelSelectorObject | undefined): LabelSelector {
  if (object === undefined) return labelSelectorFromObject(undefined);
  let selector = selectors.get(object);
  if (selector === undefined) {
    selector = labelSelectorFromObject(object);
    if (Object.isFrozen(object)) selectors.set(object, selector);
  }
  return selector;
}

function matchesEverything({ tests }: LabelSelector): boolean {
  return tests.length === 0;
}

/** Matches if either the new object or the live one has the labels. */
function objectSelected(given: LabelSelectorObject | undefined, request: MatchedRequest): boolean {
  const selector = selectorOf(given);
  if (matchesEverything(selector)) return true;
  return labelsMatch(request.object, selector) || labelsMatch(request.oldObject, selector);
}

/** An object without metadata (connect options) has no labels and is never selected. */
function labelsMatch(object: { readonly metadata?: unknown } | undefined, selector: LabelSelector): boolean {
  const metadata = object?.metadata;
  return isRecord(metadata) && matchesLabels(selector, metadata['labels'] as Labels | undefined);
}

/**
 * Whether the namespace has the labels. For a missing namespace, the 404 to throw if the request matches otherwise.
 */
function namespaceSelected(
  given: LabelSelectorObject | undefined,
  request: MatchedRequest,
  view: MatchView,
): boolean | Error {
  const { namespace, operation, subresource, object } = request;
  // As in the reference server, the group is not compared.
  // upstream: apiserver/pkg/admission/plugin/webhook/predicates/namespace/matcher.go Matcher.MatchNamespaceSelector
  const isNamespace = request.served.gvr.resource === 'namespaces';
  if (namespace === '' && !isNamespace) return true;
  const selector = selectorOf(given);
  if (matchesEverything(selector)) return true;
  if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
    return labelsMatch(object, selector);
  }
  const found = view.namespace(namespace);
  if (found === undefined) return errors.notFound({ group: '', resource: 'namespaces' }, namespace);
  return labelsMatch(found, selector);
}

/** The namespace of a request; undefined for cluster-scoped objects and namespaces. Throws 404 if it is missing. */
export function namespaceOf({ namespace, objectKind }: MatchedRequest, view: MatchView): ApiObject | undefined {
  const { group, version, kind } = objectKind;
  if (namespace === '' || (group === '' && version === 'v1' && kind === 'Namespace')) return undefined;
  const found = view.namespace(namespace);
  if (found === undefined) throw errors.notFound({ group: '', resource: 'namespaces' }, namespace);
  return found;
}
