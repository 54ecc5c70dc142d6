/**
 * Which parts of a body are reused without decoding because this server returned them: a pod template that is copied into
 * another object, or the spec of an object whose status is written.
 */
import type { ServedKind } from '../kinds/served-kind.js';
import type { ApiRequest } from '../protocol/request.js';
import type { IsReusable } from '../schema/decode.js';
import { hasReusableParts } from '../schema/reuse.js';
import type { ServerContext } from './context.js';
import { needsRedecoding } from './steps/redecode.js';

export function reusableParts(context: ServerContext, request: ApiRequest, served: ServedKind): IsReusable | undefined {
  const { schema } = served;
  // Plugins of users may change any part of the draft.
  if (!hasReusableParts(schema) || context.hasUntrustedPlugins(served) || needsRedecoding(context)) return undefined;
  const spec = schema.fields.get('spec')?.node;
  const { reusableParts: known } = context;
  // A kind changes members of its own spec but nothing deeper. A status write leaves the spec unchanged.
  if (request.subresource === undefined) return (part, node) => node !== spec && known.has(part, node);
  return request.subresource === 'status' ? (part, node) => known.has(part, node) : undefined;
}
