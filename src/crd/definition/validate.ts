/**
 * Validates CustomResourceDefinitions on create, on update and on status updates. The order of the errors is that of
 * the reference server, which validates its internal version: parts that all versions share are moved to the top level
 * and reported there (`spec.validation…`, `spec.subresources…`).
 */

import { subdomainNameProblems } from '../../kinds/build-kind.js';
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../kinds/generated/apiextensions-v1.js';
import type { HookContext, NameValidator } from '../../kinds/kind.js';
import { listReporter } from '../../kinds/shared/list-reporter.js';
import type { Dialect } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { invalid, keyPath, required } from '../../meta/field-error.js';
import type { ApiObject } from '../../meta/object.js';
import { stringSlice } from '../../text/go/go-text.js';
import { approvalAnnotation, approvalMessage, approvalOf, isProtectedGroup } from './approval.js';
import type { CustomResourceDefinition } from './custom-resource-definition.js';
import { nameErrors, specErrors } from './validate-spec.js';

/** Validates a CRD on create. */
export function validate(definition: CustomResourceDefinition, { dialect }: HookContext): readonly FieldError[] {
  return [
    ...specErrors(definition.spec, dialect),
    ...statusErrors(definition),
    ...storedVersionErrors(definition),
    ...approvalErrors(definition, undefined, dialect),
    ...preserveUnknownFieldsErrors(definition.spec, undefined, dialect),
  ];
}

/** Validates a CRD on update. */
export function validateUpdate(
  definition: CustomResourceDefinition,
  before: CustomResourceDefinition,
  { dialect }: HookContext,
): readonly FieldError[] {
  return [
    ...specErrors(definition.spec, dialect, { spec: before.spec, isEstablished: isEstablished(before) }),
    ...immutableFieldErrors(definition.spec, before),
    ...statusErrors(definition),
    ...storedVersionErrors(definition),
    ...approvalErrors(definition, before, dialect),
    ...preserveUnknownFieldsErrors(definition.spec, before.spec, dialect),
  ];
}

/** Validates an update of the status. */
export function validateStatus(next: ApiObject): readonly FieldError[] {
  return statusErrors(next as unknown as CustomResourceDefinition);
}

/** The name of a CRD is `<plural>.<group>`. */
export const crdNameProblems: NameValidator = (name, prefix, object) => {
  const { spec } = object as unknown as CustomResourceDefinition;
  const isOwn = name === `${spec.names.plural}.${spec.group}`;
  return [...subdomainNameProblems(name, prefix), ...(isOwn ? [] : ['must be spec.names.plural+"."+spec.group'])];
};

/** The group and the plural name are immutable; scope and kind are too once the CRD is established. */
function immutableFieldErrors(next: CustomResourceDefinitionSpec, before: CustomResourceDefinition): FieldError[] {
  const fields: [string, string, string][] = [
    ['spec.group', next.group, before.spec.group],
    ['spec.names.plural', next.names.plural, before.spec.names.plural],
  ];
  if (isEstablished(before)) {
    fields.unshift(
      ['spec.scope', next.scope, before.spec.scope],
      ['spec.names.kind', next.names.kind, before.spec.names.kind],
    );
  }
  return fields
    .filter(([, value, old]) => value !== old)
    .map(([field, value]) => invalid(field, value, 'field is immutable'));
}

function isEstablished({ status: { conditions } }: CustomResourceDefinition): boolean {
  return (conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True');
}

function statusErrors({ status }: CustomResourceDefinition): FieldError[] {
  return nameErrors(status.acceptedNames, 'status.acceptedNames');
}

function storedVersionErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const path = 'status.storedVersions';
  const stored = status.storedVersions ?? [];
  const versions: readonly CustomResourceDefinitionVersion[] = spec.versions ?? [];
  if (stored.length === 0) {
    const shown = stringSlice(status.storedVersions ?? undefined);
    return [invalid(path, shown, 'must have at least one stored version')];
  }
  const report = listReporter(path, () => stringSlice(stored));
  // Each stored version matches one version; a second version of the same name has no match.
  const left = new Set(stored);
  const found = versions.flatMap(({ name, storage }) =>
    left.delete(name) || !storage ? [] : report(`must have the storage version ${name}`),
  );
  const served = new Set(versions.map(({ name }) => name));
  for (const [index, name] of stored.entries()) {
    if (served.has(name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    found.push(invalid(keyPath(path, index), name, detail));
  }
  return found;
}

/** Validates the approval annotation of a protected group. A state that the update does not change is accepted. */
function approvalErrors(
  { metadata, spec }: CustomResourceDefinition,
  before: CustomResourceDefinition | undefined,
  dialect: Dialect,
): FieldError[] {
  if (!isProtectedGroup(spec.group, dialect)) return [];
  const key = approvalAnnotation(dialect);
  const text = metadata.annotations?.[key] ?? '';
  const state = approvalOf(text);
  if (before !== undefined && approvalOf(before.metadata.annotations?.[key] ?? '') === state) return [];
  const path = keyPath('metadata.annotations', key);
  if (state === 'missing') return [required(path, approvalMessage(text, dialect))];
  return state === 'invalid' ? [invalid(path, text, approvalMessage(text, dialect))] : [];
}

function preserveUnknownFieldsErrors(
  spec: CustomResourceDefinitionSpec,
  before: CustomResourceDefinitionSpec | undefined,
  dialect: Dialect,
): FieldError[] {
  if (before?.preserveUnknownFields === true || spec.preserveUnknownFields !== true) return [];
  const instead = dialect.extension('preserve-unknown-fields');
  const detail = `cannot set to true, set ${instead} to true in spec.versions[*].schema instead`;
  return [invalid('spec.preserveUnknownFields', true, detail)];
}
