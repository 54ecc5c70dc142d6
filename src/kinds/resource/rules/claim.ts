/**
 * Validates the device requests of claims, with the paths of v1beta2 for all versions, as in the reference server.
 */

import { childPath, type FieldError, invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import { append } from '../../../util/arrays.js';
import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
} from '../../generated/resource-v1beta2.js';
import { listProblems, setProblems, stringSetProblems } from './collections.js';
import {
  classNameProblems,
  fullyQualifiedNameProblems,
  labelNameProblems,
  type RequestNames,
  requestNamesOf,
  requestReferenceProblems,
} from './names.js';
import { configurationProblems, deviceTolerationProblems, type StoredOptions, selectorsProblems } from './selection.js';

const MAX_REQUESTS = 32;
const MAX_ALTERNATIVES = 8;
const MAX_CONSTRAINTS = 32;
/** The maximum number of configurations of a class or a claim. */
export const MAX_CONFIGURATIONS = 32;

/** Validates the devices of a claim. */
export function deviceClaimProblems(path: string, claim: DeviceClaim, options: StoredOptions = {}): FieldError[] {
  const { requests, constraints = [], config = [] } = claim;
  const names = requestNamesOf(claim);
  return [
    ...setProblems(childPath(path, 'requests'), requests ?? [], {
      max: MAX_REQUESTS,
      item: (at, request) => requestProblems(at, request, options),
      key: ({ name }) => name,
      keyField: 'name',
    }),
    ...listProblems(childPath(path, 'constraints'), constraints, {
      max: MAX_CONSTRAINTS,
      item: (at, constraint) => constraintProblems(at, constraint, names),
    }),
    ...listProblems(childPath(path, 'config'), config, {
      max: MAX_CONFIGURATIONS,
      item: (at, one: DeviceClaimConfiguration) => [
        ...referencesProblems(childPath(at, 'requests'), one.requests, names),
        ...configurationProblems(at, one, options),
      ],
    }),
  ];
}

const ONE_OF = 'exactly one of `exactly` or `firstAvailable` is required';

function requestProblems(path: string, request: DeviceRequest, options: StoredOptions): FieldError[] {
  const { name, exactly, firstAvailable = [] } = request;
  const found = labelNameProblems(childPath(path, 'name'), name);
  if (firstAvailable.length > 0) {
    found.push(
      ...setProblems(childPath(path, 'firstAvailable'), firstAvailable, {
        max: MAX_ALTERNATIVES,
        item: (at, one: DeviceSubRequest) => [
          ...labelNameProblems(childPath(at, 'name'), one.name),
          ...requestFieldProblems(at, one, options),
        ],
        key: (one) => one.name,
        keyField: 'name',
      }),
    );
  }
  if (exactly !== undefined) append(found, requestFieldProblems(childPath(path, 'exactly'), exactly, options));
  if (exactly === undefined && firstAvailable.length === 0) found.push(required(path, ONE_OF));
  if (exactly !== undefined && firstAvailable.length > 0) {
    found.push(invalid(path, undefined, `${ONE_OF}, but multiple fields are set`));
  }
  return found;
}

/** Validates the fields that exact requests and alternatives share. */
function requestFieldProblems(
  path: string,
  wish: ExactDeviceRequest | DeviceSubRequest,
  options: StoredOptions,
): FieldError[] {
  const { deviceClassName, selectors, tolerations = [] } = wish;
  const tolerationsPath = childPath(path, 'tolerations');
  return [
    ...classNameProblems(childPath(path, 'deviceClassName'), deviceClassName),
    ...selectorsProblems(childPath(path, 'selectors'), selectors, options),
    ...countProblems(path, wish),
    ...tolerations.flatMap((one, index) => deviceTolerationProblems(keyPath(tolerationsPath, index), one)),
  ];
}

function countProblems(
  path: string,
  wish: { readonly allocationMode?: string; readonly count?: number },
): FieldError[] {
  const { allocationMode = '', count = 0 } = wish;
  const at = childPath(path, 'count');
  if (allocationMode === 'All') {
    return count === 0 ? [] : [invalid(at, count, "must not be specified when allocationMode is 'All'")];
  }
  if (allocationMode === 'ExactCount') return count > 0 ? [] : [invalid(at, count, 'must be greater than zero')];
  return [notSupported(childPath(path, 'allocationMode'), allocationMode, ['All', 'ExactCount'])];
}

function constraintProblems(path: string, constraint: DeviceConstraint, names: RequestNames): FieldError[] {
  const { requests, matchAttribute } = constraint;
  const at = childPath(path, 'matchAttribute');
  return [
    ...referencesProblems(childPath(path, 'requests'), requests, names),
    ...(matchAttribute === undefined ? [required(at)] : fullyQualifiedNameProblems(at, matchAttribute)),
  ];
}

/** Validates the requests that a constraint or a configuration names. */
export function referencesProblems(
  path: string,
  references: readonly string[] | undefined,
  names: RequestNames,
): FieldError[] {
  return stringSetProblems(path, references ?? [], {
    max: MAX_REQUESTS,
    item: (at, reference) => requestReferenceProblems(at, reference, names),
  });
}
