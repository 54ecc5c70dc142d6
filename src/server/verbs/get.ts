/**
 * get: one object by name. spec: Consistent reads
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import type { ServerContext } from '../context.js';
import { objectResponse } from '../response.js';
import { parseRevisionOption, untilRevision } from '../revision.js';
import { toServed } from '../versions.js';

export function get(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  const text = request.options.resourceVersion;
  if (!text) return readObject(context, request, served);
  const waited = untilRevision(context, wantedRevision(text, served), { text, signal: request.signal });
  return chain(waited, () => readObject(context, request, served));
}

function wantedRevision(text: string, { kind }: ServedKind): number {
  try {
    return parseRevisionOption(text);
  } catch (error) {
    const why = messageOf(error);
    throw kind.strategy.read.uncached ? errors.badRequest(`invalid resource version: ${why}`) : errors.plain(why);
  }
}

function readObject(context: ServerContext, request: ApiRequest, served: ServedKind): ObjectResponse {
  const name = request.name ?? '';
  const namespace = served.namespaced ? (request.namespace ?? '') : '';
  const object = context.store.get({ storageKey: served.storageKey, namespace, name });
  if (object === undefined) throw errors.notFound(served.groupResource, name);
  return objectResponse(200, toServed(served, object));
}
