/**
 * create: POST to a collection.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { decodeRequestBody } from '../decode-body.js';
import { checkWriteOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { reusableParts } from '../reusable-parts.js';
import { createObject } from '../write.js';
import { startWrite } from '../write-operation.js';

export function create(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  if (served.kind.customResourceHandler?.isTerminating === true)
    throw errors.terminatingDefinition(served.groupResource);
  const options = checkWriteOptions(request.options, 'CreateOptions', context.dialect);
  const { fieldValidation } = options;
  const { draft, warnings } = decodeRequestBody(request.body, {
    served,
    registry: context.registry,
    fieldValidation,
    isReusable: reusableParts(context, request, served),
  });
  const write = startWrite(context, request, { served, dryRun: options.dryRun, warnings });
  served.kind.strategy.decode.defaults?.(draft, write.hookContext);
  request.audit?.requestObject?.(draft);
  const written = withWarnings(write.warnings, () => createObject(draft, write));
  return chain(written, ({ object }) => objectResponse(201, object, write.warnings));
}
