/**
 * Validates the status of a ResourceClaim: allocation, consumers and device status.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { childPath, forbidden, invalid, notSupported, required, tooLong, tooMany } from '../../../meta/field-error.js';
import { parseCidrSloppy, printIp } from '../../../meta/ip.js';
import { byteLength } from '../../../meta/names.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceClaim,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../../generated/resource-v1beta2.js';
import { conditionErrors } from '../../shared/condition-rules.js';
import { validateNodeSelector } from '../../shared/node-selector.js';
import { MAX_CONFIGURATIONS, referencesProblems } from './claim.js';
import { listProblems, setProblems, stringSetProblems } from './collections.js';
import { dumpAllocation } from './dump.js';
import {
  labelNameProblems,
  poolNameProblems,
  type RequestNames,
  requestNamesOf,
  requestReferenceProblems,
} from './names.js';
import { configurationProblems, documentProblems } from './selection.js';

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const MAX_CONDITIONS = 8;
const MAX_INTERFACE_NAME = 256;
const MAX_HARDWARE_ADDRESS = 128;
const MAX_ADDRESSES = 16;

/** The live status and the claim. */
export interface ClaimStatusContext {
  readonly before: ResourceClaimStatus;
  readonly claim: DeviceClaim;
  readonly isDeleted: boolean;
}

/** Validates a status. */
export function claimStatusProblems(
  path: string,
  status: ResourceClaimStatus,
  context: ClaimStatusContext,
): FieldError[] {
  const { allocation, reservedFor = [], devices = [] } = status;
  const allocated = new Set((allocation?.devices.results ?? []).map(deviceId));
  return [
    ...setProblems(childPath(path, 'reservedFor'), reservedFor, {
      max: MAX_CONSUMERS,
      item: consumerProblems,
      key: ({ uid }) => uid,
      keyField: 'uid',
    }),
    ...setProblems(childPath(path, 'devices'), devices, {
      item: (at, device) => deviceStatusProblems(at, device, allocated),
      key: deviceId,
      // The reference server's path has a name that is not a field.
      keyField: 'deviceID',
      print: (device) => verbatim(deviceId(device)),
    }),
    ...reservationProblems(childPath(path, 'reservedFor'), status, context),
    ...allocationProblems(childPath(path, 'allocation'), allocation, context),
  ];
}

/** The identity of a device: `driver/pool/device`. */
export function deviceId(device: { readonly driver: string; readonly pool: string; readonly device: string }): string {
  return `${device.driver}/${device.pool}/${device.device}`;
}

function consumerProblems(path: string, consumer: ResourceClaimConsumerReference): FieldError[] {
  return (['resource', 'name', 'uid'] as const)
    .filter((field) => consumer[field] === '')
    .map((field) => required(childPath(path, field)));
}

function reservationProblems(path: string, status: ResourceClaimStatus, context: ClaimStatusContext): FieldError[] {
  const { allocation, reservedFor = [] } = status;
  if (reservedFor.length === 0) return [];
  if (allocation === undefined) return [forbidden(path, 'may not be specified when `allocated` is not set')];
  const before = context.before.reservedFor ?? [];
  const isNew = (consumer: ResourceClaimConsumerReference) => !before.some((old) => deepEqual(old, consumer));
  if (!context.isDeleted || !reservedFor.some(isNew)) return [];
  return [forbidden(path, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set')];
}

/** An allocation is immutable; only a new one is validated. */
function allocationProblems(
  path: string,
  allocation: AllocationResult | undefined,
  { before, claim }: ClaimStatusContext,
): FieldError[] {
  if (allocation === undefined) return [];
  if (before.allocation !== undefined) {
    if (deepEqual(allocation, before.allocation)) return [];
    return [invalid(path, dumpAllocation(allocation), 'field is immutable')];
  }
  const names = requestNamesOf(claim);
  const at = childPath(path, 'devices');
  const { devices, nodeSelector } = allocation;
  return [
    ...listProblems(childPath(at, 'results'), devices.results ?? [], {
      max: MAX_RESULTS,
      item: (field, result) => resultProblems(field, result, names),
    }),
    // The limit covers configurations of the class and of the claim.
    ...listProblems(childPath(at, 'config'), devices.config ?? [], {
      max: 2 * MAX_CONFIGURATIONS,
      item: (field, config) => allocatedConfigurationProblems(field, config, names),
    }),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(childPath(path, 'nodeSelector'), nodeSelector)),
  ];
}

function resultProblems(path: string, result: DeviceRequestAllocationResult, names: RequestNames): FieldError[] {
  return [
    ...requestReferenceProblems(childPath(path, 'request'), result.request, names),
    ...placeProblems(path, result),
  ];
}

/** Validates the driver, pool and name of a device. */
function placeProblems(path: string, place: DeviceRequestAllocationResult | AllocatedDeviceStatus): FieldError[] {
  return [
    ...driverNameProblems(childPath(path, 'driver'), place.driver),
    ...poolNameProblems(childPath(path, 'pool'), place.pool),
    ...labelNameProblems(childPath(path, 'device'), place.device),
  ];
}

const SOURCES = ['FromClaim', 'FromClass'];

function allocatedConfigurationProblems(
  path: string,
  config: DeviceAllocationConfiguration,
  names: RequestNames,
): FieldError[] {
  const source: string = config.source;
  const at = childPath(path, 'source');
  const found = referencesProblems(childPath(path, 'requests'), config.requests, names);
  append(found, configurationProblems(path, config));
  if (source === '') return [required(at), ...found];
  return SOURCES.includes(source) ? found : [notSupported(at, source, SOURCES), ...found];
}

function deviceStatusProblems(
  path: string,
  device: AllocatedDeviceStatus,
  allocated: ReadonlySet<string>,
): FieldError[] {
  const { data, networkData } = device;
  const conditions = device.conditions ?? [];
  const found = placeProblems(path, device);
  const id = deviceId(device);
  if (!allocated.has(id)) found.push(invalid(path, verbatim(id), 'must be an allocated device in the claim'));
  const at = childPath(path, 'conditions');
  if (conditions.length > MAX_CONDITIONS) found.push(tooMany(at, conditions.length, MAX_CONDITIONS));
  append(found, conditionErrors(conditions, at));
  if (data !== undefined && data !== null) append(found, documentProblems(childPath(path, 'data'), data));
  if (networkData !== undefined) append(found, networkProblems(childPath(path, 'networkData'), networkData));
  return found;
}

function networkProblems(path: string, network: NetworkDeviceData): FieldError[] {
  const { interfaceName = '', hardwareAddress = '', ips = [] } = network;
  const found: FieldError[] = [];
  if (byteLength(interfaceName) > MAX_INTERFACE_NAME) {
    found.push(tooLong(childPath(path, 'interfaceName'), MAX_INTERFACE_NAME));
  }
  if (byteLength(hardwareAddress) > MAX_HARDWARE_ADDRESS) {
    found.push(tooLong(childPath(path, 'hardwareAddress'), MAX_HARDWARE_ADDRESS));
  }
  append(found, stringSetProblems(childPath(path, 'ips'), ips, { max: MAX_ADDRESSES, item: interfaceAddressProblems }));
  return found;
}

/** Requires a canonical IP address with a prefix length. */
function interfaceAddressProblems(path: string, text: string): FieldError[] {
  const cidr = parseCidrSloppy(text);
  if (cidr === undefined) {
    return [invalid(path, text, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')];
  }
  const canonical = `${printIp(cidr.address)}/${cidr.prefix}`;
  return text === canonical ? [] : [invalid(path, text, `must be in canonical form (${quote(canonical)})`)];
}
