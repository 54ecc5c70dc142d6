/**
 * Requests share the server: each waits for its turn, where that is wanted.
 */
import { createFlowControl, type FlowControl, type FlowRejection } from '../flowcontrol/index.js';
import type { FlowObserver } from '../flowcontrol/types.js';
import type { AccessAttributes } from '../kinds/access.js';
import type { User } from '../protocol/request.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { ADMINISTRATOR } from './access.js';
import type { Answer } from './answer.js';
import { type Exchange, envelopeOf } from './exchange.js';
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
  const limit = Number(exchange.query.get('limit')?.[0] ?? Number.NaN);
  const digest = {
    user,
    attributes,
    ...(Number.isNaN(limit) ? {} : { options: { limit } }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  };
  return chain(flow.admit(digest, exchange.request.signal), (ticket) => {
    exchange.ticket = ticket;
  });
}

export function turnedAway(exchange: Exchange, { code, text, headers }: FlowRejection): Answer {
  const answer = respondText(envelopeOf(exchange), code, text);
  return { ...answer, headers: [...answer.headers, ...Object.entries(headers)] };
}
