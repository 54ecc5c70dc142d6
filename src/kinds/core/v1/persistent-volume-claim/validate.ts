/**
 * Validation of PersistentVolumeClaims: updates and status. The spec is validated in `claim-spec-rules.ts`.
 */

import { type FieldError, forbidden, invalid, keyPath, notSupported, required } from '../../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../../meta/labels.js';
import { qualifiedNameProblems } from '../../../../meta/names.js';
import { Quantity } from '../../../../meta/quantity.js';
import { verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import { copyJson, deepEqual, own } from '../../../../util/json.js';
import { sortedEntries } from '../../../../util/order.js';
import type { PersistentVolumeClaimSpec } from '../../../generated/core-v1.js';
import type { HookContext } from '../../../kind.js';
import { isNativeResource, validateBasicQuantity, validateResourceQuantity } from '../../../shared/resources.js';
import { claimSpecProblems } from '../claim-spec-rules.js';
import { classAnnotation } from '../persistent-volume/warnings.js';
import type { PersistentVolumeClaim } from '../persistent-volume-claim.js';
import { diffText } from '../pod/diff/diff.js';

const SPEC_IMMUTABLE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** Validates the spec. On updates some invalid values of the live claim are accepted. */
export function claimProblems(
  next: PersistentVolumeClaim,
  live: PersistentVolumeClaim | undefined,
  context: HookContext,
): FieldError[] {
  if (live === undefined) return claimSpecProblems('spec', next.spec, context);
  const before = live.spec;
  return claimSpecProblems('spec', next.spec, {
    dialect: context.dialect,
    features: context.features,
    allowInvalidSelectorValues: labelSelectorObjectErrors(before.selector ?? {}, '').length > 0,
    allowInvalidApiGroup: Boolean(before.dataSource?.apiGroup ?? before.dataSourceRef?.apiGroup),
    checkAttributesClass:
      before.volumeAttributesClassName !== undefined || context.features.enabled('VolumeAttributesClass'),
  });
}

/** Validates the change from `live` to `next`. Most fields of the spec are immutable. */
export function claimUpdateProblems(
  next: PersistentVolumeClaim,
  live: PersistentVolumeClaim,
  context: HookContext,
): FieldError[] {
  const before = live.spec;
  const { now, problems } = withAllowedClass(next, live, context);
  const found = [...problems];
  const [from, to] = [withAllowedName(before, now), withAllowedChanges(now, before, next.status.phase)];
  if (!isSameSpec(to, from)) {
    // The stored claim has no empty lists and maps, also if a client sent them.
    const diff = diffText('PersistentVolumeClaimSpec', copyJson(from), to);
    found.push(forbidden('spec', `${SPEC_IMMUTABLE}\n${diff}`));
  }
  append(found, sizeProblems(next.spec, live, context));
  if (next.spec.volumeMode !== before.volumeMode) {
    found.push(invalid('volumeMode', next.spec.volumeMode, 'field is immutable'));
  }
  return [...found, ...attributesClassProblems(next.spec, before, context)];
}

/** Removes an allowed change of the storage class: setting it once, or moving it from the annotation to the field. */
function withAllowedClass(
  next: PersistentVolumeClaim,
  live: PersistentVolumeClaim,
  { dialect }: HookContext,
): { readonly now: PersistentVolumeClaimSpec; readonly problems: FieldError[] } {
  const annotation = classAnnotation(dialect);
  const old = own(live.metadata.annotations ?? {}, annotation);
  const given = own(next.metadata.annotations ?? {}, annotation);
  const { storageClassName: name, ...rest } = next.spec;
  const named = live.spec.storageClassName === undefined && name !== undefined && (old === undefined || old === name);
  const now = named ? rest : next.spec;
  const moved = named && old !== undefined && (given === undefined || given === old);
  if (moved || (given ?? '') === (old ?? '')) return { now, problems: [] };
  return { now, problems: [invalid(`metadata.annotations.${annotation}`, given ?? '', 'field is immutable')] };
}

/** `volumeName` may be set once. */
function withAllowedName(before: PersistentVolumeClaimSpec, now: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  if (before.volumeName) return before;
  const { volumeName: _, ...rest } = before;
  return now.volumeName === undefined ? rest : { ...rest, volumeName: now.volumeName };
}

/** Resets the fields that may change in a bound claim: storage request and volume attributes class. */
function withAllowedChanges(
  now: PersistentVolumeClaimSpec,
  before: PersistentVolumeClaimSpec,
  phase: string,
): PersistentVolumeClaimSpec {
  if (phase !== 'Bound') return now;
  const { volumeAttributesClassName: given, ...allowed } = now;
  if (given !== undefined && before.volumeAttributesClassName !== undefined) {
    Object.assign(allowed, { volumeAttributesClassName: before.volumeAttributesClassName });
  }
  const storage = own(before.resources.requests ?? {}, 'storage') ?? '0';
  if (now.resources.requests === undefined) return allowed;
  return { ...allowed, resources: { ...now.resources, requests: { ...now.resources.requests, storage } } };
}

/** Compares quantities by value, not by text. */
function isSameSpec(now: PersistentVolumeClaimSpec, before: PersistentVolumeClaimSpec): boolean {
  const { resources: nowResources, ...nowRest } = now;
  const { resources: beforeResources, ...beforeRest } = before;
  return (
    deepEqual(nowRest, beforeRest) &&
    hasSameQuantities(nowResources.limits, beforeResources.limits) &&
    hasSameQuantities(nowResources.requests, beforeResources.requests)
  );
}

type ResourceList = Readonly<Record<string, string>>;

function hasSameQuantities(left: ResourceList = {}, right: ResourceList = {}): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => {
    const [one, other] = [own(left, name), own(right, name)];
    return one !== undefined && other !== undefined && Quantity.parse(one).cmp(Quantity.parse(other)) === 0;
  });
}

