/**
 * Requests outside of the resources: each page is asked in turn.
 */
import { errors } from '../meta/errors.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Answer } from './answer.js';
import { type Exchange, envelopeOf, nothingThere, refuse, withPretty } from './exchange.js';
import { type DiscoveryRoute, discoveryPage } from './pages/discovery.js';
import type { PageRequest } from './pages/page.js';

export function servePage(exchange: Exchange, path: string): Answer | Promise<Answer> {
  const asked = pageRequest(exchange, path);
  for (const page of exchange.setting.pages) {
    const response = page(asked);
    if (response !== undefined) return response;
  }
  return nothingThere(exchange);
}

export function serveDiscovery(exchange: Exchange, route: DiscoveryRoute): MaybePromise<Answer> {
  const page = discoveryPage(pageRequest(exchange, exchange.path), route, exchange.setting.aggregator);
  if (page !== undefined) return page;
  const known = route.version !== undefined && exchange.setting.target.hasBuiltIns(route.group ?? '');
  return known ? refuse(exchange, errors.router('NotFound')) : nothingThere(exchange);
}

function pageRequest(exchange: Exchange, path: string): PageRequest {
  const { request, query, accept, setting } = exchange;
  const { dialect } = setting.target;
  return {
    method: request.method,
    path,
    query,
    headers: request.headers,
    accept,
    host: hostOf(request.url),
    envelope: envelopeOf(exchange),
    dialect,
    nowMs: setting.target.clock.now(),
    kinds: setting.target.kinds(),
    offers: setting.pageOffers,
    inForm: (form) => withPretty(exchange, form),
  };
}

function hostOf(url: string): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}
