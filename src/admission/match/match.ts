/**
 * Which requests a webhook, a policy or a binding sees, and in which version.
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

/** Selectors of stored objects are frozen, so that one is worked out once. */
const selectors = new WeakMap<LabelSelectorObject, LabelSelector>();

/**
 * Whether a webhook is to be called, as far as its rules and selectors say, and in which version it wants the object;
 * undefined: it is not. Throws the 404 of a namespace whose labels would have to be known.
 */
export function matchWebhook(webhook: WebhookCriteria, request: MatchedRequest, view: MatchView): Match | undefined {
  return selected(webhook, request, view, () => matchRules(webhook.rules ?? [], webhook, request, view));
}

/**
 * Whether a policy or a binding is about a request, as far as its match resources say; undefined: it is not. Throws the
 * 404 of a namespace whose labels would have to be known; to a policy that is an error of its configuration.
 */
export function matchResources(criteria: MatchCriteria, request: MatchedRequest, view: MatchView): Match | undefined {
  return selected(criteria, request, view, () => {
    const { resourceRules = [], excludeResourceRules = [] } = criteria;
    if (matchRules(excludeResourceRules, criteria, request, view) !== undefined) return undefined;
    return resourceRules.length === 0 ? asRequested(request) : matchRules(resourceRules, criteria, request, view);
  });
}

/** What a configuration must not be asked about itself: there would be no way back from a mistake. */
export function isNeverSentToWebhooks({ kind }: ServedKind): boolean {
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

/** Policies themselves, and questions about who somebody is and what he may do, are not for policies. */
export function isNeverSeenByPolicies({ kind }: ServedKind): boolean {
  return own(NOT_FOR_POLICIES, kind.group)?.includes(kind.names.plural) ?? false;
}

const NOT_FOR_POLICIES: Readonly<Record<string, readonly string[]>> = {
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

/** A namespace that is missing is no failure for those who would not have looked at the request in any case. */
function selected(
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

/** The first rule for the version of the request; else, if other versions count, the first rule for one of those. */
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
      if (fits(rule, other.gvr) && hasBelow(other, request.subresource)) return inVersion(other, request.subresource);
    }
  }
  return undefined;
}

function asRequested({ served, objectKind, subresource }: MatchedRequest): Match {
  return { matched: served, kind: objectKind, resource: served.gvr, subresource };
}

function inVersion(matched: ServedKind, subresource: string): Match {
  return { matched, kind: kindBelow(matched, subresource), resource: matched.gvr, subresource };
}

/** Another version is the same thing only if it has the same thing below its objects. */
function hasBelow({ kind }: ServedKind, subresource: string): boolean {
  if (subresource === '') return true;
  return (
    own(kind.subresources, subresource) !== undefined || own(kind.connectSubresources ?? {}, subresource) !== undefined
  );
}

/** The kind of what stands at a path below an object: a view or an action has one of its own. */
export function kindBelow(served: ServedKind, subresource: string): GroupVersionKind {
  const line = own(served.kind.connectSubresources ?? {}, subresource);
  if (line !== undefined) return { ...served.gvk, kind: line.optionsKind };
  const below: AnySubresource | undefined = own(served.kind.subresources, subresource);
  if (below === undefined || below.type === undefined) return served.gvk;
  const { group, version, kind } = below.kind;
  return { group: served.dialect.group(group), version, kind };
}

/** Whether a rule names the request, if its resource were called `resource`. */
function ruleMatches(rule: MatchRule, request: MatchedRequest, resource: GroupVersionResource): boolean {
  return (
    scopeMatches(rule.scope, request, resource) &&
    names(rule.operations, request.operation) &&
    names(rule.apiGroups, resource.group) &&
    names(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((text) => resourceMatches(text, resource.resource, request.subresource))
  );
}

/** Rules of webhooks name no objects; an empty list names all of them. */
function nameMatches({ resourceNames = [] }: MatchRule, request: MatchedRequest): boolean {
  return resourceNames.length === 0 || resourceNames.includes(request.sentName);
}

/** A namespace counts as an object outside of all namespaces, though its requests name one: itself. */
function scopeMatches(scope: string | undefined, { namespace }: MatchedRequest, resource: GroupVersionResource) {
  if (scope === undefined || scope === '*') return true;
  const { group, version } = resource;
  const isNamespace = group === '' && version === 'v1' && resource.resource === 'namespaces';
  const isNamespaced = !isNamespace && namespace !== '';
  if (scope === 'Namespaced') return isNamespaced;
  return scope === 'Cluster' && !isNamespaced;
}

function names(list: readonly string[] | undefined, value: string): boolean {
  return list?.some((item) => item === '*' || item === value) ?? false;
}

function resourceMatches(text: string, resource: string, subresource: string): boolean {
  const slash = text.indexOf('/');
  const main = slash < 0 ? text : text.slice(0, slash);
  const below = slash < 0 ? '' : text.slice(slash + 1);
  return (main === '*' || main === resource) && (below === '*' || below === subresource);
}

function selectorOf(object: LabelSelectorObject | undefined): LabelSelector {
  if (object === undefined) return labelSelectorFromObject(undefined);
  let selector = selectors.get(object);
  if (selector === undefined) {
    selector = labelSelectorFromObject(object);
    if (Object.isFrozen(object)) selectors.set(object, selector);
  }
  return selector;
}

function isEverything({ tests }: LabelSelector): boolean {
  return tests.length === 0;
}

/** Either the new object or the live one has the labels. */
function objectSelected(given: LabelSelectorObject | undefined, request: MatchedRequest): boolean {
  const selector = selectorOf(given);
  if (isEverything(selector)) return true;
  return hasLabels(request.object, selector) || hasLabels(request.oldObject, selector);
}

/** What has no metadata (the options of a line) has no labels either, and no selector matches it. */
function hasLabels(object: { readonly metadata?: unknown } | undefined, selector: LabelSelector): boolean {
  const metadata = object?.metadata;
  return isRecord(metadata) && matchesLabels(selector, metadata['labels'] as Labels | undefined);
}

/**
 * Whether the namespace has the labels; or, where there is no such namespace, the 404 that is to be thrown if the request
 * is one that was to be seen otherwise.
 */
function namespaceSelected(
  given: LabelSelectorObject | undefined,
  request: MatchedRequest,
  view: MatchView,
): boolean | Error {
  const { namespace, operation, subresource, object } = request;
  // Any resource of that name, in whatever group: the reference server looks at nothing else here.
  const isNamespace = request.served.gvr.resource === 'namespaces';
  if (namespace === '' && !isNamespace) return true;
  const selector = selectorOf(given);
  if (isEverything(selector)) return true;
  if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
    return hasLabels(object, selector);
  }
  const found = view.namespace(namespace);
  if (found === undefined) return errors.notFound({ group: '', resource: 'namespaces' }, namespace);
  return hasLabels(found, selector);
}

/** A namespace is in none, though its requests name one: itself. Throws the 404 of one that is missing. */
export function namespaceOf({ namespace, objectKind }: MatchedRequest, view: MatchView): ApiObject | undefined {
  const { group, version, kind } = objectKind;
  if (namespace === '' || (group === '' && version === 'v1' && kind === 'Namespace')) return undefined;
  const found = view.namespace(namespace);
  if (found === undefined) throw errors.notFound({ group: '', resource: 'namespaces' }, namespace);
  return found;
}
