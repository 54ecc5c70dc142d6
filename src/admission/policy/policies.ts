/**
 * The policies of a cluster that are put to use by a binding. Worked out again when one of them has changed; where there
 * are none, asking costs two look-ups.
 */

import type { ValidatingAdmissionPolicyBindingSpec } from '../../kinds/admissionregistration/v1/validating-admission-policy-binding.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { DeepReadonly } from '../../meta/object.js';
import type { ClusterView } from '../types.js';
import type { PolicySpec } from './compiled-policy.js';
import { readOncePerChange } from './known-policies.js';

export interface BoundPolicy {
  readonly name: string;
  readonly spec: PolicySpec;
  /** At least one, by their names. */
  readonly bindings: readonly Binding[];
}

export interface Binding {
  readonly name: string;
  readonly spec: DeepReadonly<ValidatingAdmissionPolicyBindingSpec>;
}

const GROUP = serviceGroup('admissionregistration');
const POLICIES = { group: GROUP, resource: 'validatingadmissionpolicies' };
export const BINDINGS = { group: GROUP, resource: 'validatingadmissionpolicybindings' };

type PolicyView = Pick<ClusterView, 'changes' | 'list'>;

/** By their names. */
export function boundPolicies(view: PolicyView): readonly BoundPolicy[] {
  return knownPolicies(view);
}

function readPolicies(view: PolicyView): readonly BoundPolicy[] {
  const bindingsOf = new Map<string, Binding[]>();
  for (const binding of view.list(BINDINGS) as readonly unknown[] as readonly StoredBinding[]) {
    const { policyName = '' } = binding.spec;
    const bindings = bindingsOf.get(policyName) ?? [];
    bindings.push({ name: binding.metadata.name, spec: binding.spec });
    bindingsOf.set(policyName, bindings);
  }
  if (bindingsOf.size === 0) return [];
  return (view.list(POLICIES) as readonly unknown[] as readonly StoredPolicy[]).flatMap(({ metadata, spec }) => {
    const bindings = bindingsOf.get(metadata.name);
    return bindings === undefined ? [] : [{ name: metadata.name, spec, bindings }];
  });
}

interface StoredPolicy {
  readonly metadata: { readonly name: string };
  readonly spec: PolicySpec;
}

interface StoredBinding {
  readonly metadata: { readonly name: string };
  readonly spec: Binding['spec'];
}

const knownPolicies = readOncePerChange({ policies: POLICIES, bindings: BINDINGS }, readPolicies);
