/**
 * The contract of matching: what a webhook, a policy or a binding says about the requests it wants to see, and what is
 * known when one of them is such a request. spec: Admission
 *
 * Names of groups are as clients see them, in the dialect of the cluster: that is how rules are written.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import type { GroupVersionKind, GroupVersionResource } from '../../meta/gvk.js';
import type { LabelSelectorObject } from '../../meta/labels.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AdmissionRequest, ClusterView } from '../types.js';

/** A RuleWithOperations, or a NamedRuleWithOperations. A list that is absent names nothing. */
export interface MatchRule {
  readonly operations?: readonly string[] | undefined;
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  /** `pods`, `pods/status`; either side of the slash may be a star. A name without a slash is the object itself. */
  readonly resources?: readonly string[] | undefined;
  /** `Cluster`, `Namespaced`, `*`; absent is `*`. */
  readonly scope?: string | undefined;
  /** Absent or empty: whatever the name. */
  readonly resourceNames?: readonly string[] | undefined;
}

/** What webhooks and MatchResources have in common. Both are taken as they are stored, defaults filled in. */
export interface MatchSelectors {
  /** Absent matches nothing, as everywhere; stored objects have the empty one, which matches everything. */
  readonly namespaceSelector?: LabelSelectorObject | undefined;
  readonly objectSelector?: LabelSelectorObject | undefined;
  /** `Equivalent`: rules for another version of the same objects count. Absent is `Exact`. */
  readonly matchPolicy?: string | undefined;
}

/** A webhook of a configuration. Without rules it matches nothing. */
export interface WebhookCriteria extends MatchSelectors {
  readonly rules?: readonly MatchRule[] | undefined;
}

/** A MatchResources of a policy or a binding. Without rules it matches everything that is not excluded. */
export interface MatchCriteria extends MatchSelectors {
  readonly resourceRules?: readonly MatchRule[] | undefined;
  readonly excludeResourceRules?: readonly MatchRule[] | undefined;
}

/** The parts of a request that matching looks at; the object may be one that was changed meanwhile. */
export type MatchedRequest = Pick<
  AdmissionRequest<DraftObject | ApiObject>,
  'operation' | 'served' | 'subresource' | 'namespace' | 'sentName' | 'object' | 'oldObject' | 'objectKind'
>;

/** The parts of the cluster that matching looks at. */
export type MatchView = Pick<ClusterView, 'namespace' | 'versionsOf'>;

/** In which version a request was matched: its object is to be shown in that one. */
export interface Match {
  /** The kind of the resource in that version; the request's own unless a rule names another version only. */
  readonly matched: ServedKind;
  /** Of the object in that version; below an object it may be another than that of `matched` (Scale, Eviction, …). */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
}
