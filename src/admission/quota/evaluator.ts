/**
 * The contract of measuring: what quotas need to know about the objects of one resource. Pure: whoever keeps count of
 * what a namespace uses asks the same questions as who lets writes in.
 */
import type { ScopedResourceSelectorRequirement } from '../../kinds/core/v1/resource-quota.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import type { Amounts } from '../plugins/pod-amounts.js';
import type { AdmissionRequest } from '../types.js';

/** What measuring depends on besides the object. A ClusterView is one. */
export interface Terms {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  readonly clock: { now(): number };
}

/** What a write is about, as far as it tells whether more may be used afterwards. */
export type MeasuredWrite = Pick<AdmissionRequest, 'operation' | 'subresource' | 'object' | 'oldObject'>;

export interface Evaluator {
  /** Those of the names in a quota that it measures. */
  measured(names: readonly string[], terms: Terms): readonly string[];
  /** Whether a create or update can change what is used. */
  handles(write: MeasuredWrite, terms: Terms): boolean;
  /**
   * Whether a change of an object is a reason to count anew, because it may have given something back. What it takes in
   * addition is charged when it is written. Absent: no change is.
   */
  givesBack?(before: ApiObject, after: ApiObject, terms: Terms): boolean;
  /** How much of everything an object uses. */
  usageOf(object: ApiObject, terms: Terms): Amounts;
  /** What an object leaves unsaid although a quota on these names wants it said, in words. Absent: nothing ever. */
  unsaid?(names: readonly string[], object: ApiObject, terms: Terms): string | undefined;
  /** Whether an object is in a scope. Throws {@link ScopeError}. Absent: objects of this resource are in none. */
  isInScope?(requirement: ScopedResourceSelectorRequirement, object: ApiObject, terms: Terms): boolean;
}

/** How the objects of one resource are measured. */
export interface Measure {
  readonly evaluator: Evaluator;
  readonly terms: Terms;
}

/** A scope of a quota that nothing can be compared with: such quotas can be written, but not used. */
export class ScopeError extends Error {
  override readonly name = 'ScopeError';
}
