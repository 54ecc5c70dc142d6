/**
 * The body of a request in this encoding. The type of a document is in its envelope, and only with it can the rest be
 * read; what the envelope leaves out may come from the address of the request.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { GroupVersionKind } from '../../meta/gvk.js';
import { apiVersionOf, parseApiVersion } from '../../meta/gvk.js';
import type { ParsedBody, RequestBody, TypeMeta } from '../../protocol/body.js';
import { BodyError, SUMMARY_LENGTH } from '../../protocol/body.js';
import { quote } from '../../text/go/go-text.js';
import type { MutableRecord } from '../../util/json.js';
import type { Envelope } from './envelope.js';
import { unwrap } from './envelope.js';
import { decodeMessage } from './read.js';
import { typesIn } from './type-table.js';
import { decodeUtf8 } from './utf8.js';

/**
 * The message is all there is to say (it is no fault of JSON). With a claimed type the reference server says
 * `Pod in version "v1" cannot be handled as a …: ` before it; else that the object is unrecognized.
 */
export class ProtobufBodyError extends BodyError {
  /** In the dialect of the request. */
  readonly claimed: GroupVersionKind | undefined;

  constructor(message: string, claimed?: GroupVersionKind) {
    super(message, { isWhole: true });
    this.claimed = claimed;
  }
}

/** `read` takes the expected type, in the dialect, for a document whose envelope has none. */
export function protobufBody(bytes: Uint8Array, dialect: Dialect): RequestBody {
  let parsed: ParsedBody | undefined;
  return {
    read(expected) {
      parsed ??= { value: decodeDocument(bytes, dialect, expected) };
      return parsed;
    },
    typeMeta: () => claimedType(bytes, dialect),
    summary: () => summaryOf(bytes),
    detach: () => protobufBody(bytes.slice(), dialect),
  };
}

/** What the envelope says; undefined when it cannot be read, which `read` will complain of in its own words. */
function claimedType(bytes: Uint8Array, dialect: Dialect): TypeMeta | undefined {
  try {
    const { apiVersion, kind } = unwrap(bytes, typesIn(dialect));
    return { apiVersion, kind };
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}

/** A document with its envelope, as JSON would have it. Throws {@link ProtobufBodyError}. */
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
  // A version that cannot be read counts as none.
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

/** `<empty>`, or the first bytes: as text if they begin like JSON, which was then sent under a wrong name. */
function summaryOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const shown = bytes.subarray(0, SUMMARY_LENGTH);
  const mark = bytes.length > SUMMARY_LENGTH ? ' ...' : '';
  if (bytes[0] === 0x7b) return decodeUtf8(shown) + mark;
  return Array.from(shown, (byte) => byte.toString(16).padStart(2, '0')).join('') + mark;
}
