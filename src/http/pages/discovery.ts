/**
 * `/api`, `/apis` and what is below them: which groups, versions and resources there are. spec: Discovery
 */

import { serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import { coreVersions, discoveryList, groupDocument, groupList, resourceList } from '../../registry/discovery.js';
import { sha256Tag } from '../../util/sha256.js';
import { parseAccept } from '../accept.js';
import type { Answer } from '../answer.js';
import { type Offer, type Representation, represent, routerRefusal } from '../negotiate.js';
import { respondBody, respondDocument, respondEmpty, respondError } from '../respond.js';
import { oncePerKinds, type PageRequest } from './page.js';

/** A path down to a group, or to a version of it. */
export interface DiscoveryRoute {
  readonly group?: string;
  readonly version?: string;
}

/** Undefined: there is no such group. */
export function discoveryPage(request: PageRequest, { group, version }: DiscoveryRoute): Answer | undefined {
  const { kinds, dialect, offers } = request;
  if (group === undefined)
    return aggregated(request, 'apis') ?? plain(request, groupList(kinds, dialect), offers.groups);
  if (group === '' && version === undefined) {
    const refusal = refuseAtRouter(request, offers.groups);
    return refusal ?? aggregated(request, 'api') ?? plain(request, coreVersions(kinds, request.host), offers.groups);
  }
  if (version === undefined) {
    const document = groupDocument(kinds, group);
    return document === undefined ? undefined : plain(request, document, offers.groups);
  }
  const document = resourceList(kinds, { group, version });
  if (document === undefined) return undefined;
  return refuseAtRouter(request, offers.versions) ?? plain(request, document, offers.versions);
}

/** The methods of these paths are known to the router, which looks at them first. */
export function refuseAtRouter(request: PageRequest, offer: Offer): Answer | undefined {
  const { envelope, method, accept } = request;
  if (method !== 'GET') {
    const error = errors.router('MethodNotAllowed');
    return respondError(envelope, { error, form: errorForm(request, offer), allow: ['GET'] });
  }
  const error = routerRefusal(offer, accept, { streams: false, empty: false });
  return error === undefined ? undefined : respondError(envelope, { error, form: undefined });
}

function errorForm(request: PageRequest, offer: Offer): Representation | undefined {
  try {
    return request.inForm(represent(offer, request.accept, { watch: false }));
  } catch {
    // What cannot be had as asked is shown all the same.
    return undefined;
  }
}

function plain(request: PageRequest, document: object, offer: Offer): Answer {
  const form = request.inForm(represent(offer, request.accept, { watch: false }));
  return respondDocument(request.envelope, { code: 200, document, form });
}

/** Everything at once, for clients that know of it. */
function aggregated(request: PageRequest, root: 'api' | 'apis'): Answer | undefined {
  const { dialect, kinds, offers, envelope, headers } = request;
  const group = dialect.group(serviceGroup('apidiscovery'));
  const form = aggregatedForm(request.accept, group, offers.groups);
  if (form === undefined) return undefined;
  const document = aggregatedDocument(kinds, root, dialect);
  const etag = `"${aggregatedTag(kinds, root, dialect)}"`;
  const shared = { ETag: etag, Vary: 'Accept', 'Cache-Control': 'public' };
  if (headers.get('if-none-match') === etag) return respondEmpty(envelope, 304, shared);
  return respondBody(envelope, {
    code: 200,
    body: form.codec.encode(document, { dialect, pretty: request.inForm(form).pretty }),
    headers: { 'Content-Type': `${form.mediaType};g=${group};v=v2;as=APIGroupDiscoveryList`, ...shared },
  });
}

const aggregatedDocument = oncePerKinds((kinds, root: 'api' | 'apis', dialect) => discoveryList(kinds, dialect, root));
const aggregatedTag = oncePerKinds((kinds, root: 'api' | 'apis', dialect) =>
  sha256Tag(JSON.stringify(aggregatedDocument(kinds, root, dialect))),
);

/** The encoding, when the best clause that can be met at all is one for the whole document. */
function aggregatedForm(accept: string, group: string, offer: Offer): Representation | undefined {
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const [as, g, v] = ['as', 'g', 'v'].map((name) => parameters.get(name));
    const format = offer.formats.find(({ mediaType }) => mediaType === `${type}/${subtype}` || subtype === '*');
    if (format === undefined) continue;
    if (as === undefined && g === undefined && v === undefined) return undefined;
    if (as === 'APIGroupDiscoveryList' && g === group && v === 'v2') return { ...format, pretty: false };
  }
  return undefined;
}
