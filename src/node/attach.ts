/**
 * A cluster behind an HTTP server of Node, wherever the connections of that server come from.
 */
import type { Server, ServerOptions } from 'node:http';
import { cbor } from '../codec/cbor/index.js';
import type { Codec } from '../codec/codec.js';
import { protobuf } from '../codec/protobuf/index.js';
import type { Tokens } from '../http/bearer.js';
import { createHandler, type FetchTarget } from '../http/handler.js';
import { ClientGone } from './incoming-request.js';
import { createListener, type Listener } from './listener.js';
import { logLine } from './request-log.js';

export interface AttachOptions {
  /** Several bearer tokens, and whom they stand for. */
  readonly tokens?: Tokens;
  /** True: a line to standard error for every request; or what to do with such a line. */
  readonly log?: boolean | ((line: string) => void);
  /** Encodings besides JSON and YAML; unless said otherwise all there are, because kubectl sends some of its bodies so. */
  readonly codecs?: readonly Codec[];
  /** Told about errors that no client should see in full; absent: they are written to the console. */
  readonly onError?: (error: unknown) => void;
}

/** The limits of the reference server. None of them counts the time of an answer, so watches last as long as they want. */
export const SERVER_OPTIONS: ServerOptions = {
  maxHeaderSize: 1024 * 1024,
  // A connection without requests.
  keepAliveTimeout: 90_000,
  // For a client to send the head of a request, and all of it.
  headersTimeout: 32_000,
  requestTimeout: 300_000,
  noDelay: true,
};

/** Answers what comes to the server. `origin` is asked with each request: a port is known late. */
export function attachCluster(
  server: Server,
  cluster: FetchTarget,
  options: AttachOptions & { readonly origin: () => string },
): Listener {
  const { tokens, origin } = options;
  const onError = options.onError ?? ((error: unknown) => console.error(error));
  const log = options.log === true ? (line: string) => console.error(line) : options.log || undefined;
  const handler = createHandler(cluster, {
    codecs: options.codecs ?? [protobuf, cbor],
    ...(tokens === undefined ? {} : { tokens }),
    // That a client leaves is its own affair.
    onError: (error) => (error instanceof ClientGone ? undefined : onError(error)),
  });
  const onExchanged =
    log === undefined ? undefined : (exchanged: Parameters<typeof logLine>[0]) => log(logLine(exchanged));
  const listener = createListener(handler, { origin, onError, onExchanged });
  server.on('request', listener.request).on('checkContinue', listener.checkContinue);
  // There is nothing to tunnel to.
  server.on('connect', (_request, socket) =>
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n'),
  );
  return listener;
}
