/**
 * The CSINode kind: the storage drivers on a node.
 */

import { childPath, duplicate, type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import { byteLength, qualifiedNameProblems } from '../../../meta/names.js';
import { quote, stringSlice, type Verbatim, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type CSINodeDriver, type CSINodeKind, type CSINodeObject, csiNodeBase } from '../../generated/storage-v1.js';
import type { HookContext } from '../../kind.js';
import { nonNegative } from '../../shared/field-rules.js';
import { csiNodeColumns } from './columns.js';

export interface CSINode extends CSINodeObject {}

export const CSINode: CSINodeKind<CSINode> = defineBuiltIn({
  ...csiNodeBase,
  columns: csiNodeColumns,
  strategy: {
    update: {
      allowUnconditionalUpdate: false,
      // The reference server runs the rules of a new object twice on update.
      validationOrder: ['create', 'create', 'update'],
      validate: (next, live, context) => changedDriverProblems(driversOf(next), driversOf(live), context),
    },
    delete: { returnDeletedObject: true },
    create: { validate: newNodeProblems },
  },
});

function newNodeProblems(object: CSINode): FieldError[] {
  return driversProblems('spec.drivers', driversOf(object));
}

function driversOf(object: CSINode): readonly CSINodeDriver[] {
  return object.spec.drivers ?? [];
}

const MAX_NODE_ID = 256;

function driversProblems(path: string, drivers: readonly CSINodeDriver[]): FieldError[] {
  const names = new Set<string>();
  return drivers.flatMap((driver, index) => driverProblems(keyPath(path, index), driver, names));
}

/** Validates a driver and adds its name to `names`, the names of the drivers before it. */
function driverProblems(path: string, driver: CSINodeDriver, names: Set<string>): FieldError[] {
  const { name, nodeID, allocatable, topologyKeys } = driver;
  const found = driverNameProblems(childPath(path, 'name'), name);
  if (nodeID === '') found.push(required(childPath(path, 'nodeID')));
  if (byteLength(nodeID) > MAX_NODE_ID) {
    found.push(invalid(childPath(path, 'nodeID'), nodeID, `must be ${MAX_NODE_ID} characters or less`));
  }
  append(found, nonNegative(childPath(path, 'allocatable.count'), allocatable?.count));
  if (names.has(name)) found.push(duplicate(childPath(path, 'name'), name));
  names.add(name);
  return [...found, ...topologyKeyProblems(path, topologyKeys ?? [])];
}

/** The errors have the driver's path. */
function topologyKeyProblems(path: string, keys: readonly string[]): FieldError[] {
  const seen = new Set<string>();
  return keys.flatMap((key) => {
    const found: FieldError[] = [];
    if (key === '') found.push(required(path));
    if (seen.has(key)) found.push(duplicate(path, key));
    seen.add(key);
    return [...found, ...qualifiedNameProblems(key).map((problem) => invalid(path, key, problem))];
  });
}

/** Drivers may be added and removed, but not changed. */
function changedDriverProblems(
  next: readonly CSINodeDriver[],
  live: readonly CSINodeDriver[],
  { features }: HookContext,
): FieldError[] {
  const compared = features.enabled('MutableCSINodeAllocatableCount')
    ? withoutAllocatable
    : (one: CSINodeDriver) => one;
  const isSame = (left: CSINodeDriver, right: CSINodeDriver): boolean =>
    deepEqual(withKeys(compared(left)), withKeys(compared(right)));
  const byName = new Map<string, CSINodeDriver[]>();
  for (const driver of next) {
    const namesakes = byName.get(driver.name);
    if (namesakes === undefined) byName.set(driver.name, [driver]);
    else namesakes.push(driver);
  }
  return live.flatMap((before) =>
    (byName.get(before.name) ?? [])
      .filter((now) => !isSame(now, before))
      .map((now) => invalid('spec.drivers', driverDump(compared(now)), 'field is immutable')),
  );
}

/** No keys are equal to an empty list of keys. */
function withKeys(driver: CSINodeDriver): CSINodeDriver {
  return { ...driver, topologyKeys: driver.topologyKeys ?? [] };
}

function withoutAllocatable({ allocatable: _, ...rest }: CSINodeDriver): CSINodeDriver {
  return rest;
}

function driverDump({ name, nodeID, topologyKeys, allocatable }: CSINodeDriver): Verbatim {
  const keys = stringSlice(topologyKeys ?? undefined).verbatim;
  const pointed = allocatable === undefined ? 'nil' : '0xc000000000';
  return verbatim(
    `storage.CSINodeDriver{Name:${quote(name)}, NodeID:${quote(nodeID)}, TopologyKeys:${keys}, ` +
      `Allocatable:(*storage.VolumeNodeResources)(${pointed})}`,
  );
}