/** The storage request cannot decrease, except to undo an expansion that has not been carried out. */
function sizeProblems(
  now: PersistentVolumeClaimSpec,
  live: PersistentVolumeClaim,
  { features }: HookContext,
): FieldError[] {
  const amount = (amounts: ResourceList | undefined) => Quantity.parse(own(amounts ?? {}, 'storage') ?? '0');
  const size = amount(now.resources.requests);
  if (size.cmp(amount(live.spec.resources.requests)) >= 0) return [];
  const path = 'spec.resources.requests.storage';
  const { allocatedResources, allocatedResourceStatuses, capacity } = live.status;
  const mayRecover =
    features.enabled('RecoverVolumeExpansionFailure') ||
    allocatedResources !== undefined ||
    allocatedResourceStatuses !== undefined;
  if (!mayRecover) return [forbidden(path, 'field can not be less than previous value')];
  if (size.cmp(amount(capacity)) > 0) return [];
  return [forbidden(path, 'field can not be less than status.capacity')];
}

const CLASS_PATH = 'spec.volumeAttributesClassName';

function attributesClassProblems(
  next: PersistentVolumeClaimSpec,
  live: PersistentVolumeClaimSpec,
  { features }: HookContext,
): FieldError[] {
  const { volumeAttributesClassName: now } = next;
  const { volumeAttributesClassName: before } = live;
  if (now === before) return [];
  const found: FieldError[] = [];
  if (!features.enabled('VolumeAttributesClass')) {
    found.push(forbidden(CLASS_PATH, 'update is forbidden when the VolumeAttributesClass feature gate is disabled'));
  }
  if (before === undefined) return found;
  if (now === undefined) found.push(forbidden(CLASS_PATH, 'update from non-nil value to nil is forbidden'));
  if (now === '') found.push(forbidden(CLASS_PATH, 'update from non-nil value to an empty string is forbidden'));
  return found;
}

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

/** Validates an update of the status subresource. */
export function claimStatusProblems({ spec, status }: PersistentVolumeClaim, context: HookContext): FieldError[] {
  const { capacity, allocatedResourceStatuses, allocatedResources } = status;
  const found: FieldError[] = [];
  // The capital letter in the path is the reference server's.
  if ((spec.accessModes ?? []).length === 0) found.push(required('Spec.accessModes'));
  for (const [name, amount] of sortedEntries(capacity ?? {})) {
    append(found, validateBasicQuantity(keyPath('status.capacity', name), amount));
  }
  const statusPath = 'status.allocatedResourceStatus';
  for (const [name, resize] of sortedEntries(allocatedResourceStatuses ?? {})) {
    append(found, resourceKeyProblems(statusPath, name, context));
    // As in the reference server, the reported value is the resource name.
    if (!RESIZE_STATUSES.includes(resize)) found.push(notSupported(statusPath, verbatim(name), RESIZE_STATUSES));
  }
  for (const [name, amount] of sortedEntries(allocatedResources ?? {})) {
    append(found, allocatedProblems('status.allocatedResources', name, { amount, context }));
  }
  return found;
}

function allocatedProblems(
  path: string,
  name: string,
  { amount, context }: { readonly amount: string; readonly context: HookContext },
): FieldError[] {
  const ofName = resourceKeyProblems(path, name, context);
  if (ofName.length > 0) return ofName;
  const at = keyPath(path, name);
  const found = validateBasicQuantity(at, amount);
  return found.length > 0 ? found : validateResourceQuantity(at, amount, { dialect: context.dialect, name: 'storage' });
}

/** Of the native resources only `storage` is supported. */
function resourceKeyProblems(path: string, name: string, { dialect }: HookContext): FieldError[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) return problems.map((problem) => invalid(path, name, problem));
  return isNativeResource(name, { dialect }) && name !== 'storage' ? [notSupported(path, name, ['storage'])] : [];
}
