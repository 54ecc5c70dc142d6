/**
 * Parts of strategies that many kinds share: the status subresource, the generation, immutable data, warnings about names.
 */

import { type FieldError, forbidden } from '../../meta/field-error.js';
import { dnsLabelProblems } from '../../meta/names.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { wasSentEmpty, wasSentWithNull } from '../../schema/empty-values.js';
import { deepEqual, equalButEmptyLists } from '../../util/json.js';
import type { HookContext } from '../kind.js';
import type { OwnableFields, SubresourceStrategy } from '../subresource.js';

const WHEN_SET = 'field is immutable when `immutable` is set';

/** For `strategy.generation`: the generation increases when the spec changes. */
export function specGeneration(next: ApiObject, live: ApiObject): boolean {
  const [now, before] = [next['spec'], live['spec']];
  return !deepEqual(now, before) && !equalButEmptyLists(now, before);
}

/** Resets top-level fields of the draft to their live values. */
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
 * The `status` subresource. An update resets the top-level fields in `keeps` to their live values. Kinds differ in what it
 * does to metadata: it can be changed (`free`), is reset as a whole (`whole`), is reset in the fields that a client may
 * set at the main endpoint (`kept`), or is reset in the listed fields.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function statusSubresource<Object = unknown>(
  options: {
    readonly keeps?: readonly string[];
    readonly metadata?: StatusMetadata;
    readonly metadataValidation?: SubresourceStrategy['metadataValidation'];
    /** By default all fields that are not reset. */
    readonly ownableFields?: OwnableFields;
    readonly tables?: false;
  } & Partial<Pick<SubresourceStrategy<NoInfer<Object>>, 'lookUp' | 'prepare' | 'validate' | 'warnings'>>,
): SubresourceStrategy<Object> {
  const {
    keeps = ['spec'],
    metadata = 'free',
    lookUp,
    prepare,
    validate,
    metadataValidation,
    warnings,
    ownableFields,
    tables,
  } = options;
  return Object.freeze({
    verbs: ['get', 'update', 'patch'] as const,
    ownableFields: ownableFields ?? { except: [...keptMetadata(metadata), ...keeps] },
    prepare(draft: DraftObject & Object, live: ApiObject & Object, context: HookContext): void {
      keepLive(draft, live, keeps);
      keepMetadata(draft, live, metadata);
      prepare?.(draft, live, context);
    },
    ...(lookUp === undefined ? {} : { lookUp }),
    ...(validate === undefined ? {} : { validate }),
    ...(tables === undefined ? {} : { tables }),
    ...(metadataValidation === undefined ? {} : { metadataValidation }),
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

/** Resets metadata to its live values. upstream: apimachinery/pkg/apis/meta/v1/helpers.go ResetObjectMetaForStatus */
export function keepMetadata(draft: DraftObject, live: ApiObject, metadata: StatusMetadata): void {
  if (metadata === 'free') return;
  const from = live.metadata as unknown as DraftMeta;
  const to = draft.metadata as Record<string, unknown>;
  if (metadata === 'whole') {
    for (const field of [...Object.keys(to), ...Object.keys(from)] as (keyof DraftMeta)[]) {
      // The field managers are already updated for this write.
      if (field !== 'managedFields') to[field] = from[field];
    }
    return;
  }
  for (const field of metadata === 'kept' ? ALL_KEPT : metadata) to[field] = from[field];
}

/**
 * True if an update changes only owner references, finalizers and managed fields.
 * upstream: pkg/registry/rbac/helpers.go IsOnlyMutatingGCFields
 */
export function isGarbageCollectionUpdate(next: ApiObject, live: ApiObject): boolean {
  return deepEqual(withoutGarbageCollectionFields(next), withoutGarbageCollectionFields(live));
}

function withoutGarbageCollectionFields({ metadata, ...rest }: ApiObject): object {
  const { ownerReferences, finalizers, managedFields, resourceVersion, ...others } = metadata;
  return { ...rest, metadata: others };
}

/**
 * For ConfigMaps and Secrets: once `immutable` is true, it and the given fields cannot change. The reference server tells
 * empty maps from absent ones, except in fields whose default is an empty map, and null from stored empty bytes.
 */
export function immutableDataProblems(
  next: ApiObject,
  live: ApiObject,
  fields: readonly string[],
  emptyByDefault: readonly string[] = [],
): FieldError[] {
  if (live['immutable'] !== true) return [];
  const isSame = (field: string) =>
    deepEqual(next[field], live[field]) &&
    !wasSentWithNull(next[field]) &&
    (emptyByDefault.includes(field) || !wasSentEmpty(next, field));
  const changed = fields.filter((field) => !isSame(field));
  return (next['immutable'] === true ? changed : ['immutable', ...changed]).map((field) => forbidden(field, WHEN_SET));
}

/**
 * Warns about a name that is not a DNS label, for pods and workloads: the name of a workload is the prefix of its pods'
 * names, and a pod's name is its hostname.
 */
export function podNameWarnings(
  object: { readonly metadata: { readonly name: string } },
  live: object | undefined,
  usedIn = 'Pod names and hostnames',
): string[] {
  if (live !== undefined) return [];
  const problems = dnsLabelProblems(object.metadata.name);
  if (problems.length === 0) return [];
  return [
    `metadata.name: this is used in ${usedIn}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
  ];
}
