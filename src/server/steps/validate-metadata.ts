/**
 * Validation of `metadata`, for every kind. spec: Conventions
 *
 * The reference server runs these rules more than once on an update (for any object, and again for the kind), so an error
 * can occur several times; `validate.ts` decides how often.
 * upstream: apiserver/pkg/registry/rest/update.go BeforeUpdate
 */
import type { Kind, NameValidator } from '../../kinds/kind.js';
import { annotationErrors } from '../../kinds/shared/annotations.js';
import { unqualifiedFinalizerProblems } from '../../kinds/shared/finalizers.js';
import { finalizerErrors, managerEntryErrors, ownerErrors } from '../../kinds/shared/metadata-errors.js';
import { type FieldError, forbidden, invalid, keyPath, required } from '../../meta/field-error.js';
import { labelErrors } from '../../meta/labels.js';
import { dnsLabelProblems, pathSegmentPrefixProblems, pathSegmentProblems } from '../../meta/names.js';
import type { ApiObject, DeepReadonly, ObjectMeta } from '../../meta/object.js';
import { stringSlice, verbatim } from '../../text/go/go-text.js';
import { goTimeString } from '../../text/time/time.js';
import { append } from '../../util/arrays.js';

type Meta = DeepReadonly<ObjectMeta>;

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
  nameProblems(object, rules.anyName === true ? ANY_NAME : kind.strategy.name.validate, problems);
  namespaceProblems(metadata, kind, problems);
  if ((metadata.generation ?? 0) < 0) {
    problems.push(invalid('metadata.generation', metadata.generation, 'must be greater than or equal to 0'));
  }
  append(problems, shared);
  if (metadata.finalizers?.length) append(problems, finalizerErrors(metadata.finalizers, 'metadata.finalizers'));
  append(problems, managedFieldsProblems(metadata));
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
  append(problems, managedFieldsProblems(now));
  return problems;
}

/** Decoding has checked the rest of managedFields. */
function managedFieldsProblems({ managedFields = [] }: Meta): FieldError[] {
  return managedFields.flatMap((entry, index) => managerEntryErrors(entry, 'metadata.managedFields', index));
}

/** Errors that both functions report. */
export function sharedProblems(metadata: Meta): readonly FieldError[] {
  const { labels, annotations, ownerReferences } = metadata;
  const problems = labels ? labelErrors(labels, 'metadata.labels') : [];
  if (annotations) append(problems, annotationErrors(annotations, 'metadata.annotations'));
  if (ownerReferences) append(problems, ownerErrors(ownerReferences, 'metadata.ownerReferences'));
  return problems;
}

/** The rule for any object: a valid URL path segment. */
const ANY_NAME: NameValidator = (name, isPrefix) =>
  isPrefix ? pathSegmentPrefixProblems(name) : pathSegmentProblems(name);

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
  for (const detail of rule(name, false, object)) problems.push(invalid('metadata.name', name, detail));
}

/**
 * Rules for the names of any new object, which follow those of its kind.
 * upstream: apiserver/pkg/registry/rest/create.go BeforeCreate
 */
export function anyNameProblems(object: ApiObject): FieldError[] {
  const problems: FieldError[] = [];
  nameProblems(object, ANY_NAME, problems);
  return problems;
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
