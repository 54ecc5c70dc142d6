/**
 * What a quota's status should say, from the objects that there are. For who keeps count of what is used; admission
 * itself only adds to it.
 */
import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { own, setOwn } from '../../util/json.js';
import { type Amounts, addAmounts, readAmounts } from '../plugins/pod-amounts.js';
import { pick, toResourceList } from './arithmetic.js';
import { type Measure, ScopeError, type Terms } from './evaluator.js';
import { evaluatorFor } from './evaluators.js';
import { isInScopes } from './scopes.js';

/** All objects of one resource in the namespace of a quota. */
export interface CountedObjects {
  /** The group is spelt as clients see it. */
  readonly resource: GroupResource;
  readonly objects: Iterable<ApiObject>;
}

/** How much of everything one object uses, under the names of quotas. */
export function usageOf(object: ApiObject, resource: GroupResource, terms: Terms): Amounts {
  return evaluatorFor(resource, terms).usageOf(object, terms);
}

/** Whether what a quota is on has anything to do with a resource: who counts need not list the others. */
export function isAbout(quota: ResourceQuota, resource: GroupResource, terms: Terms): boolean {
  return evaluatorFor(resource, terms).measured(Object.keys(quota.spec.hard ?? {}), terms).length > 0;
}

/**
 * `hard` is what the spec says now. A name that none of the given resources measures keeps what was written down for it.
 * Objects that no quota ever counts (events, reviews) must not be among those given.
 */
export function recalculate(
  quota: ResourceQuota,
  counted: Iterable<CountedObjects>,
  terms: Terms,
): { readonly hard: ResourceList; readonly used: ResourceList } {
  const hard = readAmounts(quota.spec.hard);
  const names = [...hard.keys()];
  const total = new Map<string, Quantity>();
  for (const { resource, objects } of counted) {
    const measure: Measure = { evaluator: evaluatorFor(resource, terms), terms };
    const measured = measure.evaluator.measured(names, terms);
    if (measured.length === 0) continue;
    for (const name of measured) if (!total.has(name)) total.set(name, Quantity.zero);
    for (const object of objects) {
      if (isCountedBy(quota, object, measure)) addAmounts(total, measure.evaluator.usageOf(object, terms));
    }
  }
  const used = toResourceList(pick(total, names));
  const kept: Record<string, string> = {};
  for (const name of names.sort()) {
    const amount = own(used, name) ?? own(quota.status.used ?? {}, name);
    if (amount !== undefined) setOwn(kept, name, amount);
  }
  return { hard: toResourceList(hard), used: kept };
}

function isCountedBy(quota: ResourceQuota, object: ApiObject, measure: Measure): boolean {
  try {
    return isInScopes(quota, object, measure);
  } catch (error) {
    // A scope that cannot be used has nothing in it.
    if (error instanceof ScopeError) return false;
    throw error;
  }
}
