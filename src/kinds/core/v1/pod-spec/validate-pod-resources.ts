/**
 * The rules of resources that all containers of a pod share.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, notSupported } from '../../../../meta/field-error.js';
import { Quantity } from '../../../../meta/quantity.js';
import { own } from '../../../../util/json.js';
import { isHugePages, validateResourceRequirements } from '../../../shared/resources.js';
import type { PodSpec } from './pod-spec.js';
import type { PodRules } from './rules.js';

const SUPPORTED = ['cpu', 'hugepages-', 'memory'];

/** The rules of `spec.resources`, where pods may have them. */
export function podResourcesProblems(path: string, spec: PodSpec, about: PodRules): FieldError[] {
  const { resources } = spec;
  if (resources === undefined || !about.features.enabled('PodLevelResources')) return [];
  const { claims = [] } = resources;
  return [
    ...(claims.length === 0
      ? []
      : [forbidden(childPath(path, 'claims'), 'claims may not be set for Resources at pod-level')]),
    ...validateResourceRequirements(path, { limits: resources.limits, requests: resources.requests }, about),
    ...kindProblems(path, resources),
    ...sumProblems(path, spec),
  ];
}

type Lists = NonNullable<PodSpec['resources']>;

function kindProblems(path: string, resources: Lists): FieldError[] {
  return (['limits', 'requests'] as const).flatMap((field) =>
    Object.keys(resources[field] ?? {})
      .filter((name) => name !== 'cpu' && name !== 'memory' && !isHugePages(name))
      .map((name) => notSupported(keyPath(childPath(path, field), name), name, SUPPORTED)),
  );
}

/** The containers together may not ask for more than the pod does. */
function sumProblems(path: string, spec: PodSpec): FieldError[] {
  const requests = spec.resources?.requests ?? {};
  return Object.keys(requests).flatMap((name) => {
    const asked = own(requests, name) ?? '0';
    let sum = Quantity.parse('0');
    for (const { resources } of spec.containers ?? []) {
      sum = sum.add(Quantity.parse(own(resources.requests ?? {}, name) ?? '0'));
    }
    if (Quantity.parse(asked).cmp(sum) >= 0) return [];
    const detail = `must be greater than or equal to aggregate container requests of ${sum.toString()}`;
    return [invalid(keyPath(childPath(path, 'requests'), name), asked, detail)];
  });
}
