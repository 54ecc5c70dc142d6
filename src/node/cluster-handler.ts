/**
 * The request handler of a served cluster, its options, and the lines of its request log.
 */
import type { RequestAuthenticator, TokenTable } from '../auth/authentication.js';
import { cbor } from '../codec/cbor/index.js';
import type { Codec } from '../codec/codec.js';
import { protobuf } from '../codec/protobuf/index.js';
import type { FlowControlOption } from '../http/flow-control.js';
import { createHandler, type Handler } from '../http/handler.js';
import type { FetchTarget } from '../http/target.js';
import type { Aggregation } from '../kinds/apiregistration/reach.js';
import { systemClock } from '../util/clock.js';
import type { RequestLogEntry } from './http-listener.js';
import type { ServerObserver } from './http-server.js';
import { ClientDisconnectedError } from './incoming-request.js';

/** The options that all ways to serve a cluster over Node share. */
export interface ClusterListenerOptions {
  /** Bearer tokens and the users they authenticate. */
  readonly tokens?: TokenTable | undefined;
  /** A custom authenticator for requests without other credentials. */
  readonly authenticate?: RequestAuthenticator | undefined;
  /** API priority and fairness; see the handler's option. `serve` enables it by default. */
  readonly flowControl?: FlowControlOption | undefined;
  /** Deletions take as long as in the reference server; see the handler's option. `serve` enables it by default. */
  readonly pacing?: boolean | undefined;
  /** True: logs each request to standard error. A function gets each log line. */
  readonly log?: boolean | ((line: string) => void) | undefined;
  /** Encodings in addition to JSON and YAML; by default all, because kubectl sends some bodies as protobuf. */
  readonly codecs?: readonly Codec[] | undefined;
  /** The backends of aggregated APIs; see the handler's option. */
  readonly aggregate?: Aggregation | undefined;
  /** The release whose hidden metrics are printed; see the handler's option. */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /** Called with errors whose details are hidden from clients. Absent: they are logged to the console. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The option names of {@link ClusterListenerOptions}. */
export const CLUSTER_LISTENER_OPTIONS = [
  'tokens',
  'authenticate',
  'flowControl',
  'pacing',
  'log',
  'codecs',
  'aggregate',
  'showHiddenMetricsForVersion',
  'onError',
] as const satisfies readonly (keyof ClusterListenerOptions)[];

/** The handler of a cluster and the observer of a server in front of it. Throws TypeError for malformed tokens. */
export function createClusterHandler(
  cluster: FetchTarget,
  options: ClusterListenerOptions,
): { readonly handler: Handler; readonly observer: ServerObserver } {
  const { tokens, authenticate, flowControl, pacing, aggregate } = options;
  const onError = options.onError ?? ((error: unknown) => console.error(error));
  const log = options.log === true ? (line: string) => console.error(line) : options.log || undefined;
  const handler = createHandler(cluster, {
    codecs: options.codecs ?? [protobuf, cbor],
    ...(tokens === undefined ? {} : { tokens }),
    ...(authenticate === undefined ? {} : { authenticate }),
    ...(flowControl === undefined ? {} : { flowControl }),
    ...(pacing === undefined ? {} : { pacing }),
    ...(aggregate === undefined ? {} : { aggregate }),
    showHiddenMetricsForVersion: options.showHiddenMetricsForVersion,
    // A client that disconnects is not an error.
    onError: (error) => (error instanceof ClientDisconnectedError ? undefined : onError(error)),
  });
  const onRequestEnd = log === undefined ? undefined : (entry: RequestLogEntry) => log(logLine(entry));
  return { handler, observer: { onError, onRequestEnd } };
}

/** Longer user agents are truncated in the log. */
const MAX_USER_AGENT_LENGTH = 40;

/**
 * `12:03:31.250 GET /api/v1/pods?limit=500 200 1234B 0.8ms kubectl/v1.33.0`; `…ms cut` when the client disconnected
 * early.
 */
function logLine(entry: RequestLogEntry): string {
  const { method, target, status, bytes, userAgent, startedAt, isAborted: cut } = entry;
  const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
  const time = new Date(systemClock.now()).toISOString().slice(11, 23);
  const agent = printable(userAgent.split(' ', 1)[0] ?? '').slice(0, MAX_USER_AGENT_LENGTH);
  const parts = [
    time,
    method,
    printable(target),
    status === 0 ? '-' : String(status),
    `${bytes}B`,
    `${ms.toFixed(1)}ms`,
  ];
  return [...parts, ...(cut ? ['cut'] : []), ...(agent === '' ? [] : [agent])].join(' ');
}

/** Replaces control characters, so that a client cannot write terminal escapes into the log. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?');
}
