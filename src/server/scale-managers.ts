/**
 * Who manages the number of replicas, seen from both sides: the object below and the view above it. The view has
 * managers of its own only for the moment in which it is written. spec: scale
 */
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  setOfFields,
  setOfPath,
} from '../merge/apply/field-set.js';
import { type Manager, type Managers, managerKey } from '../merge/apply/managers.js';

const REPLICAS = setOfFields(['spec.replicas']);

export interface ScaleOwnership {
  /** Of the object below. */
  readonly managers: Managers;
  readonly replicasPath: readonly string[];
  /** Whether the object is served in a version, in which `replicasPath` then leads to the replicas. */
  readonly isServed: (apiVersion: string) => boolean;
}

/** Those who own the replicas below own them in the view. */
export function managersAbove(below: ScaleOwnership, viewVersion: string): Managers {
  const path = setOfPath(below.replicasPath);
  const above = new Map<string, Manager>();
  for (const manager of below.managers.values()) {
    if (!below.isServed(manager.apiVersion) || !has(manager.fields, path)) continue;
    const shown: Manager = { ...manager, apiVersion: viewVersion, fields: REPLICAS };
    above.set(managerKey(shown), shown);
  }
  return above;
}

/** Whoever lost the replicas in the view has lost them below, and whoever won them there has them now. */
export function managersBelow(before: ScaleOwnership, above: Managers, apiVersion: string): Managers {
  const path = setOfPath(before.replicasPath);
  const below = new Map<string, Manager>();
  for (const [key, manager] of before.managers) {
    if (!before.isServed(manager.apiVersion)) continue;
    const keeps = !has(manager.fields, path) || above.has(key);
    const fields = keeps ? manager.fields : difference(manager.fields, path);
    if (!isEmptySet(fields)) below.set(key, { ...manager, fields });
  }
  for (const [key, manager] of above) {
    if (!has(manager.fields, REPLICAS) || before.managers.has(key)) continue;
    const { time: _time, ...identity } = manager;
    // The reference server forgets when that was. One that updates is another manager in every version: it comes back
    // under its old name beside its other fields, until the next write takes the two for one and forgets the first.
    below.set(key, { ...identity, apiVersion, fields: path });
  }
  return below;
}

function has(fields: FieldSet, path: FieldSet): boolean {
  return !isEmptySet(intersection(fields, path));
}
