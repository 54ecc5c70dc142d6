/**
 * The compact serialization of signed tokens, `header.payload.signature`. Nothing is verified here: parsed content is
 * untrusted.
 */
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { decodeBase64Url, encodeBase64Url } from '../../util/base64.js';
import { recoverFrom } from '../../util/catch-error.js';
import { isRecord, own, type ParsedBody } from '../../util/json.js';

export interface CompactToken {
  /** Empty if absent. */
  readonly keyId: string;
  readonly algorithm: string;
  /** The header has `crit`, extensions that must be understood. */
  readonly isCritical: boolean;
  readonly payload: ParsedBody;
  /** The signed bytes. */
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/**
 * Far more than a token with all claims needs, and small enough that an unauthenticated client cannot cause much work: the
 * server accepts headers of a megabyte.
 */
export const MAX_TOKEN_LENGTH = 64 * 1024;

/** The issuer claim of a token, from its payload alone; undefined if the text is not a token. */
export function claimedIssuer(token: string): string | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const [, payload, , ...rest] = token.split('.', 4);
  if (payload === undefined || rest.length > 0) return undefined;
  const claims = decodeJson(decodeBase64Url(payload))?.value;
  const issuer = isRecord(claims) ? own(claims, 'iss') : undefined;
  return typeof issuer === 'string' ? issuer : undefined;
}

/** Undefined if the text is not a token in compact serialization. */
export function readCompact(token: string): CompactToken | undefined {
  const parts = token.length > MAX_TOKEN_LENGTH ? [] : token.split('.', 4);
  if (parts.length !== 3) return undefined;
  const [head, body, signature] = parts.map(decodeBase64Url);
  const header = decodeJson(head);
  const payload = decodeJson(body);
  if (head === undefined || body === undefined || signature === undefined || payload === undefined) return undefined;
  if (header === undefined || header.duplicates !== undefined) return undefined;
  const fields = header.value ?? {};
  if (!isRecord(fields)) return undefined;
  const algorithm = stringField(fields, 'alg');
  const keyId = stringField(fields, 'kid');
  if (algorithm === undefined || keyId === undefined) return undefined;
  // Re-encoded from the decoded bytes, because trailing bits of base64 do not matter for the signature.
  const signed = asciiBytes(`${encodeBase64Url(head)}.${encodeBase64Url(body)}`);
  return { keyId, algorithm, isCritical: (own(fields, 'crit') ?? undefined) !== undefined, payload, signed, signature };
}

/** The header and claims to sign. */
export function unsignedCompact(header: object, claims: object): string {
  return `${encodeJson(header)}.${encodeJson(claims)}`;
}

export function asciiBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function encodeJson(value: object): string {
  return encodeBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}

function decodeJson(data: Uint8Array | undefined): ParsedBody | undefined {
  const parse = () => data && parseJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(data));
  return recoverFrom(JsonSyntaxError, parse, () => undefined);
}

/** Empty if absent or null; undefined if it is not a string. */
function stringField(header: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = own(header, key) ?? '';
  return typeof value === 'string' ? value : undefined;
}
