/**
 * Discovery at `/api` and `/apis`: the groups, versions and resources of the server.
 */

import { serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { Answer } from '../../protocol/http.js';
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
import { groupListOfApiServices, groupOfApiServices, mergeRemoteVersions } from '../aggregate/discovery.js';
import type { Aggregator } from '../aggregate/proxy.js';
import { parseAccept } from '../header-values.js';
import { chooseRepresentation, type Offer, type Representation, routerRefusal } from '../negotiate.js';
import { respondBody, respondDocument, respondEmpty, respondError } from '../respond.js';
import { memoizePerKinds, type PageRequest } from './page.js';

/** A discovery path: all groups, one group, or one version. */
export interface DiscoveryRoute {
  readonly group?: string;
  readonly version?: string;
}

/** Responds to a discovery request; undefined: no such group or version. */
export function respondDiscovery(
  request: PageRequest,
  { group, version }: DiscoveryRoute,
  aggregator: Aggregator,
): MaybePromise<Answer> | undefined {
  const { kinds, dialect, offers } = request;
  if (group === undefined) return respondGroups(request, aggregator);
  if (group === '' && version === undefined) {
    const refusal = refuseAtRouter(request, offers.groups);
    if (refusal !== undefined) return refusal;
    const form = aggregatedRepresentation(request, offers.groups);
    if (form !== undefined) return respondAggregated(request, form, localDocument(kinds, 'api', dialect));
    return respondPlain(request, coreVersions(kinds, request.host), offers.groups);
  }
  if (version === undefined) {
    const document = groupOfApiServices(aggregator.apis, group) ?? groupDocument(kinds, group);
    return document === undefined ? undefined : respondPlain(request, document, offers.groups);
  }
  const document = resourceList(kinds, { group, version });
  if (document === undefined) return undefined;
  // Custom resources are not behind the router; their discovery handler ignores the method.
  const isCustom = kinds.some(
    ({ kind, gvr }) => kind.customResourceHandler !== undefined && gvr.group === group && gvr.version === version,
  );
  if (isCustom) return respondPlain(request, document, offers.groups);
  return refuseAtRouter(request, offers.versions) ?? respondPlain(request, document, offers.versions);
}

/** The router's checks of method and Accept header, which run first. */
export function refuseAtRouter(request: PageRequest, offer: Offer): Answer | undefined {
  const { envelope, method, accept } = request;
  if (method !== 'GET') {
    const error = errors.genericServerResponse('MethodNotAllowed');
    return respondError(envelope, { error, form: errorRepresentation(request, offer), allow: ['GET'] });
  }
  const error = routerRefusal(offer, accept, { streams: false, empty: false });
  return error === undefined ? undefined : respondError(envelope, { error, form: undefined });
}

function errorRepresentation(request: PageRequest, offer: Offer): Representation | undefined {
  try {
    return request.withPretty(chooseRepresentation(offer, request.accept, { watch: false }));
  } catch {
    // The client accepts no available encoding: the error is sent as JSON.
    return undefined;
  }
}

function respondPlain(request: PageRequest, document: object, offer: Offer): Answer {
  const form = request.withPretty(chooseRepresentation(offer, request.accept, { watch: false }));
  return respondDocument(request.envelope, { code: 200, document, form });
}

function respondGroups(request: PageRequest, { apis, discovery }: Aggregator): MaybePromise<Answer> {
  const { kinds, dialect, offers } = request;
  const form = aggregatedRepresentation(request, offers.groups);
  if (form === undefined) {
    return respondPlain(
      request,
      groupListOfApiServices(apis, kinds, dialect) ?? groupList(kinds, dialect),
      offers.groups,
    );
  }
  const own = localDocument(kinds, 'apis', dialect);
  // The core group has its own path, /api.
  const remotes = apis.remotes().filter(({ api }) => api.group !== '');
  if (remotes.length === 0) return respondAggregated(request, form, own);
  const asked = remotes.map(async (remote) => ({ service: remote.service, discovery: await discovery.get(remote) }));
  return Promise.all(asked).then((remote) => {
    const document = mergeRemoteVersions(own.document, remote, dialect);
    return respondAggregated(request, form, { document, tag: sha256Tag(JSON.stringify(document)) });
  });
}

interface TaggedDocument {
  readonly document: DiscoveryDocument;
  readonly tag: string;
}

/** Responds with an aggregated discovery document. */
function respondAggregated(request: PageRequest, form: Representation, { document, tag }: TaggedDocument): Answer {
  const { dialect, envelope, headers } = request;
  const group = dialect.group(serviceGroup('apidiscovery'));
  const etag = `"${tag}"`;
  const shared = { ETag: etag, Vary: 'Accept', 'Cache-Control': 'public' };
  if (headers.get('if-none-match') === etag) return respondEmpty(envelope, 304, shared);
  return respondBody(envelope, {
    code: 200,
    body: form.codec.encode(document, { dialect, pretty: request.withPretty(form).pretty }),
    headers: { 'Content-Type': `${form.mediaType};g=${group};v=v2;as=APIGroupDiscoveryList`, ...shared },
  });
}

const localDocument = memoizePerKinds((kinds, root: 'api' | 'apis', dialect): TaggedDocument => {
  const document = discoveryList(kinds, dialect, root);
  return { document, tag: sha256Tag(JSON.stringify(document)) };
});

/** The encoding of aggregated discovery, when the first satisfiable Accept clause requests it. */
function aggregatedRepresentation({ accept, dialect }: PageRequest, offer: Offer): Representation | undefined {
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
