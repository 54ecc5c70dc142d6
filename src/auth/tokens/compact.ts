/**
 * A signed token as text, `header.payload.signature`, taken apart and put together. Nothing here is verified: what comes
 * out is what a stranger wrote.
 */
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { encodeBase64 } from '../../util/base64.js';
import { isRecord, own, type ParsedBody } from '../../util/json.js';

export interface CompactToken {
  /** Empty: none is named. */
  readonly keyId: string;
  readonly algorithm: string;
  /** The header demands that something is understood. */
  readonly isCritical: boolean;
  readonly payload: ParsedBody;
  /** What the signature is of. */
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/**
 * Far beyond what a token with all its claims needs, and little enough that a stranger who sends one costs nothing: the
 * server reads headers of a megabyte.
 */
export const LONGEST_TOKEN = 64 * 1024;

/** The issuer that a text claims to be from, by a look at its payload alone; undefined when it is no token of anybody. */
export function claimedIssuer(token: string): string | undefined {
  if (token.length > LONGEST_TOKEN) return undefined;
  const [, payload, , ...rest] = token.split('.', 4);
  if (payload === undefined || rest.length > 0) return undefined;
  const claims = decodeJson(decodeBase64Url(payload))?.value;
  const issuer = isRecord(claims) ? own(claims, 'iss') : undefined;
  return typeof issuer === 'string' ? issuer : undefined;
}

/** Undefined when the text is no token in the compact form. */
export function readCompact(token: string): CompactToken | undefined {
  const parts = token.length > LONGEST_TOKEN ? [] : token.split('.', 4);
  if (parts.length !== 3) return undefined;
  const [head, body, signature] = parts.map(decodeBase64Url);
  const header = decodeJson(head);
  const payload = decodeJson(body);
  if (head === undefined || body === undefined || signature === undefined || payload === undefined) return undefined;
  if (header === undefined || header.duplicates !== undefined) return undefined;
  const said = header.value ?? {};
  if (!isRecord(said)) return undefined;
  const algorithm = textIn(said, 'alg');
  const keyId = textIn(said, 'kid');
  if (algorithm === undefined || keyId === undefined) return undefined;
  // The bytes, spelled again: a signature is of what is said, not of the bits around it.
  const signed = asciiBytes(`${encodeBase64Url(head)}.${encodeBase64Url(body)}`);
  return { keyId, algorithm, isCritical: (own(said, 'crit') ?? undefined) !== undefined, payload, signed, signature };
}

/** The header and the claims as they are signed, keys in the order of their bytes. */
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
  if (data === undefined) return undefined;
  try {
    return parseJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(data));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** Empty when it is not there or null; undefined when it is no text. */
function textIn(header: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = own(header, key) ?? '';
  return typeof value === 'string' ? value : undefined;
}

export function encodeBase64Url(data: Uint8Array): string {
  return encodeBase64(data).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Undefined when the text is something else. Bits that stand for nothing are ignored, as the reference server does. */
function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[-\w]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const data = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) data[i] = binary.charCodeAt(i);
  return data;
}
