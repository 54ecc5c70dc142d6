/**
 * Validates the spec of a ResourceSlice: node selection, pool, shared counters and devices.
 */

import { childPath, type FieldError, invalid, keyPath, required, tooLong } from '../../../meta/field-error.js';
import { byteLength } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import type { NodeSelectorTerm } from '../../generated/core-v1.js';
import type {
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceCounterConsumption,
  ResourcePool,
  ResourceSliceSpec,
} from '../../generated/resource-v1beta2.js';
import { validateNodeSelector } from '../../shared/node-selector.js';
import { listProblems, mapProblems, setProblems } from './collections.js';
import { dumpAttribute, dumpNodeSelectorTerms } from './dump.js';
import {
  labelNameProblems,
  MAX_QUALIFIED_NAME,
  nodeNameProblems,
  poolNameProblems,
  qualifiedNameProblems,
} from './names.js';
import { deviceTaintProblems } from './selection.js';

const MAX_FACTS = 32;

const MAX_TAINTS = 4;

const MAX_COUNTERS = 32;

const MAX_ATTRIBUTE_VALUE = 64;

/** The maximum length of counter names. */
const MAX_COUNTER_NAME = 63;

const ONE_VALUE = 'exactly one value must be specified';

const NUMBER = /^(0|[1-9][0-9]*)$/;

const PRERELEASE = /^(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)$/;

const BUILD = /^[0-9A-Za-z-]+$/;

