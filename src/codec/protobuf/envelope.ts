/**
 * The envelope of every document: four bytes that tell it from other encodings, then a message with the type of the
 * document and its bytes. It is the same in both dialects; the type inside is in the dialect's names.
 */
import { BodyError } from '../../protocol/body.js';
import type { TypeTable } from './notation.js';
import { decodeMessage } from './read.js';
import { written } from './write.js';

const PREFIX = Uint8Array.of(0x6b, 0x38, 0x73, 0);

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The document's message. */
  readonly raw: Uint8Array;
}

export function wrap({ apiVersion, kind, raw }: Envelope): Uint8Array {
  return written((writer) => {
    writer.raw(PREFIX);
    writer.uint32(0x0a).fork().uint32(0x0a).string(apiVersion).uint32(0x12).string(kind).ldelim();
    // An encoding and a type of the content nobody gives; they are there all the same, empty.
    writer.uint32(0x12).bytes(raw).uint32(0x1a).string('').uint32(0x22).string('');
  });
}

/** The reverse. Throws a BodyError. */
export function unwrap(bytes: Uint8Array, types: TypeTable): Envelope {
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
