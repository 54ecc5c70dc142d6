/**
 * The log of a container as a response body or as messages.
 * upstream: apiserver/pkg/endpoints/handlers/responsewriters/writers.go StreamObject
 */

import type { LogConnection } from '../../protocol/connection.js';
import type { Answer, HttpRequest, MessageSocket } from '../../protocol/http.js';
import { bodyOf } from './body.js';
import { encodeMessage, partsOf } from './channels.js';
import { answerWithWebSocket, chooseSubprotocol, UNSUPPORTED_SUBPROTOCOL } from './web-socket.js';

const SUBPROTOCOLS = /^((base64\.)?binary)?$/;

/** Longer chunks are sent as several messages. */
const MAX_MESSAGE_BYTES = 2048;

export function answerWithLog(connection: LogConnection, request: HttpRequest, onEnd: () => void): Answer {
  if (request.isWebSocket !== true) {
    const body = request.method === 'HEAD' ? null : bodyOf(connection.read(), request, onEnd);
    return { code: 200, headers: [['Content-Type', 'text/plain']], body };
  }
  const subprotocol = chooseSubprotocol(request, SUBPROTOCOLS);
  if (subprotocol === undefined) return UNSUPPORTED_SUBPROTOCOL;
  const { isBase64 } = subprotocol;
  return answerWithWebSocket(request, subprotocol, {
    onEnd,
    async converse(socket, signal) {
      const log = bodyOf(connection.read(), { signal }, () => undefined);
      void ignoreMessages(socket).then(() => log.cancel());
      // An empty message tells the client that the connection is established.
      await socket.send(new Uint8Array());
      for (let bytes = await log.read(); bytes !== undefined; bytes = await log.read()) {
        for (const part of partsOf(bytes, MAX_MESSAGE_BYTES)) await socket.send(encodeMessage(part, isBase64));
      }
    },
  });
}

/** Resolves when the connection is closed. */
async function ignoreMessages(socket: MessageSocket): Promise<void> {
  while ((await socket.receive()) !== undefined);
}
