/**
 * get, update and patch of a view: another object that shows a part of this one, such as its scale. A changed view
 * becomes an update of the object below it, by that object's rules.
 */
import type { Kind } from '../../kinds/kind.js';
import { type ServedKind, serveKind } from '../../kinds/served-kind.js';
import { failedPrecondition } from '../../kinds/shared/storage-conflict.js';
import type { SubresourceView } from '../../kinds/subresource.js';
import { storedManagers } from '../../merge/apply/managers.js';
import { CUSTOM_SCHEME, type Dialect } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { FieldError } from '../../meta/field-error.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { BodyError, type RequestBody } from '../../protocol/body.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { quote } from '../../text/go/go-text.js';
import { invariant, unreachable } from '../../util/invariant.js';
import { copyJson, deepFreeze, isRecord } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { answer, warned } from '../answer.js';
import type { ServerContext } from '../context.js';
import { decodeRequestBody } from '../decode-body.js';
import { checkPatchOptions, checkWriteOptions } from '../options.js';
import { managersAbove, managersBelow, type ScaleOwnership } from '../scale-managers.js';
import { requireLive } from '../steps/commit.js';
import { ensureNameMatches, ensureNamespaceMatches } from '../steps/match-address.js';
import { managersIn, ownUpdated, servedIn, setManagers } from '../steps/own.js';
import { seal } from '../steps/seal.js';
import { metadataProblems, OF_A_STRUCT } from '../steps/validate-metadata.js';
import { updateObject, type WriteResult } from '../write.js';
import { startWrite, type WriteOperation } from '../write-operation.js';
import { applicationOf, readPatch, requirePatchType } from './patch.js';

interface ViewCall {
  readonly view: SubresourceView;
  /** The kind of what is shown, in the cluster's names. */
  readonly shown: ServedKind;
  readonly write: WriteOperation;
}

export function onView(
  context: ServerContext,
  request: ApiRequest,
  about: { readonly served: ServedKind; readonly view: SubresourceView },
): MaybePromise<ObjectResponse> {
  const { served, view } = about;
  const shown = servedView(view.kind, context.dialect);
  switch (request.verb) {
    case 'get': {
      const write = startWrite(context, request, { served, dryRun: false });
      return answer(200, show(requireLive(write), { view, shown, write }));
    }
    case 'update': {
      const options = checkWriteOptions(request.options, 'UpdateOptions', context.dialect);
      const { fieldValidation } = options;
      if (served.kind.representation === 'document') requireScale(request, shown);
      const body = decodeRequestBody(request.body, { served: shown, registry: context.registry, fieldValidation });
      const write = startWrite(context, request, { served, dryRun: options.dryRun, warnings: body.warnings });
      warned(body.warnings, () => {
        ensureNamespaceMatches(body.draft.metadata, write);
        ensureNameMatches(body.draft.metadata, request.name ?? '');
      });
      // Whom the document names is for the store to compare.
      const { uid } = body.draft.metadata;
      return writeView(
        { view, shown, write },
        owned(shown, write, () => body.draft),
        uid ? { expectedUid: uid } : {},
      );
    }
    case 'patch': {
      const { patchType } = request;
      invariant(patchType !== undefined, 'a patch request says which patch it is');
      requirePatchType(patchType, served);
      const options = checkPatchOptions(request.options, patchType, context.dialect);
      const write = startWrite(context, request, { served, dryRun: options.dryRun });
      const call: ViewCall = { view, shown, write };
      requireLive(write);
      // The patch speaks of the view, not of what is below.
      const about = { options, write: { ...write, served: shown } };
      if (patchType === 'apply') return writeView(call, applicationOf(request, about));
      return writeView(call, owned(shown, write, readPatch(request, patchType, about)));
    }
    case 'create':
    case 'delete':
    case 'deletecollection':
    case 'list':
    case 'watch':
      throw errors.router('MethodNotAllowed');
    default:
      return unreachable(request.verb);
  }
}

/** The address of a custom kind reads documents of any type, and then cannot make a Scale of them. */
function requireScale({ body }: ApiRequest, shown: ServedKind): void {
  const value = body === undefined ? undefined : readable(body);
  if (!isRecord(value)) return;
  const { kind = shown.gvk.kind, apiVersion = shown.apiVersion } = value;
  if (kind === shown.gvk.kind && apiVersion === shown.apiVersion) return;
  throw errors.badRequest(`no kind is registered for the type v1.Scale in scheme ${quote(CUSTOM_SCHEME)}`);
}

