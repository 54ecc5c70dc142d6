/**
 * The object of a request on its way out and back: in which kind it is written, how it looks on the wire, and how what
 * comes back becomes an object again.
 */
import { inWireOrder } from '../../crd/value/wire-order.js';
import type { WriteContext } from '../../kinds/kind.js';
import { type ServedKind, serveKind } from '../../kinds/served-kind.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { arrange } from '../../schema/arrange.js';
import { decode } from '../../schema/decode.js';
import { formatTime } from '../../text/time/time.js';
import { copyJson, isRecord, type MutableRecord, own, setOwn } from '../../util/json.js';
import type { ClusterView } from '../types.js';

/** An object as it is sent: plain JSON, nothing undefined, fields in order. Not to be changed. */
export type WireObject = Readonly<Record<string, unknown>>;

/** The kind of what stands at a path below an object; undefined for the options of a line, which are no kind. */
export function formBelow(served: ServedKind, subresource: string): ServedKind | undefined {
  if (subresource === '') return served;
  const below = own(served.kind.subresources, subresource);
  if (below === undefined)
    return own(served.kind.connectSubresources ?? {}, subresource) === undefined ? served : undefined;
  if (below.type === undefined) return served;
  let byDialect = forms.get(below.kind);
  if (byDialect === undefined) {
    byDialect = new Map();
    forms.set(below.kind, byDialect);
  }
  let form = byDialect.get(served.dialect);
  if (form === undefined) {
    form = serveKind(below.kind, served.dialect);
    byDialect.set(served.dialect, form);
  }
  return form;
}

const forms = new WeakMap<ServedKind['kind'], Map<ServedKind['dialect'], ServedKind>>();

/**
 * How an object is sent. What is frozen is in order already; a draft is copied, because whoever changes it next must not
 * change what was sent.
 */
export function wireObject(object: ApiObject | DraftObject, form: ServedKind | undefined): WireObject {
  if (Object.isFrozen(object)) return withoutEmptyRevision(object as unknown as WireObject);
  if (form === undefined) return inWireOrder(copyJson(object)) as unknown as WireObject;
  const { metadata, ...body } = copyJson(object) as MutableRecord & { metadata?: MutableRecord };
  const isStruct = form.kind.representation === 'struct';
  const ordered = (isStruct ? arrange(form.schema, body) : inWireOrder(body)) as MutableRecord;
  const sentMetadata = metadata === undefined ? undefined : wireMetadata(metadata, isStruct);
  const out: MutableRecord = {};
  for (const name of form.schema.fields.keys()) {
    const value = name === 'metadata' ? sentMetadata : ordered[name];
    if (value !== undefined) setOwn(out, name, value);
  }
  for (const name of Object.keys(ordered)) if (!Object.hasOwn(out, name)) setOwn(out, name, ordered[name]);
  return isStruct ? out : inWireOrder(out);
}

/** The order in which metadata is written. */
const METADATA = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

function wireMetadata(metadata: MutableRecord, isStruct: boolean): MutableRecord {
  const out: MutableRecord = {};
  for (const name of METADATA) {
    // An object that is not created yet says so; a document says nothing.
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

/** What is not stored yet has no version, though a place for it. */
function withoutEmptyRevision(object: WireObject): WireObject {
  const { metadata } = object;
  if (!isRecord(metadata) || metadata['resourceVersion'] !== '') return object;
  const { resourceVersion: _none, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/**
 * What came back, as a draft of a kind: fields of the right types, unknown ones dropped, defaults filled in. Throws a
 * DecodeError for what cannot be one.
 */
export function readForm(value: unknown, form: ServedKind, view: Pick<ClusterView, 'clock' | 'dialect' | 'features'>) {
  const { kind, schema } = form;
  const decoded = kind.custom?.decode({ value }) ?? decode(schema, { value });
  const draft = decoded.value as unknown as DraftObject;
  kind.strategy.defaults?.(draft, momentOf(view));
  return draft;
}

function momentOf({ clock, dialect, features }: Pick<ClusterView, 'clock' | 'dialect' | 'features'>): WriteContext {
  return { dialect, features, now: formatTime(Math.floor(clock.now() / 1000) * 1000) };
}

/** Makes a draft what another object is, in place: whoever holds it sees the change. */
export function become(draft: DraftObject, next: DraftObject | ApiObject): void {
  for (const key of Object.keys(draft)) delete draft[key];
  for (const [key, value] of Object.entries(next)) setOwn(draft as MutableRecord, key, value);
}