const ONE_PLACE =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

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
    append(found, nodeNameProblems(childPath(path, 'nodeName'), nodeName));
  }
  if (nodeSelector !== undefined) {
    given.push('`nodeSelector`');
    const at = childPath(path, 'nodeSelector');
    // The list is null if a client omits it.
    const terms: readonly NodeSelectorTerm[] | null = nodeSelector.nodeSelectorTerms;
    append(found, validateNodeSelector(at, nodeSelector));
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

/** The names of counters; the map is null if a client omits it. */
function counterNames(counters: object | null): string[] {
  return Object.keys(counters ?? {});
}

/** The slice of a device. */
interface DeviceContext {
  /** The names of the slice's counters, by counter set. */
  readonly counters: ReadonlyMap<string, ReadonlySet<string>>;
  /** Each device selects its own nodes. */
  readonly perDevice: boolean;
}

/** Validates a device. */
function deviceProblems(path: string, device: Device, context: DeviceContext): FieldError[] {
  const { name, attributes = {}, capacity = {}, taints = [] } = device;
  const found = labelNameProblems(childPath(path, 'name'), name);
  const facts = Object.keys(attributes).length + Object.keys(capacity).length;
  if (facts > MAX_FACTS) {
    found.push(invalid(path, facts, `the total number of attributes and capacities must not exceed ${MAX_FACTS}`));
  }
  const names = { longestKey: MAX_QUALIFIED_NAME, key: qualifiedNameProblems };
  return [
    ...found,
    ...mapProblems(childPath(path, 'attributes'), attributes, { ...names, value: attributeProblems }),
    // Decoding accepts only valid quantities.
    ...mapProblems(childPath(path, 'capacity'), capacity, names),
    ...listProblems(childPath(path, 'taints'), taints, { max: MAX_TAINTS, item: deviceTaintProblems }),
    ...consumptionProblems(path, device, context),
    ...(context.perDevice ? ownPlaceProblems(path, device) : noPlaceProblems(path, device)),
  ];
}

function attributeProblems(path: string, attribute: DeviceAttribute): FieldError[] {
  const { string, version } = attribute;
  const found: FieldError[] = [];
  if (string !== undefined && byteLength(string) > MAX_ATTRIBUTE_VALUE) {
    found.push(tooLong(childPath(path, 'string'), MAX_ATTRIBUTE_VALUE));
  }
  if (version !== undefined) append(found, versionProblems(childPath(path, 'version'), version));
  const given = [attribute.int, attribute.bool, string, version].filter((value) => value !== undefined);
  if (given.length === 0) found.push(required(path, ONE_VALUE));
  if (given.length > 1) found.push(invalid(path, dumpAttribute(attribute), ONE_VALUE));
  return found;
}

function versionProblems(path: string, version: string): FieldError[] {
  const found: FieldError[] = [];
  if (!isSemanticVersion(version)) {
    found.push(invalid(path, version, 'must be a string compatible with semver.org spec 2.0.0'));
  }
  if (byteLength(version) > MAX_ATTRIBUTE_VALUE) found.push(tooLong(path, MAX_ATTRIBUTE_VALUE));
  return found;
}

/** Checks only the format; the numbers may have any length. */
function isSemanticVersion(text: string): boolean {
  const plus = text.indexOf('+');
  const versionPart = plus < 0 ? text : text.slice(0, plus);
  const dash = versionPart.indexOf('-');
  const numbers = (dash < 0 ? versionPart : versionPart.slice(0, dash)).split('.');
  const prerelease = dash < 0 ? [] : versionPart.slice(dash + 1).split('.');
  const build = plus < 0 ? [] : text.slice(plus + 1).split('.');
  return (
    numbers.length === 3 &&
    numbers.every((part) => NUMBER.test(part)) &&
    prerelease.every((part) => PRERELEASE.test(part)) &&
    build.every((part) => BUILD.test(part))
  );
}

function consumptionProblems(path: string, { consumesCounters = [] }: Device, context: DeviceContext): FieldError[] {
  const at = childPath(path, 'consumesCounters');
  const found = setProblems(at, consumesCounters, {
    item: oneConsumptionProblems,
    key: ({ counterSet }) => counterSet,
    keyField: 'counterSet',
  });
  const total = consumesCounters.reduce((sum, { counters }) => sum + counterNames(counters).length, 0);
  if (total > MAX_COUNTERS) {
    found.push(invalid(path, total, `the total number of counters must not exceed ${MAX_COUNTERS}`));
  }
  for (const [index, consumption] of consumesCounters.entries()) {
    append(found, unknownCounterProblems(keyPath(at, index), consumption, context));
  }
  return found;
}

function oneConsumptionProblems(path: string, { counterSet, counters }: DeviceCounterConsumption): FieldError[] {
  const at = childPath(path, 'counters');
  const found = counterSet === '' ? [required(childPath(path, 'counterSet'))] : [];
  if (counterNames(counters).length === 0) return [...found, required(at)];
  return [...found, ...mapProblems(at, counters, { longestKey: MAX_COUNTER_NAME, key: labelNameProblems })];
}

function unknownCounterProblems(
  path: string,
  { counterSet, counters }: DeviceCounterConsumption,
  context: DeviceContext,
): FieldError[] {
  const known = context.counters.get(counterSet);
  if (known === undefined) {
    const detail = 'must reference a counterSet defined in the ResourceSlice sharedCounters';
    return [invalid(childPath(path, 'counterSet'), counterSet, detail)];
  }
  const detail = 'must reference a counter defined in the ResourceSlice sharedCounters';
  return counterNames(counters)
    .filter((name) => !known.has(name))
    .map((name) => invalid(childPath(path, 'counters'), name, detail));
}

function ownPlaceProblems(path: string, device: Device): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device;
  const found: FieldError[] = [];
  const given: string[] = [];
  if (nodeName === '') found.push(invalid(childPath(path, 'nodeName'), nodeName, 'must not be empty'));
  else if (nodeName !== undefined) {
    given.push('`nodeName`');
    append(found, nodeNameProblems(childPath(path, 'nodeName'), nodeName));
  }
  if (nodeSelector !== undefined) {
    given.push('`nodeSelector`');
    append(found, validateNodeSelector(childPath(path, 'nodeSelector'), nodeSelector));
  }
  if (allNodes === true) given.push('`allNodes`');
  if (allNodes === false) {
    found.push(invalid(childPath(path, 'allNodes'), allNodes, 'must be either unset or set to true'));
  }
  if (given.length === 0) found.push(required(path, ONE_PLACE));
  if (given.length > 1) found.push(invalid(path, `{${given.join(', ')}}`, ONE_PLACE));
  return found;
}

function noPlaceProblems(path: string, { nodeName, nodeSelector, allNodes }: Device): FieldError[] {
  if (nodeName === undefined && nodeSelector === undefined && allNodes === undefined) return [];
  const detail =
    '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  return [invalid(path, undefined, detail)];
}
