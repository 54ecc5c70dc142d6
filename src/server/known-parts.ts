/**
 * Which parts of a body are taken as they are, because this server gave them out: a template that is copied into another
 * object, and the spec of an object whose status is written.
 */
import type { ServedKind } from '../kinds/served-kind.js';
import type { ApiRequest } from '../protocol/request.js';
import type { IsReusable } from '../schema/decode.js';
import { hasReusableParts } from '../schema/reuse.js';
import type { ServerContext } from './context.js';
import { needsRedecoding } from './steps/redecode.js';

export function knownParts(context: ServerContext, request: ApiRequest, served: ServedKind): IsReusable | undefined {
  const { schema } = served;
  // Plugins of users may change all that they get to see.
  if (!hasReusableParts(schema) || context.pluginsMayWait(served) || needsRedecoding(context)) return undefined;
  const spec = schema.fields.get('spec')?.node;
  const { known } = context;
  // Kinds fill in and change their own spec, but not what stands inside; a status leaves the spec as it was.
  if (request.subresource === undefined) {
    return (part, node) => known.has(part, node) && (node === spec ? 'to be changed' : true);
  }
  return request.subresource === 'status' ? (part, node) => known.has(part, node) : undefined;
}
