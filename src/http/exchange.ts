/**
 * One request and what is known of it while it is answered, and the refusals that any step may end it with.
 */

import type { AuditRecord } from '../audit/record.js';
import { isAccessRefusal } from '../auth/authorizer.js';
import type { FlowControl, FlowTicket } from '../flowcontrol/types.js';
import type { StatusError } from '../meta/errors.js';
import type { IdentifyOptions } from './access.js';
import type { Aggregator } from './aggregate/proxy.js';
import type { Answer, HttpRequest } from './answer.js';
import type { Metrics } from './metrics.js';
import { type Offer, type Representation, representError } from './negotiate.js';
import type { Page, PageOffers } from './pages/page.js';
import { asksForPretty, parseQuery } from './query.js';
import type { ErrorListener } from './respond.js';
import { type Envelope, respondError, respondText } from './respond.js';
import type { Action, ServedResource } from './routes.js';
import type { FetchTarget } from './target.js';
import type { RecentEvents } from './watch-body.js';

/** What all requests to one handler share. */
export interface Setting {
  readonly target: FetchTarget;
  readonly offer: Offer;
  readonly pageOffers: PageOffers;
  readonly pages: readonly Page[];
  readonly metrics: Metrics;
  readonly recent: RecentEvents;
  readonly compresses: boolean;
  readonly identification: IdentifyOptions;
  /** How requests share the server; absent: all are carried out at once. */
  readonly flow: FlowControl | undefined;
  /** Who answers in place of this server, and for what. */
  readonly aggregator: Aggregator;
  readonly onError: ErrorListener;
}

/** One request, as far as its line and headers tell. */
export interface Exchange {
  readonly setting: Setting;
  readonly request: HttpRequest;
  readonly path: string;
  readonly query: ReturnType<typeof parseQuery>;
  readonly accept: string;
  readonly userAgent: string;
  readonly auditId: string;
  /** Grows while the request is worked on. */
  readonly warnings: string[];
  /** Known as soon as the path is understood. */
  served?: ServedResource;
  action?: Action;
  /** Known as soon as it is known who asks for what. */
  record?: AuditRecord;
  ticket?: FlowTicket;
  /** The encodings of refusals. Those behind a gate are spoken only by who serves resources. */
  refusals: Offer;
  /** What is answered, where that is a document. */
  document?: unknown;
  /** The answer has no end yet. */
  isStream?: boolean;
  /** Called at its end. */
  whenEnded?: () => void;
}

export function openExchange(setting: Setting, request: HttpRequest): Exchange {
  const { headers, url } = request;
  const fragment = url.indexOf('#');
  const address = fragment === -1 ? url : url.slice(0, fragment);
  const question = address.indexOf('?');
  const end = question === -1 ? address.length : question;
  return {
    setting,
    request,
    path: address.slice(address.indexOf('/', address.indexOf('://') + 3), end),
    query: parseQuery(address.slice(end + 1)),
    accept: headers.get('accept') ?? '',
    userAgent: headers.get('user-agent') ?? '',
    auditId: headers.get('audit-id') || setting.target.ids.uid(),
    warnings: [],
    refusals: setting.pageOffers.groups,
  };
}

export function refuse(exchange: Exchange, error: StatusError, allow?: readonly string[]): Answer {
  exchange.document = error.status;
  const form = representError(exchange.refusals, exchange.accept);
  return respondError(envelopeOf(exchange), {
    error,
    form: form === undefined ? undefined : withPretty(exchange, form),
    allow,
    noSniff: isAccessRefusal(error),
  });
}

export function nothingThere(exchange: Exchange): Answer {
  return respondText(envelopeOf(exchange), 404, '404 page not found\n');
}

export function envelopeOf({ auditId, request, warnings, setting, ticket }: Exchange): Envelope {
  return {
    auditId,
    ...(ticket === undefined ? {} : { headers: ticket.headers }),
    dialect: setting.target.dialect,
    headOnly: request.method === 'HEAD',
    gzip: setting.compresses && takesGzip(request.headers.get('accept-encoding')),
    warnings,
  };
}

/** Only the bare word counts: the reference server does not weigh encodings. */
function takesGzip(header: string | null): boolean {
  return header?.split(',').some((token) => token.trim() === 'gzip') === true;
}

export function withPretty({ query, userAgent }: Exchange, form: Representation): Representation {
  return !form.pretty && asksForPretty(query, userAgent) ? { ...form, pretty: true } : form;
}
