/**
 * The Protobuf codec for documents of built-in kinds. Custom resources and tables have no message type; content
 * negotiation excludes them with `carries`. The type of a document is in its envelope; a missing type is taken from the
 * request.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { GroupVersionKind } from '../../meta/gvk.js';
import { apiVersionOf, parseApiVersion } from '../../meta/gvk.js';
import type { ParsedBody, RequestBody, TypeMeta } from '../../protocol/body.js';
import { BodyError } from '../../protocol/body.js';
import { quote } from '../../text/go/go-text.js';
import type { MutableRecord } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { bytesSummary, type Codec, type Document, type EventDocument, encodeEach, isFrozenObject } from '../codec.js';
import { groups } from './message-types.js';
import type { TypeTable } from './notation.js';
import { createTypeTable } from './notation.js';
import { decodeMessage } from './read.js';
import { SHAPE_TYPES } from './shapes.js';
import { encodeMessage, writeBytes } from './write.js';

/**
 * A body error whose message is complete. With a claimed type the reference server adds the prefix `Pod in version "v1"
 * cannot be handled as a …: `; otherwise it reports an unrecognized object.
 */
export class ProtobufBodyError extends BodyError {
  /** In the dialect of the request. */
  readonly claimed: GroupVersionKind | undefined;

  constructor(message: string, claimed?: GroupVersionKind) {
    super(message, { isWhole: true });
    this.claimed = claimed;
  }
}

/** Thrown for a document without a message type: a custom resource, a table, or a document without kind. */
export class UnknownTypeError extends TypeError {
  override readonly name = 'UnknownTypeError';
  readonly apiVersion: string;
  readonly kind: string;

  constructor({ apiVersion = '', kind = '' }: Document) {
    super(`orchplane: there is no protobuf message type for ${kind || '(no kind)'} in ${apiVersion || '(no version)'}`);
    this.apiVersion = apiVersion;
    this.kind = kind;
  }
}

/**
 * The encoding that client libraries prefer for built-in kinds.
 *
 * @example
 * createFetchHandler(cluster, { codecs: [protobuf] })
 */
export const protobuf: Codec = {
  mediaType: (dialect) => dialect.mediaType('protobuf'),
  carries: 'built-in kinds',
  body: protobufBody,
  encode: (document, { dialect }) => encodeDocument(document, dialect),
  encodeSteps: (document, { dialect }) => encodeSteps(document, dialect),
  stream: {
    mediaType: streamType,
    contentType: streamType,
    encode: encodeEvent,
    framingBytes: 4,
  },
};

function streamType(dialect: Dialect): string {
  return `${dialect.mediaType('protobuf')};stream=watch`;
}

function encodeDocument(document: Document, dialect: Dialect): Uint8Array {
  const { apiVersion = '', kind = '' } = document;
  // The discovery documents of `/api` have no apiVersion, also not in the envelope.
  const message = typesIn(dialect).ofKind(apiVersion || 'v1', kind);
  if (message === undefined) throw new UnknownTypeError(document);
  const raw = encodeMessage(message, document);
  // The envelope of a WatchEvent has no type.
  return kind === 'WatchEvent' ? wrap({ apiVersion: '', kind: '', raw }) : wrap({ apiVersion, kind, raw });
}

/** Encodes the items of a list in steps; the document then consists of cached messages. */
function* encodeSteps(document: Document, dialect: Dialect): Generator<undefined, Uint8Array> {
  const { apiVersion = '', kind = '', items }: Document & { readonly items?: unknown } = document;
  const field = typesIn(dialect)
    .ofKind(apiVersion, kind)
    ?.fields.find(({ documents }) => documents);
  if (field !== undefined && Array.isArray(items))
    yield* encodeEach(items.filter(isFrozenObject), (item) => encodeMessage(field.message, item).length);
  return encodeDocument(document, dialect);
}

/** A length of four bytes, then the event; its object is a document with its own envelope. */
function encodeEvent({ type, object }: EventDocument, dialect: Dialect): Uint8Array {
  const document = encodeDocument(object, dialect);
  const frame = writeBytes((writer) => {
    writer.fixed32(0).uint32(0x0a).string(type);
    writer.uint32(0x12).fork().uint32(0x0a).bytes(document).ldelim();
  });
  new DataView(frame.buffer).setUint32(0, frame.length - LENGTH_BYTES);
  return frame;
}

const LENGTH_BYTES = 4;

