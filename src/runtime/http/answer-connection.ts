/**
 * Answers HTTP requests with connections to the programs of pods.
 */

import type { LogConnection, PortConnection, ProxyConnection, StreamConnection } from '../../protocol/connection.js';
import type { Answer, HttpRequest } from '../../protocol/http.js';
import { unreachable } from '../../util/invariant.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { answerWithLog } from './log.js';
import { answerWithPorts } from './port-forward.js';
import { answerThroughProxy } from './proxy.js';
import { answerWithStreams } from './streams.js';

/** Implements `Connection.answer`. Throws, or rejects with, the StatusError of a request that cannot be answered. */
export function answerConnection(
  connection: LogConnection | StreamConnection | PortConnection | ProxyConnection,
  request: HttpRequest,
  onEnd: () => void,
): MaybePromise<Answer> {
  switch (connection.type) {
    case 'log':
      return answerWithLog(connection, request, onEnd);
    case 'streams':
      return answerWithStreams(connection, request, onEnd);
    case 'ports':
      return answerWithPorts(connection, request, onEnd);
    case 'proxy':
      return answerThroughProxy(connection, request, onEnd);
    default:
      return unreachable(connection);
  }
}
