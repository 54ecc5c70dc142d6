/**
 * Validates ObjectMeta inside another object, at any path. The rules are those of a new object, except that the name is
 * optional and may be any path segment.
 */

import { annotationErrors } from '../../kinds/shared/annotations.js';
import { FOREGROUND, ORPHAN } from '../../kinds/shared/finalizers.js';
import type { FieldError } from '../../meta/field-error.js';
import { invalid, keyPath, tooLong } from '../../meta/field-error.js';
import { printGvk } from '../../meta/gvk.js';
import { labelErrors } from '../../meta/labels.js';
import {
  byteLength,
  dnsLabelProblems,
  pathSegmentPrefixProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
} from '../../meta/names.js';
import type { DeepReadonly, ObjectMeta, OwnerReference } from '../../meta/object.js';
import { isPrintable, quote, stringSlice, verbatim } from '../../text/go/go-text.js';

type Meta = DeepReadonly<Partial<ObjectMeta>>;

export function objectMetaErrors(metadata: Meta, path: string): FieldError[] {
  const { name = '', generateName = '', namespace = '', generation = 0 } = metadata;
  const each = (field: string, value: string, problems: readonly string[]) =>
    problems.map((detail) => invalid(`${path}.${field}`, value, detail));
  return [
    ...each('generateName', generateName, generateName === '' ? [] : pathSegmentPrefixProblems(generateName)),
    ...each('name', name, name === '' ? [] : pathSegmentProblems(name)),
    ...each('namespace', namespace, namespace === '' ? [] : dnsLabelProblems(namespace)),
    ...(generation < 0 ? [invalid(`${path}.generation`, generation, 'must be greater than or equal to 0')] : []),
    ...labelErrors(metadata.labels ?? {}, `${path}.labels`),
    ...annotationErrors(metadata.annotations ?? {}, `${path}.annotations`),
    ...ownerErrors(metadata.ownerReferences ?? [], `${path}.ownerReferences`),
    ...finalizerErrors(metadata.finalizers ?? [], `${path}.finalizers`),
    ...managerErrors(metadata.managedFields ?? [], `${path}.managedFields`),
  ];
}

type Owner = DeepReadonly<OwnerReference>;
const MAX_QUARRELS = 5;

function ownerErrors(owners: readonly Owner[], path: string): FieldError[] {
  const found: FieldError[] = [];
  let controller: Owner | undefined;
  let quarrels = 0;
  for (const owner of owners) {
    const slash = owner.apiVersion.indexOf('/');
    if (owner.apiVersion.slice(slash + 1) === '') {
      found.push(invalid(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty'));
    }
    for (const part of ['kind', 'name', 'uid'] as const) {
      if (owner[part] === '') found.push(invalid(`${path}.${part}`, '', `${part} must not be empty`));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      const gvk = printGvk({ group: '', version: 'v1', kind: 'Event' });
      found.push(invalid(path, verbatim(ownerDump(owner)), `${gvk} is disallowed from being an owner`));
    }
    if (owner.controller !== true) continue;
    // Each of these errors prints all owners, so their number is bounded to limit the size of the response.
    if (controller !== undefined && quarrels++ < MAX_QUARRELS) {
      const both = `${controller.kind}/${controller.name} and ${owner.kind}/${owner.name}`;
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${both}`;
      found.push(invalid(path, verbatim(`[]v1.OwnerReference{${owners.map(ownerDump).join(', ')}}`), detail));
    }
    controller ??= owner;
  }
  return found;
}

function ownerDump({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: Owner): string {
  const flag = (value: boolean | undefined) => (value === undefined ? '(*bool)(nil)' : String(value));
  const texts = Object.entries({ APIVersion: apiVersion, Kind: kind, Name: name, UID: uid });
  const flags = `Controller:${flag(controller)}, BlockOwnerDeletion:${flag(blockOwnerDeletion)}`;
  return `v1.OwnerReference{${texts.map(([field, text]) => `${field}:${quote(text)}`).join(', ')}, ${flags}}`;
}

function finalizerErrors(finalizers: readonly string[], path: string): FieldError[] {
  const found = finalizers.flatMap((name) => qualifiedNameProblems(name).map((detail) => invalid(path, name, detail)));
  if (!finalizers.includes(ORPHAN) || !finalizers.includes(FOREGROUND)) return found;
  const detail = `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`;
  return [...found, invalid(path, stringSlice(finalizers), detail)];
}

const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

function managerErrors(entries: NonNullable<Meta['managedFields']>, path: string): FieldError[] {
  return entries.flatMap(({ operation, fieldsType = '', manager = '', subresource = '' }, index) => {
    const at = keyPath(path, index);
    const found: FieldError[] = [];
    if (operation !== 'Apply' && operation !== 'Update') {
      found.push(invalid(`${at}.operation`, operation ?? '', 'must be `Apply` or `Update`'));
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      found.push(invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
    }
    if (byteLength(manager) > MAX_MANAGER_BYTES) found.push(tooLong(`${at}.manager`, MAX_MANAGER_BYTES));
    for (const [position, character] of [...manager].slice(0, MAX_MANAGER_BYTES).entries()) {
      if (isPrintable(character)) continue;
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      found.push(invalid(`${at}.manager`, manager, `invalid character U+${code} (at position ${position})`));
    }
    if (byteLength(subresource) > MAX_SUBRESOURCE_BYTES) {
      found.push(tooLong(`${at}.subresource`, MAX_SUBRESOURCE_BYTES));
    }
    return found;
  });
}
