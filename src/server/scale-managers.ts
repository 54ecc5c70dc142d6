/**
 * Maps field managers of `replicas` between an object and its Scale view. A view has managers only while it is being
 * written. spec: scale
 * upstream: apimachinery/pkg/util/managedfields/scalehandler.go ScaleHandler
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
  /** The managers of the object. */
  readonly managers: Managers;
  readonly replicasPath: readonly string[];
  /** Whether the object is served in a version; `replicasPath` is valid in all served versions. */
  readonly isServed: (apiVersion: string) => boolean;
}

/** The managers of the view: those that own the replicas of the object. */
export function managersAbove(below: ScaleOwnership, viewVersion: string): Managers {
  const path = setOfPath(below.replicasPath);
  const above = new Map<string, Manager>();
  for (const manager of below.managers.values()) {
    if (!below.isServed(manager.apiVersion) || !hasFieldPath(manager.fields, path)) continue;
    const shown: Manager = { ...manager, apiVersion: viewVersion, fields: REPLICAS };
    above.set(managerKey(shown), shown);
  }
  return above;
}

/** The managers of the object after its view was written: who lost or gained the replicas in the view does so in the object. */
export function managersBelow(before: ScaleOwnership, above: Managers, apiVersion: string): Managers {
  const path = setOfPath(before.replicasPath);
  const below = new Map<string, Manager>();
  for (const [key, manager] of before.managers) {
    if (!before.isServed(manager.apiVersion)) continue;
    const keeps = !hasFieldPath(manager.fields, path) || above.has(key);
    const fields = keeps ? manager.fields : difference(manager.fields, path);
    if (!isEmptySet(fields)) below.set(key, { ...manager, fields });
  }
  for (const [key, manager] of above) {
    if (!hasFieldPath(manager.fields, REPLICAS) || before.managers.has(key)) continue;
    const { time: _time, ...identity } = manager;
    // The reference server drops the time. An Update manager has one entry per version, so it can appear twice here
    // until the next write merges the entries.
    // upstream: apimachinery/pkg/util/managedfields/scalehandler.go ScaleHandler.ToParent
    below.set(key, { ...identity, apiVersion, fields: path });
  }
  return below;
}

function hasFieldPath(fields: FieldSet, path: FieldSet): boolean {
  return !isEmptySet(intersection(fields, path));
}
