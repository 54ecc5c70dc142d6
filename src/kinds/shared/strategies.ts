/**
 * Ways that many kinds share: a status that has its own address, a generation that follows the spec.
 */
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import type { WriteContext } from '../kind.js';
import type { Claimable, SubresourceStrategy } from '../subresource.js';

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
  readonly validateUpdate?: SubresourceStrategy['validateUpdate'];
  readonly warnings?: (next: ApiObject, live: ApiObject, context: WriteContext) => readonly string[];
  readonly ownMetadata?: SubresourceStrategy['ownMetadata'];
  /** Absent: all but what is kept. */
  readonly claimable?: Claimable;
  readonly tables?: false;
}): SubresourceStrategy {
  const {
    keeps = ['spec'],
    metadata = 'free',
    prepare,
    validateUpdate,
    ownMetadata,
    warnings,
    claimable,
    tables,
  } = about;
  return Object.freeze({
    verbs: ['get', 'update', 'patch'] as const,
    claimable: claimable ?? { except: [...keptMetadata(metadata), ...keeps] },
    prepareForUpdate(draft: DraftObject, live: ApiObject, context: WriteContext): void {
      keepLive(draft, live, keeps);
      keepMetadata(draft, live, metadata);
      prepare?.(draft, live, context);
    },
    ...(validateUpdate === undefined ? {} : { validateUpdate }),
    ...(tables === undefined ? {} : { tables }),
    ...(ownMetadata === undefined ? {} : { ownMetadata }),
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
