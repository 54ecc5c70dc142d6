/**
 * `/.well-known/openid-configuration` and `/openid/v1/jwks`: what others need to check the tokens of service accounts by
 * themselves.
 */
import type { TokenDiscovery } from '../../auth/authentication.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { Answer } from '../answer.js';
import { respondBody, respondText } from '../respond.js';
import { refuseAtRouter } from './discovery.js';
import type { Page, PageRequest } from './page.js';

const CONFIGURATION = '/.well-known/openid-configuration';
const KEY_SET = '/openid/v1/jwks';

export const OPENID_PATHS: readonly string[] = [CONFIGURATION, KEY_SET];

/** Keys stay what they are for at least an hour. */
const CACHE_CONTROL = 'public, max-age=3600';

/** Undefined: the cluster signs no tokens, and has no such pages. */
export function openIdPage(discovery: TokenDiscovery | undefined): Page {
  return (request) => {
    const { path, host } = request;
    if (discovery === undefined || (path !== CONFIGURATION && path !== KEY_SET)) return undefined;
    return chain(discovery.configuration(`https://${host}${KEY_SET}`), (configuration): MaybePromise<Answer> => {
      // An issuer without an address of its own has nothing to publish.
      if (configuration === undefined) return respondText(request.envelope, 404, '404 page not found\n');
      if (path === CONFIGURATION) return document(request, configuration, 'application/json');
      return chain(discovery.keySet(), (keys) => document(request, keys, 'application/jwk-set+json'));
    });
  };
}

/** Each page has the one type only. */
function document(request: PageRequest, content: object, contentType: string): Answer {
  const refusal = refuseAtRouter(request, { ...request.offers.json, mediaTypes: [contentType] });
  if (refusal !== undefined) return refusal;
  const headers = { 'Content-Type': contentType, 'Cache-Control': CACHE_CONTROL };
  return respondBody(request.envelope, { code: 200, body: JSON.stringify(content), headers });
}
