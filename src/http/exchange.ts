/**
 * The state of one HTTP request while it is handled, and the error responses that any step may return.
 */

import type { AuditRecord } from '../audit/record.js';
import { isAccessDenied } from '../auth/authorizer.js';
import type { FlowControl, FlowTicket } from '../flowcontrol/types.js';
import type { StatusError } from '../meta/errors.js';
import type { Answer, HttpRequest } from '../protocol/http.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { IdentifyOptions } from './access.js';
import type { Aggregator } from './aggregate/proxy.js';
import type { BodyBudget, BodyShare } from './body-budget.js';
import type { HandlerMetrics } from './metrics.js';
import { chooseErrorRepresentation, type Offer, type Representation } from './negotiate.js';
import type { Page, PageOffers } from './pages/page.js';
import { isPrettyRequested, parseQuery } from './query.js';
import type { ErrorListener } from './respond.js';
import { type Envelope, respondError, respondText } from './respond.js';
import type { Action, ServedResource } from './routes.js';
import type { FetchTarget } from './target.js';
import type { EncodedEventCache } from './watch-body.js';

/** The dependencies and settings that all requests of one handler share. */
export interface HandlerSettings {
  readonly target: FetchTarget;
  readonly offer: Offer;
  readonly pageOffers: PageOffers;
  readonly pages: readonly Page[];
  readonly metrics: HandlerMetrics;
  readonly eventCache: EncodedEventCache;
  readonly bodyBudget: BodyBudget;
  readonly canCompress: boolean;
  readonly identification: IdentifyOptions;
  /** API priority and fairness; absent: all requests run at once. */
  readonly flow: FlowControl | undefined;
  /** Requests ask for realistic pacing. */
  readonly isPaced: boolean;
  /** Routes requests for aggregated APIs. */
  readonly aggregator: Aggregator;
  readonly onError: ErrorListener;
}

/** One request: what its request line and headers say, and what later steps add. */
export interface Exchange {
  readonly settings: HandlerSettings;
  readonly request: HttpRequest;
  readonly path: string;
  readonly query: ReturnType<typeof parseQuery>;
  readonly accept: string;
  readonly userAgent: string;
  readonly auditId: string;
  /** Warnings so far; each step may add some. */
  readonly warnings: string[];
  /** Set when the path is resolved to a served resource. */
  served?: ServedResource;
  action?: Action;
  /** Set once the request is authenticated. */
  record?: AuditRecord;
  ticket?: FlowTicket;
  /** Waits for another ticket. */
  awaitSeatAgain?: () => MaybePromise<void>;
  /** Present while a large body is processed. */
  bodyShare?: BodyShare | undefined;
  /** What the cluster does with the request. It may take longer than the client waits. */
  work?: Promise<unknown>;
  isAnswered?: true;
  /**
   * The encodings for error responses. Encodings behind a feature gate are available only once a resource handler takes
   * over.
   */
  errorOffer: Offer;
  /** The response document, for the audit record; absent for text and streams. */
  document?: unknown;
  /** The response is a watch or a connection. */
  isStream?: boolean;
  /** Called when that ends. */
  onStreamEnd?: () => void;
}

/** Starts the state of a request from its URL and headers. */
export function openExchange(settings: HandlerSettings, request: HttpRequest): Exchange {
  const { headers, url } = request;
  const fragment = url.indexOf('#');
  const address = fragment === -1 ? url : url.slice(0, fragment);
  const question = address.indexOf('?');
  const end = question === -1 ? address.length : question;
  return {
    settings,
    request,
    path: address.slice(address.indexOf('/', address.indexOf('://') + 3), end),
    query: parseQuery(address.slice(end + 1)),
    accept: headers.get('accept') ?? '',
    userAgent: headers.get('user-agent') ?? '',
    auditId: headers.get('audit-id') || settings.target.ids.uid(),
    warnings: [],
    errorOffer: settings.pageOffers.groups,
  };
}

/** Responds with a StatusError in the negotiated encoding. */
export function refuse(exchange: Exchange, error: StatusError, allow?: readonly string[]): Answer {
  exchange.document = error.status;
  const form = chooseErrorRepresentation(exchange.errorOffer, exchange.accept);
  return respondError(envelopeOf(exchange), {
    error,
    form: form === undefined ? undefined : withPretty(exchange, form),
    allow,
    noSniff: isAccessDenied(error),
  });
}

/** The plain-text 404 of an unknown path. */
export function respondNotFound(exchange: Exchange): Answer {
  return respondText(envelopeOf(exchange), 404, '404 page not found\n');
}

/** The parts that all responses to a request share. */
export function envelopeOf({ auditId, request, warnings, settings, ticket }: Exchange): Envelope {
  return {
    auditId,
    ...(ticket === undefined ? {} : { headers: ticket.headers }),
    dialect: settings.target.dialect,
    headOnly: request.method === 'HEAD',
    gzip: settings.canCompress && acceptsGzip(request.headers.get('accept-encoding')),
    warnings,
  };
}

/** Accepts only `gzip` without parameters: the reference server does not evaluate quality values here. */
function acceptsGzip(header: string | null): boolean {
  return header?.split(',').some((token) => token.trim() === 'gzip') === true;
}

/** Applies the requested indentation to a representation. */
export function withPretty({ query, userAgent }: Exchange, form: Representation): Representation {
  return !form.pretty && isPrettyRequested(query, userAgent) ? { ...form, pretty: true } : form;
}
