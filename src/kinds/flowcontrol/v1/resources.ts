/**
 * The resources of the group, and the order of FlowSchemas in request matching and in tables.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupResource } from '../../../meta/gvk.js';

/** The resource of FlowSchemas. */
export const FLOW_SCHEMAS: GroupResource = { group: serviceGroup('flowcontrol.apiserver'), resource: 'flowschemas' };
/** The resource of priority levels. */
export const PRIORITY_LEVELS: GroupResource = { group: FLOW_SCHEMAS.group, resource: 'prioritylevelconfigurations' };

interface Ranked {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly matchingPrecedence: number };
}

/** Compares by matching precedence (low first), then by name. */
export function byPrecedence(left: Ranked, right: Ranked): number {
  const difference = left.spec.matchingPrecedence - right.spec.matchingPrecedence;
  if (difference !== 0) return difference;
  return left.metadata.name < right.metadata.name ? -1 : 1;
}
