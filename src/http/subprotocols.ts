/**
 * The subprotocols that a WebSocket request offers. A browser cannot set the Authorization header of a WebSocket, so
 * one of them may carry a bearer token.
 * upstream: apiserver/pkg/authentication/request/websocket/protocol.go ProtocolAuthenticator.AuthenticateRequest
 */
import { errors } from '../meta/errors.js';
import type { HttpHeaders } from '../protocol/http.js';
import { decodeBase64Url } from '../util/base64.js';

/** The domain of either dialect is accepted. */
const TOKEN_SUBPROTOCOL = /^base64url\.bearer\.authorization\.\w+\.io\.(.*)$/;

/** What the header Sec-WebSocket-Protocol contains. */
export interface Subprotocols {
  /** Absent: no subprotocol carries a token. */
  readonly token?: string;
  /** The subprotocols without a token. */
  readonly names: readonly string[];
}

/** Reads the subprotocols. Throws 401 for a malformed token, for two tokens, and for a token alone. */
export function readSubprotocols(headers: HttpHeaders): Subprotocols {
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  const names = offered.filter((name) => name !== '' && !TOKEN_SUBPROTOCOL.test(name));
  const [encoded, second] = offered.flatMap((name) => TOKEN_SUBPROTOCOL.exec(name)?.[1] ?? []);
  if (encoded === undefined) return { names };
  const token = decodeToken(encoded);
  if (second !== undefined || token === undefined) throw errors.unauthorized('Unauthorized');
  // An empty token counts as none.
  if (token === '') return { names };
  // The response names a subprotocol, and it must not be the token.
  if (names.length === 0) throw errors.unauthorized('Unauthorized');
  return { token, names };
}

/** Undefined when it is not base64url without padding, or not UTF-8. */
function decodeToken(encoded: string): string | undefined {
  const bytes = decodeBase64Url(encoded);
  const text = bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  return text?.includes('\ufffd') === true ? undefined : text;
}
