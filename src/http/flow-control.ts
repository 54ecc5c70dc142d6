/**
 * Requests share the server: each waits for its turn, where that is wanted.
 */

import { ADMINISTRATOR } from '../auth/identity.js';
import { createFlowControl, FlowRejection } from '../flowcontrol/flow-control.js';
import type { FlowControl, FlowObserver, FlowTicket } from '../flowcontrol/types.js';
import { errors } from '../meta/errors.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { RequestOptions, User } from '../protocol/request.js';
import { chain, isPromise, type MaybePromise, rescue } from '../util/maybe-promise.js';
import type { Answer } from './answer.js';
import { type Exchange, envelopeOf } from './exchange.js';
import type { Query } from './query.js';
import { respondText } from './respond.js';
import type { FetchTarget } from './target.js';

/** Off, on, or on with so many seats. */
export type FlowControlOption = boolean | { readonly totalSeats?: number | undefined };

export function flowOf(
  { clock, dialect, inside }: FetchTarget,
  wanted: FlowControlOption,
  observer: FlowObserver,
): FlowControl | undefined {
  if (wanted === false) return undefined;
  const totalSeats = wanted === true ? undefined : wanted.totalSeats;
  if (totalSeats !== undefined && !(Number.isSafeInteger(totalSeats) && totalSeats > 0)) {
    throw new TypeError(`orchplane: flowControl.totalSeats is a whole number from 1 on, not ${String(totalSeats)}`);
  }
  return createFlowControl({
    ...inside,
    clock,
    dialect,
    observer,
    ...(totalSeats === undefined ? {} : { totalSeats }),
  });
}

/** Waits until the server has room for the request. Throws, or rejects with, FlowRejection. */
export function takeTurn(
  exchange: Exchange,
  about: {
    readonly user: User | undefined;
    readonly attributes: AccessAttributes;
    readonly timeout: number | undefined;
  },
): MaybePromise<void> {
  const { flow } = exchange.setting;
  if (flow === undefined) return undefined;
  const { user = ADMINISTRATOR, attributes, timeout } = about;
  const { signal } = exchange.request;
  const digest = {
    user,
    attributes,
    options: sizeOptions(exchange.query),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  };
  const givenUp = (error: unknown): never => {
    // Nobody waits for the answer, and it is nobody's fault.
    throw signal.aborted && !(error instanceof FlowRejection) ? errors.timeout('the request was given up', 0) : error;
  };
  return rescue(
    () =>
      chain(untilClosing(flow.admit(digest, signal), exchange.setting.target.closing), (ticket) => {
        exchange.ticket = ticket;
      }),
    givenUp,
  );
}

/** Whoever waits when the cluster closes is told so; a turn that comes up afterwards is given back. */
function untilClosing(turn: MaybePromise<FlowTicket>, closing: AbortSignal | undefined): MaybePromise<FlowTicket> {
  if (!isPromise(turn) || closing === undefined) return turn;
  const waiting = waitingFor(closing);
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    turn
      .then((ticket) => (closing.aborted ? ticket.ended() : resolve(ticket)), reject)
      .finally(() => waiting.delete(reject));
  });
}

type Refuse = (reason: unknown) => void;

/** One listener for all who wait, of whom there may be thousands. */
const waitingBySignal = new WeakMap<AbortSignal, Set<Refuse>>();

function waitingFor(closing: AbortSignal): Set<Refuse> {
  let waiting = waitingBySignal.get(closing);
  if (waiting === undefined) {
    const all = new Set<Refuse>();
    const refuseAll = () => {
      for (const refuse of all) refuse(closing.reason);
    };
    closing.addEventListener('abort', refuseAll, { once: true });
    waitingBySignal.set(closing, all);
    waiting = all;
  }
  return waiting;
}

const TEXTS = ['continue', 'resourceVersion', 'resourceVersionMatch', 'labelSelector', 'fieldSelector'] as const;

/** By which it is estimated how much work a list is. */
function sizeOptions(query: Query): RequestOptions {
  if (query.size === 0) return {};
  const limit = Number(query.get('limit')?.[0] ?? Number.NaN);
  const texts = TEXTS.flatMap((name) => {
    const value = query.get(name)?.[0];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(texts),
    ...(Number.isNaN(limit) ? {} : { limit }),
    ...(query.get('sendInitialEvents')?.[0] === 'true' ? { sendInitialEvents: true } : {}),
  };
}

export function turnedAway(exchange: Exchange, { code, text, headers }: FlowRejection): Answer {
  const answer = respondText(envelopeOf(exchange), code, text);
  return { ...answer, headers: [...answer.headers, ...Object.entries(headers)] };
}
