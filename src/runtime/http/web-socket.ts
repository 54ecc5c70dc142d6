/**
 * Answers that switch to WebSocket, and the choice of their subprotocol.
 * upstream: apimachinery/pkg/util/httpstream/wsstream/conn.go handshake
 */

import { readSubprotocols } from '../../http/subprotocols.js';
import { errors } from '../../meta/errors.js';
import type { Answer, HttpRequest, MessageSocket } from '../../protocol/http.js';
import { onAbort } from '../../util/abort.js';

/** The name of a subprotocol without its domain, which may be that of either dialect: `v4.channel`. */
export interface Subprotocol {
  readonly name: string;
  /** As the client named it; undefined: the client named none. */
  readonly fullName: string | undefined;
  /** Messages are text, their content is base64. */
  readonly isBase64: boolean;
}

/** A conversation over WebSocket. The signal aborts when the client disconnects or the server closes. */
export type Conversation = (socket: MessageSocket, signal: AbortSignal) => Promise<void>;

/** Throws 400 for a request that does not ask for a WebSocket: SPDY is not supported. */
export function requireWebSocket({ isWebSocket }: HttpRequest): void {
  if (isWebSocket !== true) throw errors.badRequest('Upgrade request required');
}

/**
 * The first subprotocol of the client that the server supports. `supported` matches names without their domain; the empty
 * name stands for a client that names none.
 */
export function chooseSubprotocol({ headers }: HttpRequest, supported: RegExp): Subprotocol | undefined {
  const { names } = readSubprotocols(headers);
  for (const fullName of names.length === 0 ? [''] : names) {
    const name = fullName.replace(/\.\w+\.io$/, '');
    const isWhole = name !== fullName || fullName === '';
    if (isWhole && supported.test(name)) {
      return { name, fullName: fullName === '' ? undefined : fullName, isBase64: /(^|\.)base64\./.test(name) };
    }
  }
  return undefined;
}

/** The answer to a client whose subprotocols are not supported. */
export const UNSUPPORTED_SUBPROTOCOL: Answer = { code: 403, headers: [], body: null };

/** Switches to WebSocket. */
export function answerWithWebSocket(
  { signal }: HttpRequest,
  { fullName, isBase64 }: Subprotocol,
  { converse, onEnd }: { readonly converse: Conversation; readonly onEnd: () => void },
): Answer {
  const run = async (socket: MessageSocket): Promise<void> => {
    const closing = new AbortController();
    const undo = onAbort(signal, () => closing.abort(signal.reason));
    try {
      await converse(socket, closing.signal);
    } finally {
      undo();
      // Ends what the conversation has left running.
      closing.abort();
      onEnd();
    }
  };
  return {
    code: 101,
    headers: [],
    body: null,
    webSocket: { protocol: fullName, isText: isBase64, run, cancel: onEnd },
  };
}
