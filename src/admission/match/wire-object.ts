/**
 * Converts the object of an admission request to the JSON that webhooks and policies see, and decodes the JSON that they
 * return.
 */
import { inWireOrder } from '../../crd/value/wire-order.js';
import { type ServedKind, serveKind } from '../../kinds/served-kind.js';
import { StatusError } from '../../meta/errors.js';
import { type ApiObject, type DraftObject, METADATA_FIELDS } from '../../meta/object.js';
import { arrange } from '../../schema/arrange.js';
import { decode } from '../../schema/decode.js';
import { formatTime } from '../../text/time/time.js';
import { copyJson, isRecord, type MutableRecord, own, setOwn } from '../../util/json.js';
import { chain, type MaybePromise, rescue } from '../../util/maybe-promise.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { ClusterView } from '../types.js';
import type { Match } from './types.js';

/** An object as plain JSON, with fields in wire order and nothing undefined. Must not be changed. */
export type WireObject = Readonly<Record<string, unknown>>;

/** The kind of a subresource's objects; undefined for connect subresources, whose options are not a kind. */
export function subresourceKind(served: ServedKind, subresource: string): ServedKind | undefined {
  if (subresource === '') return served;
  const below = own(served.kind.subresources, subresource);
  if (below === undefined)
    return own(served.kind.connectSubresources ?? {}, subresource) === undefined ? served : undefined;
  if (below.type === undefined) return served;
  const byDialect = getOrInsertComputed(subresourceKinds, below.kind, () => new Map());
  return getOrInsertComputed(byDialect, served.dialect, () => serveKind(below.kind, served.dialect));
}

const subresourceKinds = new WeakMap<ServedKind['kind'], Map<ServedKind['dialect'], ServedKind>>();

/**
 * The JSON of an object. A frozen object is in wire order already; a draft is copied, because a later change must not
 * affect what was sent.
 */
export function wireObject(object: ApiObject | DraftObject, served: ServedKind | undefined): WireObject {
  if (Object.isFrozen(object)) return withoutEmptyResourceVersion(object);
  if (served === undefined) return inWireOrder(copyJson(object));
  const { metadata, ...body } = copyJson(object) as MutableRecord & { metadata?: MutableRecord };
  const isStruct = served.kind.representation === 'struct';
  const ordered = (isStruct ? arrange(served.schema, body) : inWireOrder(body)) as MutableRecord;
  const sentMetadata = metadata === undefined ? undefined : wireMetadata(metadata, isStruct);
  const out: MutableRecord = {};
  for (const name of served.schema.fields.keys()) {
    const value = name === 'metadata' ? sentMetadata : ordered[name];
    if (value !== undefined) setOwn(out, name, value);
  }
  for (const name of Object.keys(ordered)) if (!Object.hasOwn(out, name)) setOwn(out, name, ordered[name]);
  return isStruct ? out : inWireOrder(out);
}

/** The object as `match` sees it. `refuse` makes the error for an object that cannot be converted. */
export function wireObjectFor(
  object: ApiObject | DraftObject | undefined,
  served: ServedKind,
  { matched, subresource }: Match,
  { view, refuse }: { readonly view: ClusterView; readonly refuse: (error: StatusError) => Error },
): MaybePromise<WireObject | undefined> {
  if (object === undefined) return undefined;
  const kind = subresourceKind(matched, subresource);
  // Other kinds of subresources are the same in all versions.
  if (kind !== matched || matched === served) return wireObject(object, kind);
  return rescue(
    () => chain(view.convert(object as ApiObject, served, matched), (converted) => wireObject(converted, kind)),
    (error) => {
      throw StatusError.is(error) ? refuse(error) : error;
    },
  );
}

function wireMetadata(metadata: MutableRecord, isStruct: boolean): MutableRecord {
  const out: MutableRecord = {};
  for (const name of METADATA_FIELDS) {
    // Structs print a null creationTimestamp before creation; documents omit it.
    if (name === 'creationTimestamp' && isStruct) out[name] = metadata[name] ?? null;
    else if (!isEmpty(metadata[name])) out[name] = metadata[name];
  }
  return out;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Omits the empty resourceVersion of an object that is not stored yet. */
function withoutEmptyResourceVersion(object: WireObject): WireObject {
  const { metadata } = object;
  if (!isRecord(metadata) || metadata['resourceVersion'] !== '') return object;
  const { resourceVersion: _none, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/**
 * Decodes a returned object to a draft of a kind: drops unknown fields and fills in defaults. Throws a DecodeError for
 * values of the wrong type.
 */
export function decodeDraft(
  value: unknown,
  served: ServedKind,
  { clock, dialect, features }: Pick<ClusterView, 'clock' | 'dialect' | 'features'>,
) {
  const { kind, schema } = served;
  const decoded = kind.customResourceHandler?.decode({ value }) ?? decode(schema, { value });
  const draft = decoded.value as unknown as DraftObject;
  const now = formatTime(Math.floor(clock.now() / 1000) * 1000);
  kind.strategy.decode.defaults?.(draft, { dialect, features, now });
  return draft;
}

/** Replaces the content of a draft in place, so that holders of the draft see the change. */
export function replaceContent(draft: DraftObject, next: DraftObject | ApiObject): void {
  for (const key of Object.keys(draft)) delete draft[key];
  for (const [key, value] of Object.entries(next)) setOwn(draft as MutableRecord, key, value);
}
