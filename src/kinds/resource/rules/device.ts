/**
 * Validates a device of a slice: attributes, capacities, consumed counters, taints and, if each device has its own,
 * node selection.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, invalid, keyPath, required, tooLong } from '../../../meta/field-error.js';
import { byteLength } from '../../../meta/names.js';
import type { Device, DeviceAttribute, DeviceCounterConsumption } from '../../generated/resource-v1beta2.js';
import { validateNodeSelector } from '../../shared/node-selector.js';
import { listProblems, mapProblems, setProblems } from './collections.js';
import { dumpAttribute } from './dump.js';
import { labelNameProblems, MAX_QUALIFIED_NAME, nodeNameProblems, qualifiedNameProblems } from './names.js';
import { deviceTaintProblems } from './selection.js';

const MAX_FACTS = 32;
const MAX_TAINTS = 4;
const MAX_COUNTERS = 32;
const MAX_ATTRIBUTE_VALUE = 64;
/** The maximum length of counter names. */
export const MAX_COUNTER_NAME = 63;

/** The names of counters; the map is null if a client omits it. */
export function counterNames(counters: object | null): string[] {
  return Object.keys(counters ?? {});
}

/** The slice of a device. */
export interface DeviceContext {
  /** The names of the slice's counters, by counter set. */
  readonly counters: ReadonlyMap<string, ReadonlySet<string>>;
  /** Each device selects its own nodes. */
  readonly perDevice: boolean;
}

/** Validates a device. */
export function deviceProblems(path: string, device: Device, about: DeviceContext): FieldError[] {
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
    ...consumptionProblems(path, device, about),
    ...(about.perDevice ? ownPlaceProblems(path, device) : noPlaceProblems(path, device)),
  ];
}

const ONE_VALUE = 'exactly one value must be specified';

function attributeProblems(path: string, attribute: DeviceAttribute): FieldError[] {
  const { string, version } = attribute;
  const found: FieldError[] = [];
  if (string !== undefined && byteLength(string) > MAX_ATTRIBUTE_VALUE) {
    found.push(tooLong(childPath(path, 'string'), MAX_ATTRIBUTE_VALUE));
  }
  if (version !== undefined) found.push(...versionProblems(childPath(path, 'version'), version));
  const given = [attribute.int, attribute.bool, string, version].filter((value) => value !== undefined);
  if (given.length === 0) found.push(required(path, ONE_VALUE));
  if (given.length > 1) found.push(invalid(path, dumpAttribute(attribute), ONE_VALUE));
  return found;
}

const NUMBER = /^(0|[1-9][0-9]*)$/;
const PRERELEASE = /^(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)$/;
const BUILD = /^[0-9A-Za-z-]+$/;

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

function consumptionProblems(path: string, { consumesCounters = [] }: Device, about: DeviceContext): FieldError[] {
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
    found.push(...unknownCounterProblems(keyPath(at, index), consumption, about));
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
  about: DeviceContext,
): FieldError[] {
  const known = about.counters.get(counterSet);
  if (known === undefined) {
    const detail = 'must reference a counterSet defined in the ResourceSlice sharedCounters';
    return [invalid(childPath(path, 'counterSet'), counterSet, detail)];
  }
  const detail = 'must reference a counter defined in the ResourceSlice sharedCounters';
  return counterNames(counters)
    .filter((name) => !known.has(name))
    .map((name) => invalid(childPath(path, 'counters'), name, detail));
}

const ONE_PLACE =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

function ownPlaceProblems(path: string, device: Device): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device;
  const found: FieldError[] = [];
  const given: string[] = [];
  if (nodeName === '') found.push(invalid(childPath(path, 'nodeName'), nodeName, 'must not be empty'));
  else if (nodeName !== undefined) {
    given.push('`nodeName`');
    found.push(...nodeNameProblems(childPath(path, 'nodeName'), nodeName));
  }
  if (nodeSelector !== undefined) {
    given.push('`nodeSelector`');
    found.push(...validateNodeSelector(childPath(path, 'nodeSelector'), nodeSelector));
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
