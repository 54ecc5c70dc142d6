/**
 * update: PUT of a whole object, to the main endpoint or to a subresource.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import type { DraftObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { copyJson } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { decodeRequestBody } from '../decode-body.js';
import { checkWriteOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { reusableParts } from '../reusable-parts.js';
import { dedupOwnerReferences, ensureNameMatches, ensureNamespaceMatches } from '../steps/match-address.js';
import { strategySubresourceOf } from '../subresource.js';
import { updateObject, type WriteResult } from '../write.js';
import { mayRace, startWrite, type WriteOperation } from '../write-operation.js';

export function update(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  const options = checkWriteOptions(request.options, 'UpdateOptions', context.dialect);
  const { fieldValidation } = options;
  const isKnown = reusableParts(context, request, served);
  const { draft, warnings } = decodeRequestBody(request.body, {
    served,
    registry: context.registry,
    fieldValidation,
    isReusable: isKnown,
    metadata: isKnown === undefined ? undefined : liveMetadata(context, request, served),
  });
  const write: WriteOperation = startWrite(context, request, { served, dryRun: options.dryRun, warnings });
  const written = withWarnings(write.warnings, () => replaceWith(draft, write));
  return chain(written, ({ object, created }) => objectResponse(created ? 201 : 200, object, write.warnings));
}

/** A status write does not change most metadata, so the decoder can reuse the stored metadata. */
function liveMetadata({ store }: ServerContext, request: ApiRequest, served: ServedKind): object | undefined {
  if (request.subresource !== 'status' || served.storageKind !== undefined) return undefined;
  const { namespace = '', name = '' } = request;
  return store.get({ storageKey: served.storageKey, namespace, name })?.metadata;
}

function replaceWith(draft: DraftObject, write: WriteOperation): MaybePromise<WriteResult> {
  const { request, served } = write;
  const name = request.name ?? '';
  served.kind.strategy.decode.defaults?.(draft, write.hookContext);
  request.audit?.requestObject?.(draft);
  // A namespace mismatch is reported before NotFound.
  ensureNamespaceMatches(draft.metadata, write);
  ensureNameMatches(draft.metadata, name);
  dedupOwnerReferences(draft.metadata, 'as sent', write.warnings);
  const subresource = strategySubresourceOf(served, request.subresource);
  return updateObject(
    {
      name,
      subresource,
      allowCreateOnUpdate: subresource === undefined && served.kind.strategy.update.allowCreateOnUpdate,
      ...(draft.metadata.uid ? { expectedUid: draft.metadata.uid } : {}),
      makeDraft: mayRace(write) ? freshDrafts(draft) : () => draft,
    },
    write,
  );
}

/** The first attempt uses the decoded body itself; later attempts get a copy. */
function freshDrafts(decoded: DraftObject): () => DraftObject {
  const spare = copyJson(decoded);
  let used = false;
  return () => {
    if (used) return copyJson(spare);
    used = true;
    return decoded;
  };
}
