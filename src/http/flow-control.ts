/**
 * API priority and fairness for HTTP requests: each request waits for a seat before it is executed, when the handler
 * enables it.
 */

import { ADMINISTRATOR } from '../auth/identity.js';
import { createFlowControl, FlowRejection } from '../flowcontrol/flow-control.js';
import type { FlowControl, FlowObserver, FlowTicket } from '../flowcontrol/types.js';
import { errors } from '../meta/errors.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { Answer } from '../protocol/http.js';
import type { RequestOptions, User } from '../protocol/request.js';
import { chain, isPromise, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { type Exchange, envelopeOf } from './exchange.js';
import type { Query } from './query.js';
import { respondText } from './respond.js';
import type { FetchTarget } from './target.js';

/** Disabled, enabled, or enabled with a given number of seats. */
export type FlowControlOption = boolean | { readonly totalSeats?: number | undefined };

/** Creates the flow control of a handler; undefined when it is disabled. */
export function createHandlerFlowControl(
  { clock, dialect, storageReader }: FetchTarget,
  option: FlowControlOption,
  observer: FlowObserver,
): FlowControl | undefined {
  if (option === false) return undefined;
  const totalSeats = option === true ? undefined : option.totalSeats;
  if (totalSeats !== undefined && !(Number.isSafeInteger(totalSeats) && totalSeats > 0)) {
    throw new TypeError(`orchplane: flowControl.totalSeats is a whole number from 1 on, not ${String(totalSeats)}`);
  }
  return createFlowControl({
    ...storageReader,
    clock,
    dialect,
    observer,
    ...(totalSeats === undefined ? {} : { totalSeats }),
  });
}

/** Waits until the request gets a seat. Throws, or rejects with, FlowRejection. */
export function awaitSeat(
  exchange: Exchange,
  request: {
    readonly user: User | undefined;
    readonly attributes: AccessAttributes;
    readonly timeout: number | undefined;
  },
): MaybePromise<void> {
  const { flow } = exchange.settings;
  if (flow === undefined) return undefined;
  const { user = ADMINISTRATOR, attributes, timeout } = request;
  const { signal } = exchange.request;
  const digest = {
    user,
    attributes,
    options: listSizeOptions(exchange.query, exchange.settings.target.features.enabled('WatchList')),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  };
  const onFailure = (error: unknown): never => {
    // The client disconnected while it waited; report a timeout instead of an internal error.
    throw signal.aborted && !(error instanceof FlowRejection) ? errors.timeout('the request was given up', 0) : error;
  };
  return rescue(
    () =>
      chain(rejectOnClosing(flow.admit(digest, signal), exchange.settings.target.closing), (ticket) => {
        exchange.ticket = ticket;
        exchange.awaitSeatAgain = () => awaitSeat(exchange, request);
      }),
    onFailure,
  );
}

/** How long a request may occupy its seat while its body arrives. */
const MAX_BODY_WAIT_MS = 500;

/**
 * Waits for the body of a request. If the client sends it slowly, the request gives its seat back, and waits for another one
 * when the body is there: otherwise a client could occupy all seats of its priority level with unfinished requests.
 */
export async function awaitBody<Body>(exchange: Exchange, arriving: Promise<Body>): Promise<Body> {
  const { ticket, settings } = exchange;
  if (ticket === undefined) return arriving;
  let isReleased = false;
  const release = (): void => {
    isReleased = true;
    ticket.ended();
  };
  const undo = settings.target.clock.after(MAX_BODY_WAIT_MS, release, { background: true });
  const body = await arriving.finally(undo);
  if (isReleased) await exchange.awaitSeatAgain?.();
  return body;
}

/** Rejects waiting requests when the cluster closes. A seat that is granted afterwards is released at once. */
function rejectOnClosing(ticket: MaybePromise<FlowTicket>, closing: AbortSignal | undefined): MaybePromise<FlowTicket> {
  if (!isPromise(ticket) || closing === undefined) return ticket;
  const waiting = rejectersOf(closing);
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    ticket
      .then((ticket) => (closing.aborted ? ticket.ended() : resolve(ticket)), reject)
      .finally(() => waiting.delete(reject));
  });
}

type Reject = (reason: unknown) => void;

/** One abort listener per signal: thousands of requests may wait. */
const waitingBySignal = new WeakMap<AbortSignal, Set<Reject>>();

function rejectersOf(closing: AbortSignal): Set<Reject> {
  let waiting = waitingBySignal.get(closing);
  if (waiting === undefined) {
    const all = new Set<Reject>();
    const refuseAll = () => {
      for (const refuse of all) refuse(closing.reason);
    };
    closing.addEventListener('abort', refuseAll, { once: true });
    waitingBySignal.set(closing, all);
    waiting = all;
  }
  return waiting;
}

const TEXT_OPTIONS = ['continue', 'resourceVersion', 'resourceVersionMatch', 'labelSelector', 'fieldSelector'] as const;

/** The list options from which flow control estimates the cost of a list. */
function listSizeOptions(query: Query, hasStreamingLists: boolean): RequestOptions {
  if (query.size === 0) return {};
  const limit = Number(query.get('limit')?.[0] ?? Number.NaN);
  const texts = TEXT_OPTIONS.flatMap((name) => {
    const value = query.get(name)?.[0];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(texts),
    ...(Number.isNaN(limit) ? {} : { limit }),
    ...(hasStreamingLists && query.get('sendInitialEvents')?.[0] === 'true' ? { sendInitialEvents: true } : {}),
  };
}

/** The plain-text response to a request that flow control rejects. */
export function respondFlowRejection(exchange: Exchange, { code, text, headers }: FlowRejection): Answer {
  const answer = respondText(envelopeOf(exchange), code, text);
  return { ...answer, headers: [...answer.headers, ...Object.entries(headers)] };
}
