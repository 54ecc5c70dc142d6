/**
 * `/api`, `/apis` and what is below them: which groups, versions and resources there are. spec: Discovery
 */

import { serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import {
  coreVersions,
  type DiscoveryDocument,
  discoveryList,
  groupDocument,
  groupList,
  resourceList,
} from '../../registry/discovery.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { sha256Tag } from '../../util/sha256.js';
import { listedGroup, listedGroups, withRemote } from '../aggregate/discovery.js';
import type { Aggregator } from '../aggregate/proxy.js';
import type { Answer } from '../answer.js';
import { parseAccept } from '../header-values.js';
import { type Offer, type Representation, represent, routerRefusal } from '../negotiate.js';
import { respondBody, respondDocument, respondEmpty, respondError } from '../respond.js';
import { oncePerKinds, type PageRequest } from './page.js';

/** A path down to a group, or to a version of it. */
export interface DiscoveryRoute {
  readonly group?: string;
  readonly version?: string;
}

/** Undefined: there is no such group. */
export function discoveryPage(
  request: PageRequest,
  { group, version }: DiscoveryRoute,
  aggregator: Aggregator,
): MaybePromise<Answer> | undefined {
  const { kinds, dialect, offers } = request;
  if (group === undefined) return allGroups(request, aggregator);
  if (group === '' && version === undefined) {
    const refusal = refuseAtRouter(request, offers.groups);
    if (refusal !== undefined) return refusal;
    const form = aggregatedForm(request, offers.groups);
    if (form !== undefined) return whole(request, form, ownDocument(kinds, 'api', dialect));
    return plain(request, coreVersions(kinds, request.host), offers.groups);
  }
  if (version === undefined) {
    const document = listedGroup(aggregator.apis, group) ?? groupDocument(kinds, group);
    return document === undefined ? undefined : plain(request, document, offers.groups);
  }
  const document = resourceList(kinds, { group, version });
  if (document === undefined) return undefined;
  // The router knows nothing of custom kinds; who answers for them does not look at the method.
  const isCustom = kinds.some(
    ({ kind, gvr }) => kind.custom !== undefined && gvr.group === group && gvr.version === version,
  );
  if (isCustom) return plain(request, document, offers.versions);
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

function allGroups(request: PageRequest, { apis, discovery }: Aggregator): MaybePromise<Answer> {
  const { kinds, dialect, offers } = request;
  const form = aggregatedForm(request, offers.groups);
  if (form === undefined) {
    return plain(request, listedGroups(apis, kinds, dialect) ?? groupList(kinds, dialect), offers.groups);
  }
  const own = ownDocument(kinds, 'apis', dialect);
  // Who answers for the core group is asked for by another path.
  const remotes = apis.remotes().filter(({ api }) => api.group !== '');
  if (remotes.length === 0) return whole(request, form, own);
  const asked = remotes.map(async (remote) => ({ service: remote.service, discovery: await discovery.of(remote) }));
  return Promise.all(asked).then((remote) => {
    const document = withRemote(own.document, remote, dialect);
    return whole(request, form, { document, tag: sha256Tag(JSON.stringify(document)) });
  });
}

interface Tagged {
  readonly document: DiscoveryDocument;
  readonly tag: string;
}

/** Everything at once, for clients that know of it. */
function whole(request: PageRequest, form: Representation, { document, tag }: Tagged): Answer {
  const { dialect, envelope, headers } = request;
  const group = dialect.group(serviceGroup('apidiscovery'));
  const etag = `"${tag}"`;
  const shared = { ETag: etag, Vary: 'Accept', 'Cache-Control': 'public' };
  if (headers.get('if-none-match') === etag) return respondEmpty(envelope, 304, shared);
  return respondBody(envelope, {
    code: 200,
    body: form.codec.encode(document, { dialect, pretty: request.inForm(form).pretty }),
    headers: { 'Content-Type': `${form.mediaType};g=${group};v=v2;as=APIGroupDiscoveryList`, ...shared },
  });
}

const ownDocument = oncePerKinds((kinds, root: 'api' | 'apis', dialect): Tagged => {
  const document = discoveryList(kinds, dialect, root);
  return { document, tag: sha256Tag(JSON.stringify(document)) };
});

/** The encoding, when the best clause that can be met at all is one for the whole document. */
function aggregatedForm({ accept, dialect }: PageRequest, offer: Offer): Representation | undefined {
  const group = dialect.group(serviceGroup('apidiscovery'));
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const [as, g, v] = ['as', 'g', 'v'].map((name) => parameters.get(name));
    const format = offer.formats.find(({ mediaType }) => mediaType === `${type}/${subtype}` || subtype === '*');
    if (format === undefined) continue;
    if (as === undefined && g === undefined && v === undefined) return undefined;
    if (as === 'APIGroupDiscoveryList' && g === group && v === 'v2') return { ...format, pretty: false };
  }
  return undefined;
}
