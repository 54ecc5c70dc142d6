/**
 * Ways that many kinds share: a status that has its own address, a generation that follows the spec.
 */

import type { FieldError } from '../../meta/field-error.js';
import { forbidden } from '../../meta/field-error.js';
import { dnsLabelProblems } from '../../meta/names.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import type { WriteContext } from '../kind.js';
import type { OwnableFields, SubresourceStrategy } from '../subresource.js';

const WHEN_SET = 'field is immutable when `immutable` is set';

/** The generation rises when the spec changes. */
export function specGeneration(next: ApiObject, live: ApiObject): boolean {
  return !deepEqual(next['spec'], live['spec']);
}

/** Puts the live value of top-level fields back, whatever the client sent. */
export function keepLive(draft: DraftObject, live: ApiObject, fields: readonly string[]): void {
  for (const field of fields) {
    if (live[field] === undefined) delete draft[field];
    else draft[field] = live[field];
  }
}

type StatusMetadata =
  | 'free'
  | 'kept'
  | 'whole'
  | readonly ('labels' | 'annotations' | 'ownerReferences' | 'finalizers')[];

/**
 * The `status` address of a kind whose objects hold these other top-level fields. Metadata is the client's to change
 * (`free`), or kept as it is: all of it (`whole`), what a client may set elsewhere (`kept`), or parts; kinds differ.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function statusSubresource(about: {
  readonly keeps?: readonly string[];
  readonly metadata?: StatusMetadata;
  readonly prepare?: (draft: DraftObject, live: ApiObject, context: WriteContext) => void;
  readonly validate?: SubresourceStrategy['validate'];
  readonly warnings?: (next: ApiObject, live: ApiObject, context: WriteContext) => readonly string[];
  readonly metadataValidation?: SubresourceStrategy['metadata'];
  /** Absent: all but what is kept. */
  readonly ownableFields?: OwnableFields;
  readonly tables?: false;
}): SubresourceStrategy {
  const {
    keeps = ['spec'],
    metadata = 'free',
    prepare,
    validate,
    metadataValidation,
    warnings,
    ownableFields,
    tables,
  } = about;
  return Object.freeze({
    verbs: ['get', 'update', 'patch'] as const,
    ownableFields: ownableFields ?? { except: [...keptMetadata(metadata), ...keeps] },
    prepare(draft: DraftObject, live: ApiObject, context: WriteContext): void {
      keepLive(draft, live, keeps);
      keepMetadata(draft, live, metadata);
      prepare?.(draft, live, context);
    },
    ...(validate === undefined ? {} : { validate }),
    ...(tables === undefined ? {} : { tables }),
    ...(metadataValidation === undefined ? {} : { metadata: metadataValidation }),
    ...(warnings === undefined ? {} : { warnings }),
  });
}

function keptMetadata(metadata: StatusMetadata): readonly string[] {
  if (metadata === 'free') return [];
  return metadata === 'kept' || metadata === 'whole' ? ['metadata'] : metadata.map((field) => `metadata.${field}`);
}

const ALL_KEPT = [
  'deletionTimestamp',
  'generation',
  'selfLink',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
] as const;

function keepMetadata(draft: DraftObject, live: ApiObject, metadata: StatusMetadata): void {
  if (metadata === 'free') return;
  const from = live.metadata as unknown as DraftMeta;
  const to = draft.metadata as Record<string, unknown>;
  if (metadata === 'whole') {
    for (const field of [...Object.keys(to), ...Object.keys(from)] as (keyof DraftMeta)[]) {
      // Who owns what has been noted for this write already.
      if (field !== 'managedFields') to[field] = from[field];
    }
    return;
  }
  for (const field of metadata === 'kept' ? ALL_KEPT : metadata) to[field] = from[field];
}

/** Owners, finalizers and the record of who manages what do not count, nor the version that the client has seen. */
export function isGarbageCollectionUpdate(next: ApiObject, live: ApiObject): boolean {
  return deepEqual(said(next), said(live));
}

function said({ metadata, ...rest }: ApiObject): object {
  const { ownerReferences, finalizers, managedFields, resourceVersion, ...about } = metadata;
  return { ...rest, metadata: about };
}

/** Once `immutable` is true, neither it nor the fields named here can change. */
export function immutableDataProblems(next: ApiObject, live: ApiObject, fields: readonly string[]): FieldError[] {
  if (live['immutable'] !== true) return [];
  const changed = fields.filter((field) => !deepEqual(next[field], live[field]));
  return (next['immutable'] === true ? changed : ['immutable', ...changed]).map((field) => forbidden(field, WHEN_SET));
}

/** Names of pods begin with the name of what makes them, and a pod's name is its host name. */
export function podNameWarnings(
  object: ApiObject,
  live: ApiObject | undefined,
  usedIn = 'Pod names and hostnames',
): string[] {
  if (live !== undefined) return [];
  const problems = dnsLabelProblems(object.metadata.name);
  if (problems.length === 0) return [];
  return [
    `metadata.name: this is used in ${usedIn}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
  ];
}
