/**
 * Which requests a webhook, a policy or a binding sees, and in which version.
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import type { AnySubresource } from '../../kinds/subresource.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupVersionKind } from '../../meta/gvk.js';
import { own } from '../../util/json.js';
import { nameMatches, namespaceSelected, objectSelected, ruleMatches } from './rules.js';
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
  return own(kind.subresources, subresource) !== undefined || own(kind.connections ?? {}, subresource) !== undefined;
}

/** The kind of what stands at a path below an object: a view or an action has one of its own. */
export function kindBelow(served: ServedKind, subresource: string): GroupVersionKind {
  const line = own(served.kind.connections ?? {}, subresource);
  if (line !== undefined) return { ...served.gvk, kind: line.optionsKind };
  const below: AnySubresource | undefined = own(served.kind.subresources, subresource);
  if (below === undefined || below.type === undefined) return served.gvk;
  const { group, version, kind } = below.kind;
  return { group: served.dialect.group(group), version, kind };
}
