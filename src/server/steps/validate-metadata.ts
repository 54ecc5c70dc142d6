/**
 * Validation of `metadata`, for every kind. spec: Conventions
 *
 * The reference server runs these rules more than once on an update (for any object, and again for the kind), so an error
 * can occur several times; `validate.ts` decides how often.
 * upstream: apiserver/pkg/registry/rest/update.go BeforeUpdate
 */
import type { Kind, NameValidator } from '../../kinds/kind.js';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER, unqualifiedFinalizerProblems } from '../../kinds/shared/finalizers.js';
import type { FieldError } from '../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, required, tooLong } from '../../meta/field-error.js';
import { labelErrors } from '../../meta/labels.js';
import { byteLength, dnsLabelProblems, pathSegmentProblems, qualifiedNameProblems } from '../../meta/names.js';
import type { ApiObject, DeepReadonly, ObjectMeta, OwnerReference } from '../../meta/object.js';
import { stringSlice, verbatim } from '../../text/go/go-text.js';
import { goTimeString } from '../../text/time/time.js';
import { append } from '../../util/arrays.js';
import { isKnownValidManager, managerNameProblems } from '../manager-name.js';

type Meta = DeepReadonly<ObjectMeta>;

const MAX_ANNOTATION_BYTES = 256 * 1024;

/** Variants of the rules. */
export interface MetadataRules {
  /** Rejects finalizers without a domain: the rules of built-in kinds do, those for any object do not. */
  readonly strictFinalizers: boolean;
  /** Skips the kind's name rule. */
  readonly anyName?: true;
}

export const BUILT_IN_METADATA_CHECKS: MetadataRules = { strictFinalizers: true };
export const DOCUMENT_METADATA_CHECKS: MetadataRules = { strictFinalizers: false };
export const GENERIC_METADATA_CHECKS: MetadataRules = { strictFinalizers: false, anyName: true };

/** Rules for a new object and for every update. `shared`: see {@link sharedProblems}. */
export function metadataProblems(
  object: ApiObject,
  kind: Kind,
  rules: MetadataRules,
  shared = sharedProblems(object.metadata),
): FieldError[] {
  const { metadata } = object;
  const problems: FieldError[] = [];
  nameProblems(object, rules.anyName === true ? NO_RULE : kind.strategy.name.validate, problems);
  namespaceProblems(metadata, kind, problems);
  if ((metadata.generation ?? 0) < 0) {
    problems.push(invalid('metadata.generation', metadata.generation, 'must be greater than or equal to 0'));
  }
  append(problems, shared);
  if (metadata.finalizers?.length) finalizerProblems(metadata.finalizers, problems);
  managerProblems(metadata.managedFields, problems);
  if (rules.strictFinalizers) append(problems, unqualifiedFinalizerErrors(metadata));
  return problems;
}

/** Finalizers without a domain. */
export function unqualifiedFinalizerErrors({ finalizers = [] }: Meta): FieldError[] {
  return finalizers.flatMap((name, index) => unqualifiedFinalizerProblems(keyPath('metadata.finalizers', index), name));
}

/** Rules between the live and the next object. `shared`: see {@link sharedProblems}. */
export function metadataUpdateProblems(
  next: ApiObject,
  live: ApiObject,
  shared = sharedProblems(next.metadata),
): FieldError[] {
  const problems: FieldError[] = [];
  const now = next.metadata;
  const before = live.metadata;
  if (before.deletionTimestamp !== undefined) addedFinalizerProblems(now, before, problems);
  immutable('metadata.name', now.name, before.name, problems);
  immutable('metadata.namespace', now.namespace ?? '', before.namespace ?? '', problems);
  immutable('metadata.uid', now.uid, before.uid, problems);
  immutableTime('metadata.creationTimestamp', now.creationTimestamp, before.creationTimestamp, problems);
  immutableTime('metadata.deletionTimestamp', now.deletionTimestamp, before.deletionTimestamp, problems);
  immutable(
    'metadata.deletionGracePeriodSeconds',
    now.deletionGracePeriodSeconds,
    before.deletionGracePeriodSeconds,
    problems,
  );
  if ((now.generation ?? 0) < 0) {
    problems.push(invalid('metadata.generation', now.generation, 'must be greater than or equal to 0'));
  }
  if ((now.generation ?? 0) < (before.generation ?? 0)) {
    problems.push(invalid('metadata.generation', now.generation ?? 0, 'must not be decremented'));
  }
  append(problems, shared);
  return problems;
}

/** Errors that both functions report. */
export function sharedProblems(metadata: Meta): readonly FieldError[] {
  const { labels, annotations, ownerReferences } = metadata;
  const problems = labels ? labelErrors(labels, 'metadata.labels') : [];
  if (annotations) annotationProblems(annotations, problems);
  if (ownerReferences) ownerProblems(ownerReferences, problems);
  return problems;
}

const NO_RULE: NameValidator = () => [];

function nameProblems(object: ApiObject, rule: NameValidator, problems: FieldError[]): void {
  const { name = '', generateName = '' } = object.metadata as { name?: string; generateName?: string };
  if (generateName !== '') {
    for (const detail of rule(generateName, true, object)) {
      problems.push(invalid('metadata.generateName', generateName, detail));
    }
  }
  if (name === '') {
    problems.push(required('metadata.name', 'name or generateName is required'));
    return;
  }
  const details = rule(name, false, object);
  for (const detail of details) problems.push(invalid('metadata.name', name, detail));
  if (details.length > 0) return;
  for (const detail of pathSegmentProblems(name)) problems.push(invalid('metadata.name', name, detail));
}

