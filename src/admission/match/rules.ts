/**
 * Rules of operations and resources, and selectors of labels: whether a request is what they describe.
 */
import { errors } from '../../meta/errors.js';
import type { GroupVersionResource } from '../../meta/gvk.js';
import {
  type LabelSelector,
  type LabelSelectorObject,
  type Labels,
  labelSelectorFromObject,
  matchesLabels,
} from '../../meta/labels.js';
import { isRecord } from '../../util/json.js';
import type { MatchedRequest, MatchRule, MatchView } from './types.js';

/** Whether a rule names the request, if its resource were called `resource`. */
export function ruleMatches(rule: MatchRule, request: MatchedRequest, resource: GroupVersionResource): boolean {
  return (
    scopeMatches(rule.scope, request, resource) &&
    names(rule.operations, request.operation) &&
    names(rule.apiGroups, resource.group) &&
    names(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((text) => resourceMatches(text, resource.resource, request.subresource))
  );
}

/** Rules of webhooks name no objects; an empty list names all of them. */
export function nameMatches({ resourceNames = [] }: MatchRule, request: MatchedRequest): boolean {
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

/** Selectors of stored objects are frozen, so that one is worked out once. */
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

function isEverything({ tests }: LabelSelector): boolean {
  return tests.length === 0;
}

/** Either the new object or the live one has the labels. */
export function objectSelected(given: LabelSelectorObject | undefined, request: MatchedRequest): boolean {
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
export function namespaceSelected(
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
