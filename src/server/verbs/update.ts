/**
 * create: POST to a collection. update: PUT of a whole object, to the main endpoint or to a subresource.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { copyJson } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { type DecodeTarget, decodeRequestBody } from '../decode-body.js';
import { checkWriteOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { reusableParts } from '../reusable-parts.js';
import { dedupOwnerReferences, ensureNameMatches, ensureNamespaceMatches } from '../steps/match-address.js';
import { strategySubresourceOf } from '../subresource.js';
import { createObject, updateObject, type WriteResult } from '../write.js';
import { mayRace, startWrite, type WriteOperation } from '../write-operation.js';

interface BodyDecoding extends Pick<DecodeTarget, 'alsoAccepts' | 'isReusable' | 'metadata'> {
  readonly optionsKind: 'CreateOptions' | 'UpdateOptions';
  /** The kind of the body, if it differs from the kind of the request. */
  readonly bodyKind?: ServedKind;
}

/** Validates the options, decodes the body and starts the write. */
export function startBodyWrite(
  context: ServerContext,
  request: ApiRequest,
  served: ServedKind,
  decoding: BodyDecoding,
): { readonly draft: DraftObject; readonly write: WriteOperation } {
  const { fieldValidation, dryRun } = checkWriteOptions(request.options, decoding.optionsKind, context.dialect);
  const { draft, warnings } = decodeRequestBody(request.body, {
    served: decoding.bodyKind ?? served,
    registry: context.registry,
    fieldValidation,
    isReusable: decoding.isReusable,
    metadata: decoding.metadata,
    alsoAccepts: decoding.alsoAccepts,
  });
  return { draft, write: startWrite(context, request, { served, dryRun, warnings }) };
}

export function create(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  if (served.kind.customResourceHandler?.isTerminating === true)
    throw errors.terminatingDefinition(served.groupResource);
  const isReusable = reusableParts(context, request, served);
  const { draft, write } = startBodyWrite(context, request, served, { optionsKind: 'CreateOptions', isReusable });
  served.kind.strategy.decode.defaults?.(draft, write.hookContext);
  request.audit?.requestObject?.(draft);
  const written = withWarnings(write.warnings, () => createObject(draft, write));
  return chain(written, ({ object }) => objectResponse(201, object, write.warnings));
}

export function update(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  const isReusable = reusableParts(context, request, served);
  const { draft, write } = startBodyWrite(context, request, served, {
    optionsKind: 'UpdateOptions',
    isReusable,
    metadata: isReusable === undefined ? undefined : liveMetadata(context, request, served),
  });
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
      allowCreateOnUpdate: subresource === undefined && mayCreate(draft, served),
      ...(draft.metadata.uid ? { expectedUid: draft.metadata.uid } : {}),
      makeDraft: mayRace(write) ? freshDrafts(draft) : () => draft,
    },
    write,
  );
}

/** Whether an update creates an absent object. By the rules of a dialect, an update that states a version does not. */
function mayCreate({ metadata }: DraftObject, { kind, verbs, dialect }: ServedKind): boolean {
  if (kind.strategy.update.allowCreateOnUpdate) return true;
  if (!dialect.rules.updateCreatesAbsent || metadata.resourceVersion) return false;
  return verbs.includes('create') && kind.customResourceHandler?.isTerminating !== true;
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
