/**
 * Validates the spec of a ResourceSlice: node selection, pool and shared counters. `device.ts` validates devices.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, invalid, required } from '../../../meta/field-error.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import type { NodeSelectorTerm } from '../../generated/core-v1.js';
import type { CounterSet, ResourcePool, ResourceSliceSpec } from '../../generated/resource-v1beta2.js';
import { validateNodeSelector } from '../../shared/node-selector.js';
import { mapProblems, setProblems } from './collections.js';
import { counterNames, deviceProblems, MAX_COUNTER_NAME } from './device.js';
import { dumpNodeSelectorTerms } from './dump.js';
import { labelNameProblems, nodeNameProblems, poolNameProblems } from './names.js';

const MAX_DEVICES = 128;
const MAX_DEVICE_COUNTERS = 1024;
const MAX_SHARED_COUNTERS = 32;

/** Validates a spec; `before` is the live one. */
export function sliceSpecProblems(path: string, spec: ResourceSliceSpec, before?: ResourceSliceSpec): FieldError[] {
  const { devices, sharedCounters = [] } = spec;
  const counters = new Map(sharedCounters.map((set) => [set.name, new Set(counterNames(set.counters))]));
  const perDevice = spec.perDeviceNodeSelection === true;
  return [
    ...driverNameProblems(childPath(path, 'driver'), spec.driver),
    ...resourcePoolProblems(childPath(path, 'pool'), spec.pool),
    ...(before === undefined ? [] : changeProblems(path, spec, before)),
    ...placeProblems(path, spec),
    ...setProblems(childPath(path, 'devices'), devices ?? [], {
      max: MAX_DEVICES,
      item: (at, device) => deviceProblems(at, device, { counters, perDevice }),
      key: ({ name }) => name,
      keyField: 'name',
    }),
    ...counterNumberProblems(path, spec),
    ...setProblems(childPath(path, 'sharedCounters'), sharedCounters, {
      item: counterSetProblems,
      key: ({ name }) => name,
      keyField: 'name',
    }),
  ];
}

function resourcePoolProblems(path: string, pool: ResourcePool): FieldError[] {
  const found = poolNameProblems(childPath(path, 'name'), pool.name);
  if (pool.resourceSliceCount <= 0) {
    found.push(invalid(childPath(path, 'resourceSliceCount'), pool.resourceSliceCount, 'must be greater than zero'));
  }
  if (pool.generation < 0) {
    found.push(invalid(childPath(path, 'generation'), pool.generation, 'must be greater than or equal to zero'));
  }
  return found;
}

/** The pool name, the driver and the node are immutable. */
function changeProblems(path: string, spec: ResourceSliceSpec, before: ResourceSliceSpec): FieldError[] {
  const kept = [
    ['pool.name', spec.pool.name, before.pool.name],
    ['driver', spec.driver, before.driver],
    ['nodeName', spec.nodeName, before.nodeName],
  ] as const;
  return kept
    .filter(([, now, then]) => now !== then)
    .map(([field, now]) => invalid(childPath(path, field), now, 'field is immutable'));
}

const ONE_OF = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

/** Requires exactly one way of node selection. */
function placeProblems(path: string, spec: ResourceSliceSpec): FieldError[] {
  const { nodeName, nodeSelector } = spec;
  const found: FieldError[] = [];
  const given: string[] = [];
  if (nodeName === '') {
    const detail = 'must be either unset or set to a non-empty string';
    found.push(invalid(childPath(path, 'nodeName'), nodeName, detail));
  } else if (nodeName !== undefined) {
    given.push('`nodeName`');
    found.push(...nodeNameProblems(childPath(path, 'nodeName'), nodeName));
  }
  if (nodeSelector !== undefined) {
    given.push('`nodeSelector`');
    const at = childPath(path, 'nodeSelector');
    // The list is null if a client omits it.
    const terms: readonly NodeSelectorTerm[] | null = nodeSelector.nodeSelectorTerms;
    found.push(...validateNodeSelector(at, nodeSelector));
    if (terms?.length !== 1) {
      const detail = 'must have exactly one node selector term';
      found.push(invalid(childPath(at, 'nodeSelectorTerms'), dumpNodeSelectorTerms(terms), detail));
    }
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[field] === true) given.push(`\`${field}\``);
    if (spec[field] === false)
      found.push(invalid(childPath(path, field), false, 'must be either unset or set to true'));
  }
  if (given.length === 0) found.push(required(path, ONE_OF));
  if (given.length > 1) found.push(invalid(path, `{${given.join(', ')}}`, `${ONE_OF}, but multiple fields are set`));
  return found;
}

function counterNumberProblems(path: string, { devices, sharedCounters = [] }: ResourceSliceSpec): FieldError[] {
  const found: FieldError[] = [];
  const consumed = numberOfCounters((devices ?? []).flatMap(({ consumesCounters = [] }) => consumesCounters));
  if (consumed > MAX_DEVICE_COUNTERS) {
    const detail = `the total number of counters in devices must not exceed ${MAX_DEVICE_COUNTERS}`;
    found.push(invalid(childPath(path, 'devices'), consumed, detail));
  }
  const shared = numberOfCounters(sharedCounters);
  if (shared > MAX_SHARED_COUNTERS) {
    const detail = `the total number of shared counters must not exceed ${MAX_SHARED_COUNTERS}`;
    found.push(invalid(childPath(path, 'sharedCounters'), shared, detail));
  }
  return found;
}

function numberOfCounters(sets: readonly { readonly counters: object | null }[]): number {
  return sets.reduce((sum, { counters }) => sum + counterNames(counters).length, 0);
}

function counterSetProblems(path: string, { name, counters }: CounterSet): FieldError[] {
  const [namePath, countersPath] = [childPath(path, 'name'), childPath(path, 'counters')];
  const found = name === '' ? [required(namePath)] : labelNameProblems(namePath, name);
  if (counterNames(counters).length === 0) return [...found, required(countersPath)];
  return [...found, ...mapProblems(countersPath, counters, { longestKey: MAX_COUNTER_NAME, key: labelNameProblems })];
}
