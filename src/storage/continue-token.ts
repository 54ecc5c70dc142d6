/**
 * Continue tokens: where the next page of a list starts. spec: Chunked lists
 *
 * A token is base64url of a small JSON document, in the reference server's format with one more field: `t`, the time of
 * the first page, from which the token's age is counted. Revision -1 means the current state from this key on.
 */
import { quote } from '../text/go/go-text.js';
import { messageOf } from '../util/message-of.js';

export interface ContinueToken {
  /** The revision of all pages of the list, or -1. */
  readonly revision: number;
  /** The key of the last object of the previous page, relative to the listed range. */
  readonly after: string;
  /** Milliseconds of the cluster's clock at the first page; absent in tokens from other servers. */
  readonly issuedAt?: number;
}

/** The text is not a token. The message follows `invalid continue token: `. */
export class ContinueTokenError extends Error {
  override readonly name = 'ContinueTokenError';
}

const INVALID = 'continue key is not valid';

export function encodeContinueToken(token: ContinueToken, version: string): string {
  const document = {
    v: version,
    rv: token.revision,
    start: `${token.after}\u0000`,
    ...(token.issuedAt === undefined ? {} : { t: token.issuedAt }),
  };
  const binary = Array.from(new TextEncoder().encode(JSON.stringify(document)), (byte) => String.fromCharCode(byte));
  return btoa(binary.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Decodes a token. `parseJson` has the reference server's error messages. Throws {@link ContinueTokenError}. */
export function decodeContinueToken(
  text: string,
  version: string,
  parseJson: (text: string) => unknown,
): ContinueToken {
  const document = readDocument(text, parseJson);
  if (document['v'] !== version) {
    throw new ContinueTokenError(
      `${INVALID}: server does not recognize this encoded version ${String(document['v'] ?? '')}`,
    );
  }
  const { rv, start, t } = document;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw new ContinueTokenError(`${INVALID}: incorrect encoded start resourceVersion (version ${version})`);
  }
  if (typeof start !== 'string' || start === '') {
    throw new ContinueTokenError(`${INVALID}: encoded start key empty (version ${version})`);
  }
  if (!isCleanKey(start)) throw new ContinueTokenError(`${INVALID}: ${start}`);
  const after = start.endsWith('\u0000') ? start.slice(0, -1) : start;
  return { revision: rv, after: after.replace(/^\//, ''), ...(typeof t === 'number' ? { issuedAt: t } : {}) };
}

function readDocument(text: string, parseJson: (text: string) => unknown): Record<string, unknown> {
  const illegal = /[^A-Za-z0-9_-]/.exec(text);
  const cutAt = text.length % 4 === 1 ? text.length - 1 : undefined;
  const position = illegal?.index ?? cutAt;
  if (position !== undefined) throw new ContinueTokenError(`${INVALID}: illegal base64 data at input byte ${position}`);
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const [first = ''] = binary.trimStart();
  if (first > '\x7f') {
    // Go's parser names the byte, not the character that it belongs to.
    throw new ContinueTokenError(
      `${INVALID}: invalid character '${quote(first).slice(1, -1)}' looking for beginning of value`,
    );
  }
  const json = new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  let document: unknown;
  try {
    document = parseJson(json);
  } catch (error) {
    throw new ContinueTokenError(`${INVALID}: ${messageOf(error)}`);
  }
  return typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {};
}

/** A key that stays inside its collection: no parent steps, no empty parts. */
function isCleanKey(start: string): boolean {
  const parts = start.replace(/^\//, '').split('/');
  return parts.every((part) => part !== '' && part !== '.' && part !== '..');
}
