/**
 * Defaults of device requests, fields of claims that are dropped because their gate is disabled or their device is
 * deallocated, and the check for admin access. The code handles all versions: an exact request is in `exactly`, or in
 * older versions in the request itself.
 */

import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { type FieldError, fieldError, forbidden, keyPath } from '../../meta/field-error.js';
import { forgetSentEmpty, wasSentEmpty } from '../../schema/empty-values.js';
import { own } from '../../util/json.js';
import type { FeatureGates } from '../feature-gates.js';
import type { ResourceClaimStatus } from '../generated/resource-v1beta2.js';
import type { StrategyContext } from '../kind.js';
import { deviceId } from './rules/claim-status.js';

const errorsByDraft = new WeakMap<object, FieldError>();

/** A request of any version. */
export interface AnyRequest {
  exactly?: AnyRequestFields;
  firstAvailable?: AnyRequestFields[];
  deviceClassName?: string;
  allocationMode?: string;
  count?: number;
  adminAccess?: boolean | null;
}

/** The fields of an exact request or of an alternative. */
export interface AnyRequestFields {
  allocationMode?: string;
  count?: number;
  adminAccess?: boolean | null;
}

/** A claim's spec of any version. */
export interface AnyClaimSpec {
  readonly devices: { readonly requests?: AnyRequest[] | null };
}

/** Sets the allocation mode and the count of requests. */
export function defaultRequests({ devices: { requests } }: AnyClaimSpec): void {
  for (const request of requests ?? []) {
    // An older version has them in the request itself. The server drops an empty list, but the request is an exact one.
    if (wasSentEmpty(request, 'tolerations')) {
      request.deviceClassName ??= '';
      forgetSentEmpty(request, 'tolerations');
    }
    if (request.exactly !== undefined) defaultCount(request.exactly);
    // A request without a class has alternatives, each with its own count.
    if (request.deviceClassName) defaultCount(request);
    for (const alternative of request.firstAvailable ?? []) defaultCount(alternative);
  }
}

function defaultCount(wish: AnyRequestFields): void {
  wish.allocationMode ||= 'ExactCount';
  if (wish.allocationMode === 'ExactCount') wish.count ||= 1;
}

/** Drops fields whose gate is disabled, unless the live object uses them. */
export function dropDisabledRequestFields(
  spec: AnyClaimSpec,
  features: FeatureGates,
  before?: { readonly spec: AnyClaimSpec; readonly status?: ResourceClaimStatus },
): void {
  const requests = spec.devices.requests ?? [];
  const live = before?.spec.devices.requests ?? [];
  const usesAlternatives = live.some(({ firstAvailable = [] }) => firstAvailable.length > 0);
  if (!features.enabled('DRAPrioritizedList') && !usesAlternatives) {
    for (const request of requests) {
      delete request.firstAvailable;
      forgetSentEmpty(request, 'firstAvailable');
    }
  }
  if (dropsAdminAccess(features, before)) for (const request of requests) dropAdminAccess(request);
}

function dropAdminAccess(request: AnyRequest): void {
  const wish = requestFieldsOf(request);
  // A request with admin access is an exact one, so validation must report its missing class.
  if (wish === request && (wish.adminAccess ?? null) !== null) request.deviceClassName ??= '';
  delete wish.adminAccess;
}

/** Drops status fields whose gate is disabled, unless the live object uses them. */
export function dropDisabledStatusFields(
  status: ResourceClaimStatus,
  features: FeatureGates,
  before: { readonly spec: AnyClaimSpec; readonly status: ResourceClaimStatus },
): void {
  if (dropsAdminAccess(features, before)) {
    for (const result of status.allocation?.devices.results ?? []) result.adminAccess = null;
  }
  if (!keepsDeviceStatus(features, before.status)) delete status.devices;
}

/** Drops the status of devices that are no longer allocated. */
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

/** Whether fields for admin access are dropped: the gate is disabled, and the live object does not use them. */
function dropsAdminAccess(
  features: FeatureGates,
  before: { readonly spec: AnyClaimSpec; readonly status?: ResourceClaimStatus } | undefined,
): boolean {
  const used = [...(before?.spec.devices.requests ?? []).map(requestFieldsOf), ...resultsOf(before?.status)];
  return !features.enabled('DRAAdminAccess') && used.every(({ adminAccess = null }) => adminAccess === null);
}

/** The part of a request with the exact request's fields. */
export function requestFieldsOf(request: AnyRequest): AnyRequestFields {
  return request.exactly ?? request;
}

/** Checks a new object. Updates need no check, because requests are immutable. */
export function checkAdminAccess(draft: object, spec: AnyClaimSpec, context: StrategyContext): void {
  errorsByDraft.delete(draft);
  if (!context.features.enabled('DRAAdminAccess')) return;
  // The reference server uses the claim's path for templates too.
  checkNamespace(draft, 'spec.devices.requests', (spec.devices.requests ?? []).map(requestFieldsOf), context);
}

/** Checks a new allocation. An allocation is immutable, so one with admin access needs no check. */
export function checkAllocatedAdminAccess(
  draft: { readonly status: ResourceClaimStatus },
  live: { readonly spec: AnyClaimSpec; readonly status: ResourceClaimStatus },
  context: StrategyContext,
): void {
  errorsByDraft.delete(draft);
  if (dropsAdminAccess(context.features, live) || resultsOf(live.status).some(isAdmin)) return;
  checkNamespace(draft, 'status.allocation.devices.results', resultsOf(draft.status), context);
}

function resultsOf(status: ResourceClaimStatus | undefined): readonly Pick<AnyRequestFields, 'adminAccess'>[] {
  return status?.allocation?.devices.results ?? [];
}

function isAdmin({ adminAccess }: Pick<AnyRequestFields, 'adminAccess'>): boolean {
  return adminAccess === true;
}

function checkNamespace(
  draft: object,
  path: string,
  items: readonly Pick<AnyRequestFields, 'adminAccess'>[],
  context: StrategyContext,
): void {
  const index = items.findIndex(isAdmin);
  if (index < 0) return;
  const problem = namespaceLabelProblem(`${keyPath(path, index)}.adminAccess`, context);
  if (problem !== undefined) errorsByDraft.set(draft, problem);
}

/** The error that one of these checks found for the object. */
export function adminAccessProblems(object: object): readonly FieldError[] {
  const problem = errorsByDraft.get(object);
  return problem === undefined ? [] : [problem];
}

function namespaceLabelProblem(path: string, { objects, namespace, dialect }: StrategyContext): FieldError | undefined {
  const holder = objects.get({ group: '', resource: 'namespaces', namespace: '', name: namespace });
  if (holder === undefined) {
    const detail = `could not retrieve namespace to verify admin access: namespaces "${namespace}" not found`;
    return fieldError('internal', path, { detail });
  }
  const label = adminAccessLabel(dialect);
  if (own(holder.metadata.labels ?? {}, label) === 'true') return undefined;
  return forbidden(path, `admin access to devices requires the \`${label}: true\` label on the containing namespace`);
}

function adminAccessLabel(dialect: Dialect): string {
  return `${dialect.group(serviceGroup('resource'))}/admin-access`;
}
