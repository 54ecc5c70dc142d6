/**
 * create on an action subresource: eviction, binding, token.
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import type { SubresourceAction } from '../../kinds/subresource.js';
import type { ApiObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { copyJson, deepFreeze } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { decodeRequestBody } from '../decode-body.js';
import { deleteObject } from '../deletion.js';
import { checkWriteOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { runAdmissionPhase } from '../steps/admit.js';
import { trackOwnershipOnCreate } from '../steps/managed-fields.js';
import { ensureNamespaceMatches } from '../steps/match-address.js';
import { redecodeMutated } from '../steps/redecode.js';
import { strategyContext } from '../strategy-context.js';
import { startWrite } from '../write-operation.js';
import { servedView } from './view.js';

export function onAction(
  context: ServerContext,
  request: ApiRequest,
  target: { readonly served: ServedKind; readonly action: SubresourceAction },
): MaybePromise<ObjectResponse> {
  const { served, action } = target;
  const options = checkWriteOptions(request.options, 'CreateOptions', context.dialect);
  const { fieldValidation } = options;
  const asked = servedView(action.kind, context.dialect);
  const { draft, warnings } = decodeRequestBody(request.body, {
    served: asked,
    registry: context.registry,
    fieldValidation,
    ...(action.alsoAccepts === undefined ? {} : { alsoAccepts: action.alsoAccepts }),
  });
  const write = startWrite(context, request, { served, dryRun: options.dryRun, warnings });
  asked.kind.strategy.decode.defaults?.(draft, write.hookContext);
  request.audit?.requestObject?.(draft);
  ensureNamespaceMatches(draft.metadata, write);
  trackOwnershipOnCreate(draft, { ...write, served: asked });
  const done = withWarnings(write.warnings, () =>
    chain(runAdmissionPhase('mutate', { operation: 'CREATE', object: draft, objectKind: asked }, write), () => {
      const body = redecodeMutated(draft, { ...write, served: asked });
      // Validating plugins get a frozen copy.
      const frozen = deepFreeze(copyJson(body)) as unknown as ApiObject;
      return chain(
        runAdmissionPhase('validate', { operation: 'CREATE', object: frozen, objectKind: asked }, write),
        () => action.run(body, strategyContext(write, deleteObject)),
      );
    }),
  );
  return chain(done, (object) => objectResponse(201, deepFreeze(object) as ObjectResponse['object'], write.warnings));
}
