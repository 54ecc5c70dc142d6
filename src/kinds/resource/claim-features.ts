/**
 * What becomes of a claim's optional features: defaults of its requests, fields whose gate is off, and devices that
 * are no longer its own. Written for every version: the fields of an exact request stand in `exactly` or, in the older
 * ones, in the request itself.
 */
import type { FeatureGates } from '../feature-gates.js';
import type { ResourceClaimStatus } from '../generated/resource-v1beta2.js';
import { deviceId } from './rules/claim-status.js';

/** A request of any version. */
export interface AnyRequest {
  exactly?: AnyWish;
  firstAvailable?: AnyWish[];
  deviceClassName?: string;
  allocationMode?: string;
  count?: number;
  adminAccess?: boolean | null;
}

export interface AnyWish {
  allocationMode?: string;
  count?: number;
  adminAccess?: boolean | null;
}

export interface AnyClaimSpec {
  readonly devices: { readonly requests?: AnyRequest[] | null };
}

export function defaultRequests({ devices: { requests } }: AnyClaimSpec): void {
  for (const request of requests ?? []) {
    if (request.exactly !== undefined) defaultCount(request.exactly);
    // Without a class it is a request with alternatives, which has no number of its own.
    if (request.deviceClassName) defaultCount(request);
    for (const alternative of request.firstAvailable ?? []) defaultCount(alternative);
  }
}

function defaultCount(wish: AnyWish): void {
  wish.allocationMode ||= 'ExactCount';
  if (wish.allocationMode === 'ExactCount') wish.count ||= 1;
}

/** Takes away what needs a gate that is off, unless the object has made use of it before. */
export function dropDisabledRequestFields(
  spec: AnyClaimSpec,
  features: FeatureGates,
  before?: { readonly spec: AnyClaimSpec; readonly status?: ResourceClaimStatus },
): void {
  const requests = spec.devices.requests ?? [];
  const live = before?.spec.devices.requests ?? [];
  const usesAlternatives = live.some(({ firstAvailable = [] }) => firstAvailable.length > 0);
  if (!features.enabled('DRAPrioritizedList') && !usesAlternatives) {
    for (const request of requests) delete request.firstAvailable;
  }
  if (!features.enabled('DRAAdminAccess') && !usesAdminAccess(live, before?.status)) {
    for (const request of requests) dropAdminAccess(request);
  }
}

function dropAdminAccess(request: AnyRequest): void {
  const wish = wishOf(request);
  // Whoever asked for access wanted something exact, and is told that its class is missing.
  if (wish === request && (wish.adminAccess ?? null) !== null) request.deviceClassName ??= '';
  delete wish.adminAccess;
}

export function dropDisabledStatusFields(
  status: ResourceClaimStatus,
  features: FeatureGates,
  before: { readonly spec: AnyClaimSpec; readonly status: ResourceClaimStatus },
): void {
  if (!features.enabled('DRAAdminAccess') && !usesAdminAccess(before.spec.devices.requests ?? [], before.status)) {
    for (const result of status.allocation?.devices.results ?? []) result.adminAccess = null;
  }
  if (!keepsDeviceStatus(features, before.status)) delete status.devices;
}

/** A device that was allocated and is not any more has no status to keep. */
export function dropDeallocatedDevices(
  status: ResourceClaimStatus,
  features: FeatureGates,
  before: ResourceClaimStatus,
): void {
  if (status.devices === undefined || !keepsDeviceStatus(features, before)) return;
  const still = new Set((status.allocation?.devices.results ?? []).map(deviceId));
  const gone = new Set((before.allocation?.devices.results ?? []).map(deviceId).filter((id) => !still.has(id)));
  const kept = status.devices.filter((device) => !gone.has(deviceId(device)));
  if (kept.length === 0) delete status.devices;
  else status.devices = kept;
}

function keepsDeviceStatus(features: FeatureGates, before: ResourceClaimStatus): boolean {
  return features.enabled('DRAResourceClaimDeviceStatus') || (before.devices ?? []).length > 0;
}

function usesAdminAccess(requests: readonly AnyRequest[], status: ResourceClaimStatus | undefined): boolean {
  const results = status?.allocation?.devices.results ?? [];
  return [...requests.map(wishOf), ...results].some(({ adminAccess = null }) => adminAccess !== null);
}

/** Where a request says what exactly it wants. */
export function wishOf(request: AnyRequest): AnyWish {
  return request.exactly ?? request;
}
