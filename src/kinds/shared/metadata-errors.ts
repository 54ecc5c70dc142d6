/**
 * Validation of metadata that does not depend on the kind: of objects, and of the resources that a custom resource embeds.
 * upstream: apimachinery/pkg/api/validation/objectmeta.go ValidateObjectMetaAccessor
 */
import { childPath, type FieldError, invalid, keyPath, tooLong } from '../../meta/field-error.js';
import { byteLength, qualifiedNameProblems } from '../../meta/names.js';
import type { DeepReadonly, ObjectMeta, OwnerReference } from '../../meta/object.js';
import { isPrintable, quote, stringSlice, verbatim } from '../../text/go/go-text.js';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from './finalizers.js';

type Owner = DeepReadonly<OwnerReference>;

const MAX_CONTROLLER_ERRORS = 5;
const REQUIRED_FIELDS = ['kind', 'name', 'uid'] as const;

/** Validates owner references. */
export function ownerErrors(owners: readonly Owner[], path: string): FieldError[] {
  const found: FieldError[] = [];
  let controller: Owner | undefined;
  let controllerErrors = 0;
  for (const owner of owners) {
    const version = owner.apiVersion.slice(owner.apiVersion.indexOf('/') + 1);
    // More than two parts count as an empty version.
    if (version === '' || version.includes('/')) {
      found.push(invalid(childPath(path, 'apiVersion'), owner.apiVersion, 'version must not be empty'));
    }
    for (const part of REQUIRED_FIELDS) {
      if (owner[part] === '') found.push(invalid(childPath(path, part), '', `${part} must not be empty`));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      const detail = '/v1, Kind=Event is disallowed from being an owner';
      found.push(invalid(path, verbatim(ownerGoSyntax(owner)), detail));
    }
    if (owner.controller !== true) continue;
    // Each of these errors prints all owners, so their number is bounded to limit the size of the response.
    if (controller !== undefined && controllerErrors++ < MAX_CONTROLLER_ERRORS) {
      const both = `${controller.kind}/${controller.name} and ${owner.kind}/${owner.name}`;
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${both}`;
      found.push(invalid(path, verbatim(`[]v1.OwnerReference{${owners.map(ownerGoSyntax).join(', ')}}`), detail));
    }
    controller ??= owner;
  }
  return found;
}

function ownerGoSyntax({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: Owner): string {
  const flag = (value: boolean | undefined) => `(*bool)(${value === undefined ? 'nil' : '0xc000000000'})`;
  const texts = Object.entries({ APIVersion: apiVersion, Kind: kind, Name: name, UID: uid });
  const flags = `Controller:${flag(controller)}, BlockOwnerDeletion:${flag(blockOwnerDeletion)}`;
  return `v1.OwnerReference{${texts.map(([field, text]) => `${field}:${quote(text)}`).join(', ')}, ${flags}}`;
}

/** Validates finalizers of any object; built-in kinds have further rules. */
export function finalizerErrors(finalizers: readonly string[], path: string): FieldError[] {
  const found = finalizers.flatMap((name) => qualifiedNameProblems(name).map((detail) => invalid(path, name, detail)));
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    const detail = `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`;
    found.push(invalid(path, stringSlice(finalizers), detail));
  }
  return found;
}

const MAX_SUBRESOURCE_BYTES = 256;
/** A UTF-16 code unit takes at most three bytes in UTF-8. */
const MAX_UNITS_WITHIN_LIMIT = MAX_SUBRESOURCE_BYTES / 3;

/** Validates the names of one entry of managedFields. */
export function managerEntryErrors(
  { manager, subresource = '' }: NonNullable<DeepReadonly<ObjectMeta>['managedFields']>[number],
  path: string,
  index: number,
): readonly FieldError[] {
  if (subresource.length < MAX_UNITS_WITHIN_LIMIT && (!manager || validNames.has(manager))) return NONE;
  const at = keyPath(path, index);
  const found = managerNameErrors(manager, childPath(at, 'manager'));
  if (byteLength(subresource) <= MAX_SUBRESOURCE_BYTES) return found;
  return [...found, tooLong(childPath(at, 'subresource'), MAX_SUBRESOURCE_BYTES)];
}

/** The maximum length of the name of a field manager. */
export const MAX_MANAGER_BYTES = 128;

/** Names that have been validated: every write validates its managers, and there are few names. */
const validNames = new Set<string>();
const MAX_VALID_NAMES = 1_000;

const NONE: readonly FieldError[] = Object.freeze([]);

/** Validates the name of a field manager; an absent name is valid. */
export function managerNameErrors(manager: string | undefined, field: string): readonly FieldError[] {
  if (!manager || validNames.has(manager)) return NONE;
  const found: FieldError[] = byteLength(manager) > MAX_MANAGER_BYTES ? [tooLong(field, MAX_MANAGER_BYTES)] : [];
  // Every error contains the whole name, so it is quoted once, and a long hostile name gets one error per rule only.
  const shown = verbatim(quote(manager));
  let position = 0;
  for (const character of manager) {
    if (found.length > MAX_MANAGER_BYTES) break;
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      found.push(invalid(field, shown, `invalid character U+${code} (at position ${position})`));
    }
    position += byteLength(character);
  }
  if (found.length > 0) return found;
  if (validNames.size >= MAX_VALID_NAMES) validNames.clear();
  validNames.add(manager);
  return found;
}