/** What cannot be read is reported by whoever reads it in earnest. */
function readable(body: RequestBody): unknown {
  try {
    return body.read().value;
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}

function addressOf({ served, request }: Pick<WriteOperation, 'served' | 'request'>): GroupResource {
  const { group, resource } = served.groupResource;
  return { group, resource: `${resource}/${request.subresource ?? ''}` };
}

function show(live: ApiObject, { view, shown, write }: ViewCall, purpose: 'show' | 'change' = 'show'): ApiObject {
  const draft = view.read(live, write.context, purpose);
  const typed: DraftObject = { ...draft, kind: shown.gvk.kind, apiVersion: shown.apiVersion };
  return seal(shown.schema, typed, live.metadata.resourceVersion);
}

/** What a live view becomes, and who manages it then. */
type Change = (shown: ApiObject) => DraftObject;

/** A change that says nothing about managers: what it changes belongs to who asked for it. */
function owned(shown: ServedKind, write: WriteOperation, change: Change): Change {
  return (before) => {
    const draft = change(before);
    ownUpdated(draft, before, { ...write, served: shown });
    return draft;
  };
}

function writeView(
  call: ViewCall,
  change: Change,
  identity: { readonly expectedUid?: string } = {},
): MaybePromise<ObjectResponse> {
  const { write } = call;
  const name = write.request.name ?? '';
  const update = (): MaybePromise<WriteResult> => {
    requireLive(write);
    return updateObject(
      {
        name,
        ...identity,
        subresource: undefined,
        mayCreate: false,
        hasManagedFields: true,
        draft(live) {
          invariant(live !== undefined, 'only an existing object has a view');
          return change(showManaged(live, call));
        },
        view: {
          kind: call.shown,
          toView: (object) => show(object, call, 'change'),
          fromView: (shown, live) => below(shown, live, call),
        },
      },
      write,
    );
  };
  return chain(warned(write.warnings, update), ({ object }) => answer(200, show(object, call), write.warnings));
}

/** The object as the changed view wants it. */
function below(viewed: DraftObject, live: ApiObject, { view, shown, write }: ViewCall): DraftObject {
  const asObject = viewed as unknown as ApiObject;
  const isCustom = write.served.kind.representation === 'document';
  // What a custom kind is scaled to is judged by its definition, with everything else.
  const problems = isCustom ? [] : problemsOf(asObject, shown, write);
  if (problems.length > 0) throw errors.invalid(shown.gvk, viewed.metadata.name ?? '', problems);
  const { uid, resourceVersion } = viewed.metadata;
  // A patch of a custom kind's scale may say what it likes: nobody compares.
  const why = isCustom ? undefined : failedPrecondition({ uid: uid || undefined }, live.metadata);
  if (why !== undefined) throw errors.conflict(addressOf(write), live.metadata.name, why);
  const draft = copyJson(live) as unknown as DraftObject;
  draft.metadata.resourceVersion = isCustom ? resourceVersion || live.metadata.resourceVersion : resourceVersion;
  view.write(asObject, draft, write.context);
  const ownership = ownershipOf(live, { view, shown, write });
  if (ownership === undefined) ownUpdated(draft, live, write);
  else {
    const above = storedManagers(viewed.metadata.managedFields);
    setManagers(draft.metadata, managersBelow(ownership, above, write.served.apiVersion), live.metadata.managedFields);
  }
  return draft;
}

/** The metadata of a view goes nowhere, and has to be in order all the same. */
function problemsOf(viewed: ApiObject, { kind }: ServedKind, { context }: WriteOperation): readonly FieldError[] {
  return [...metadataProblems(viewed, kind, OF_A_STRUCT), ...(kind.strategy.create.validate?.(viewed, context) ?? [])];
}

/** The view with those who manage it, as a write sees it; readers are not told. */
function showManaged(live: ApiObject, call: ViewCall): ApiObject {
  const shown = show(live, call, 'change');
  const ownership = ownershipOf(live, call);
  if (ownership === undefined) return shown;
  const metadata = { ...shown.metadata } as DraftMeta;
  setManagers(metadata, managersAbove(ownership, call.shown.apiVersion), undefined);
  return deepFreeze({ ...shown, metadata }) as ApiObject;
}

/** Undefined for a view whose fields are not those of the object. */
function ownershipOf(live: ApiObject, { view, write }: ViewCall): ScaleOwnership | undefined {
  if (view.replicasPath === undefined) return undefined;
  return {
    managers: managersIn(live),
    replicasPath: view.replicasPath,
    isServed: (apiVersion) => servedIn(write, apiVersion) !== undefined,
  };
}

const servedViews = new WeakMap<Kind, Map<Dialect, ServedKind>>();

/** Kinds that are never addressed themselves, in the cluster's names. */
export function servedView(kind: Kind, dialect: Dialect): ServedKind {
  let byDialect = servedViews.get(kind);
  if (byDialect === undefined) {
    byDialect = new Map();
    servedViews.set(kind, byDialect);
  }
  let served = byDialect.get(dialect);
  if (served === undefined) {
    served = serveKind(kind, dialect);
    byDialect.set(dialect, served);
  }
  return served;
}