/** `read` takes the expected type, in the dialect, for a document whose envelope has none. */
export function protobufBody(bytes: Uint8Array, dialect: Dialect): RequestBody {
  let parsed: ParsedBody | undefined;
  return {
    read(expected) {
      parsed ??= { value: decodeDocument(bytes, dialect, expected) };
      return parsed;
    },
    typeMeta: () => claimedType(bytes, dialect),
    omitsZeroValues: () => true,
    summary: () => bytesSummary(bytes),
    detach: () => protobufBody(bytes.slice(), dialect),
  };
}

/** The type in the envelope; undefined if the envelope is invalid, which `read` reports. */
function claimedType(bytes: Uint8Array, dialect: Dialect): TypeMeta | undefined {
  try {
    const { apiVersion, kind } = unwrap(bytes, typesIn(dialect));
    return { apiVersion, kind };
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}

/** Decodes a document with its envelope to JSON. Throws {@link ProtobufBodyError}. */
export function decodeDocument(bytes: Uint8Array, dialect: Dialect, expected?: GroupVersionKind): MutableRecord {
  const envelope = worded(() => unwrap(bytes, typesIn(dialect)));
  const gvk = typeOf(envelope, expected);
  const apiVersion = apiVersionOf(gvk);
  const message = typesIn(dialect).ofKind(apiVersion, gvk.kind);
  if (message === undefined) throw new ProtobufBodyError(unregistered(gvk), gvk);
  return { apiVersion, kind: gvk.kind, ...worded(() => decodeMessage(message, envelope.raw), gvk) };
}

function worded<Value>(read: () => Value, claimed?: GroupVersionKind): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof BodyError) throw new ProtobufBodyError(error.message, claimed);
    throw error;
  }
}

function typeOf(envelope: Envelope, expected: GroupVersionKind | undefined): GroupVersionKind {
  const kind = envelope.kind || (expected?.kind ?? '');
  // An invalid apiVersion counts as absent.
  const given = parseApiVersion(envelope.apiVersion) ?? { group: '', version: '' };
  const { group, version } = given.version === '' && expected !== undefined ? expected : given;
  const gvk = { group, version, kind };
  if (kind === '') throw new ProtobufBodyError(missing('Kind', envelope));
  if (version === '') throw new ProtobufBodyError(missing('apiVersion', envelope), gvk);
  return gvk;
}

function missing(what: string, { apiVersion, kind }: Envelope): string {
  const typeMeta = `runtime.TypeMeta{APIVersion:${quote(apiVersion)}, Kind:${quote(kind)}}`;
  return `Object '${what}' is missing in '${typeMeta}'`;
}

function unregistered(gvk: GroupVersionKind): string {
  const version = quote(apiVersionOf(gvk));
  return `no kind ${quote(gvk.kind)} is registered for version ${version} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
}

const tables = new WeakMap<Dialect, TypeTable>();

/** The message types in the names of a dialect, built once. */
export function typesIn(dialect: Dialect): TypeTable {
  return getOrInsertComputed(tables, dialect, () => createTypeTable(groups, SHAPE_TYPES, dialect));
}

/** The magic number `k8s\0`, the same in both dialects. */
const PREFIX = Uint8Array.of(0x6b, 0x38, 0x73, 0);

/** The outer message of every document: its type and its bytes. */
interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The document's message. */
  readonly raw: Uint8Array;
}

/** Writes an envelope. */
export function wrap({ apiVersion, kind, raw }: Envelope): Uint8Array {
  return writeBytes((writer) => {
    writer.raw(PREFIX);
    writer.uint32(0x0a).fork().uint32(0x0a).string(apiVersion).uint32(0x12).string(kind).ldelim();
    // contentEncoding and contentType are always present and empty.
    writer.uint32(0x12).bytes(raw).uint32(0x1a).string('').uint32(0x22).string('');
  });
}

/** Reads an envelope. Throws BodyError. */
function unwrap(bytes: Uint8Array, types: TypeTable): Envelope {
  if (bytes.length === 0) throw new BodyError('empty data');
  if (PREFIX.some((byte, index) => byte !== bytes[index])) {
    const expected = `expected prefix [${PREFIX.join(' ')}]`;
    throw new BodyError(`provided data does not appear to be a protobuf message, ${expected}`);
  }
  if (bytes.length === PREFIX.length) throw new BodyError('empty body');
  const { typeMeta, raw } = decodeMessage(types.named('Unknown'), bytes.subarray(PREFIX.length));
  const { apiVersion = '', kind = '' } = (typeMeta ?? {}) as Partial<Envelope>;
  return { apiVersion, kind, raw: raw instanceof Uint8Array ? raw : new Uint8Array() };
}
