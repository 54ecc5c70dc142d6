/**
 * The Protobuf codec: documents of built-in kinds, whose types it knows by heart. What users define, and tables, have
 * no message type; they are never asked for in this encoding, because negotiation looks at `carries` first.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { Codec, Document, EventDocument } from '../codec.js';
import { protobufBody } from './body.js';
import { wrap } from './envelope.js';
import { typesIn } from './type-table.js';
import { encodeMessage, written } from './write.js';

/** A document has no message type: it is of a kind that somebody has defined, a table, or says not what it is. */
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
  stream: {
    mediaType: streamType,
    contentType: streamType,
    encode: encodeEvent,
  },
};

function streamType(dialect: Dialect): string {
  return `${dialect.mediaType('protobuf')};stream=watch`;
}

function encodeDocument(document: Document, dialect: Dialect): Uint8Array {
  const { apiVersion = '', kind = '' } = document;
  // The oldest documents of discovery (of `/api` and below) do not name their version, in their envelope neither.
  const message = typesIn(dialect).ofKind(apiVersion || 'v1', kind);
  if (message === undefined) throw new UnknownTypeError(document);
  const raw = encodeMessage(message, document);
  // An event is no object and does not say what it is.
  return kind === 'WatchEvent' ? wrap({ apiVersion: '', kind: '', raw }) : wrap({ apiVersion, kind, raw });
}

/** The length in four bytes, then the event; its object is a whole document with an envelope of its own. */
function encodeEvent({ type, object }: EventDocument, dialect: Dialect): Uint8Array {
  const document = encodeDocument(object, dialect);
  const frame = written((writer) => {
    writer.fixed32(0).uint32(0x0a).string(type);
    writer.uint32(0x12).fork().uint32(0x0a).bytes(document).ldelim();
  });
  new DataView(frame.buffer).setUint32(0, frame.length - LENGTH_BYTES);
  return frame;
}

const LENGTH_BYTES = 4;
