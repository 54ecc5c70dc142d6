/**
 * The contract of matching: the rules and selectors of webhooks, policies and bindings, and the result of a match.
 *
 * Group names are those that clients see (in the cluster's dialect), because rules are written with them.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import type { GroupVersionKind, GroupVersionResource } from '../../meta/gvk.js';
import type { LabelSelectorObject } from '../../meta/labels.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AdmissionRequest, ClusterView } from '../types.js';

/** A RuleWithOperations or NamedRuleWithOperations. An absent list matches nothing. */
export interface MatchRule {
  readonly operations?: readonly string[] | undefined;
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  /** `pods`, `pods/status`; either side of the slash may be `*`. Without a slash: the object itself. */
  readonly resources?: readonly string[] | undefined;
  /** `Cluster`, `Namespaced`, `*`; absent is `*`. */
  readonly scope?: string | undefined;
  /** Absent or empty: any name. */
  readonly resourceNames?: readonly string[] | undefined;
}

/** The common part of webhooks and MatchResources, as stored (with defaults). */
export interface MatchSelectors {
  /** Absent matches nothing; stored objects have the empty selector, which matches everything. */
  readonly namespaceSelector?: LabelSelectorObject | undefined;
  readonly objectSelector?: LabelSelectorObject | undefined;
  /** `Equivalent`: rules for other versions of the kind match as well. Absent means `Exact`. */
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

/** The parts of a request that matching reads; the object may be an intermediate result of mutation. */
export type MatchedRequest = Pick<
  AdmissionRequest<DraftObject | ApiObject>,
  'operation' | 'served' | 'subresource' | 'namespace' | 'sentName' | 'object' | 'oldObject' | 'objectKind'
>;

/** The parts of the cluster that matching reads. */
export type MatchView = Pick<ClusterView, 'namespace' | 'versionsOf'>;

/** The version in which a request matched; its objects are converted to it. */
export interface Match {
  /** The resource's kind in that version; differs from the requested one only with `Equivalent`. */
  readonly matched: ServedKind;
  /** The kind of the object in that version; for a subresource it may differ from `matched` (Scale, Eviction, …). */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
}