function namespaceProblems(metadata: Meta, kind: Kind, problems: FieldError[]): void {
  const namespace = metadata.namespace ?? '';
  if (kind.scope === 'Cluster') {
    if (namespace !== '') problems.push(forbidden('metadata.namespace', 'not allowed on this type'));
  } else if (namespace === '') {
    problems.push(required('metadata.namespace'));
  } else {
    for (const detail of dnsLabelProblems(namespace)) problems.push(invalid('metadata.namespace', namespace, detail));
  }
}

const MAX_SUBRESOURCE_BYTES = 256;
/** A UTF-16 code unit takes at most three bytes in UTF-8. */
const MAX_UNITS_WITHIN_LIMIT = MAX_SUBRESOURCE_BYTES / 3;

/** Decoding has checked the rest of managedFields. */
function managerProblems(entries: Meta['managedFields'], problems: FieldError[]): void {
  entries?.forEach(({ manager, subresource = '' }, index) => {
    if (subresource.length < MAX_UNITS_WITHIN_LIMIT && isKnownValidManager(manager)) return;
    const at = keyPath('metadata.managedFields', index);
    problems.push(...managerNameProblems(manager, childPath(at, 'manager')));
    if (byteLength(subresource) > MAX_SUBRESOURCE_BYTES) {
      problems.push(tooLong(childPath(at, 'subresource'), MAX_SUBRESOURCE_BYTES));
    }
  });
}

function annotationProblems(annotations: NonNullable<Meta['annotations']>, problems: FieldError[]): void {
  let total = 0;
  for (const key of Object.keys(annotations)) {
    // Annotation keys are validated in lower case, so a prefix may contain capitals.
    for (const detail of qualifiedNameProblems(key.toLowerCase())) {
      problems.push(invalid('metadata.annotations', key, detail));
    }
    total += byteLength(key) + byteLength(annotations[key] ?? '');
  }
  if (total > MAX_ANNOTATION_BYTES) problems.push(tooLong('metadata.annotations', MAX_ANNOTATION_BYTES));
}

const MAX_CONTROLLER_ERRORS = 5;
const REQUIRED_FIELDS = ['kind', 'name', 'uid'] as const;

function ownerProblems(owners: readonly DeepReadonly<OwnerReference>[], problems: FieldError[]): void {
  const field = 'metadata.ownerReferences';
  let controller: DeepReadonly<OwnerReference> | undefined;
  let controllerErrors = 0;
  for (const owner of owners) {
    const version = owner.apiVersion.slice(owner.apiVersion.indexOf('/') + 1);
    // More than two parts count as an empty version.
    if (version === '' || version.includes('/'))
      problems.push(invalid(childPath(field, 'apiVersion'), owner.apiVersion, 'version must not be empty'));
    for (const part of REQUIRED_FIELDS) {
      if (owner[part] === '') problems.push(invalid(childPath(field, part), '', `${part} must not be empty`));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      problems.push(invalid(field, dumpOwner(owner), '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner.controller !== true) continue;
    // Each of these errors contains all owners, so their number is limited.
    if (controller !== undefined && controllerErrors++ < MAX_CONTROLLER_ERRORS) {
      const both = `${controller.kind}/${controller.name} and ${owner.kind}/${owner.name}`;
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${both}`;
      problems.push(invalid(field, dumpOwners(owners), detail));
    }
    controller = owner;
  }
}

function dumpOwner(owner: DeepReadonly<OwnerReference>): { readonly verbatim: string } {
  const flag = (value: boolean | undefined) => `(*bool)(${value === undefined ? 'nil' : '0xc000000000'})`;
  const fields = [
    `APIVersion:${JSON.stringify(owner.apiVersion)}`,
    `Kind:${JSON.stringify(owner.kind)}`,
    `Name:${JSON.stringify(owner.name)}`,
    `UID:${JSON.stringify(owner.uid)}`,
    `Controller:${flag(owner.controller)}`,
    `BlockOwnerDeletion:${flag(owner.blockOwnerDeletion)}`,
  ];
  return verbatim(`v1.OwnerReference{${fields.join(', ')}}`);
}

function dumpOwners(owners: readonly DeepReadonly<OwnerReference>[]): { readonly verbatim: string } {
  return verbatim(`[]v1.OwnerReference{${owners.map((owner) => dumpOwner(owner).verbatim).join(', ')}}`);
}

function finalizerProblems(finalizers: readonly string[], problems: FieldError[]): void {
  for (const name of finalizers) {
    for (const detail of qualifiedNameProblems(name)) problems.push(invalid('metadata.finalizers', name, detail));
  }
  if (finalizers.includes(ORPHAN_FINALIZER) && finalizers.includes(FOREGROUND_FINALIZER)) {
    const detail = `finalizer ${ORPHAN_FINALIZER} and ${FOREGROUND_FINALIZER} cannot be both set`;
    problems.push(invalid('metadata.finalizers', stringSlice(finalizers), detail));
  }
}

function addedFinalizerProblems(now: Meta, before: Meta, problems: FieldError[]): void {
  const known = new Set(before.finalizers);
  const added = [...new Set(now.finalizers)].filter((name) => !known.has(name)).sort();
  if (added.length === 0) return;
  const detail = 'no new finalizers can be added if the object is being deleted, found new finalizers';
  problems.push(forbidden('metadata.finalizers', `${detail} ${stringSlice(added).verbatim}`));
}

function immutable(field: string, now: unknown, before: unknown, problems: FieldError[]): void {
  if (now !== before) problems.push(invalid(field, now, 'field is immutable'));
}

function immutableTime(
  field: string,
  now: string | undefined,
  before: string | undefined,
  problems: FieldError[],
): void {
  if (now === before) return;
  problems.push(invalid(field, now === undefined ? null : verbatim(goTimeString(now)), 'field is immutable'));
}
