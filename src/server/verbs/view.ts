/**
 * get, update and patch of a view subresource such as `scale`. An update of the view becomes an update of the object, by
 * the rules of its kind.
 */

import type { Kind } from '../../kinds/kind.js';
import { type ServedKind, serveKind } from '../../kinds/served-kind.js';
import { failedPrecondition } from '../../kinds/shared/storage-conflict.js';
import type { SubresourceView } from '../../kinds/subresource.js';
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  setOfFields,
  setOfPath,
} from '../../merge/apply/field-set.js';
import { type Manager, type Managers, managerKey, storedManagers } from '../../merge/apply/managers.js';
import { CUSTOM_SCHEME, type Dialect } from '../../meta/dialect.js';
import { errors, StatusError } from '../../meta/errors.js';
import type { FieldError } from '../../meta/field-error.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { quote } from '../../text/go/go-text.js';
import { translateError } from '../../util/catch-error.js';
import { invariant, unreachable } from '../../util/invariant.js';
import { copyJson, deepFreeze, isRecord } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { getOrInsertComputed } from '../../util/once.js';
import { addressOf as applyAddressOf } from '../apply.js';
import type { ServerContext } from '../context.js';
import { checkPatchOptions, checkWriteOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { requireLive } from '../steps/commit.js';
import { managersIn, servedIn, setManagers, trackOwnershipOnUpdate } from '../steps/managed-fields.js';
import { ensureNameMatches, ensureNamespaceMatches } from '../steps/match-address.js';
import { seal } from '../steps/seal.js';
import { BUILT_IN_METADATA_CHECKS, metadataProblems } from '../steps/validate-metadata.js';
import { updateObject, type WriteResult } from '../write.js';
import { startWrite, type WriteOperation } from '../write-operation.js';
import { readApply, readPatch, requirePatchType } from './patch.js';
import { untilRequestedRevision } from './read.js';
import { startBodyWrite } from './update.js';

interface ViewCall {
  readonly view: SubresourceView;
  readonly viewKind: ServedKind;
  readonly write: WriteOperation;
}

export function onView(
  context: ServerContext,
  request: ApiRequest,
  target: { readonly served: ServedKind; readonly view: SubresourceView },
): MaybePromise<ObjectResponse> {
  const { served, view } = target;
  const viewKind = servedView(view.kind, context.dialect);
  switch (request.verb) {
    case 'get': {
      const write = startWrite(context, request, { served, dryRun: false });
      return chain(untilRequestedRevision(context, request, served), () =>
        objectResponse(200, toView(requireLive(write), { view, viewKind, write })),
      );
    }
    case 'update': {
      // Invalid options are reported before another type.
      checkWriteOptions(request.options, 'UpdateOptions', context.dialect);
      const decoding = { optionsKind: 'UpdateOptions', bodyKind: viewKind } as const;
      const { draft, write } = translateError(
        StatusError,
        () => startBodyWrite(context, request, served, decoding),
        (error) => (served.kind.representation === 'document' ? undecodedScale(error) : error),
      );
      if (served.kind.representation === 'document') draft.apiVersion = statedVersion(request.body?.read().value);
      withWarnings(write.warnings, () => {
        ensureNamespaceMatches(draft.metadata, write);
        ensureNameMatches(draft.metadata, request.name ?? '');
      });
      // The uid is a precondition.
      const { uid } = draft.metadata;
      return writeView(
        { view, viewKind, write },
        withOwnership(viewKind, write, () => draft),
        uid ? { expectedUid: uid } : {},
      );
    }
    case 'patch': {
      const { patchType } = request;
      invariant(patchType !== undefined, 'a patch request says which patch it is');
      requirePatchType(patchType, served);
      const options = checkPatchOptions(request.options, patchType, context.dialect);
      const write = startWrite(context, request, { served, dryRun: options.dryRun });
      const call: ViewCall = { view, viewKind, write };
      requireLive(write);
      // The patch applies to the view.
      const isViewOfDocument = served.kind.representation === 'document';
      const patch = { options, write: { ...write, served: viewKind, isViewOfDocument } };
      if (patchType === 'apply') {
        if (served.kind.customResourceHandler === undefined) return writeView(call, readApply(request, patch));
        const conversionError = `request to convert CR to an invalid group/version: ${viewKind.apiVersion}`;
        const apply = readApply(request, { ...patch, conversionError });
        return writeView(call, requireManagers(apply, viewKind, conversionError));
      }
      return writeView(call, withOwnership(viewKind, write, readPatch(request, patchType, patch)));
    }
    case 'create':
    case 'delete':
    case 'deletecollection':
    case 'list':
    case 'watch':
      throw errors.genericServerResponse('MethodNotAllowed');
    default:
      return unreachable(request.verb);
  }
}

/** The scale endpoint of a custom resource has one message for all bodies that it cannot decode. */
function undecodedScale(error: StatusError): StatusError {
  if (!StatusError.is(error, 'BadRequest')) return error;
  return errors.badRequest(`no kind is registered for the type v1.Scale in scheme ${quote(CUSTOM_SCHEME)}`);
}

function addressOf({ served, request }: Pick<WriteOperation, 'served' | 'request'>): GroupResource {
  const { group, resource } = served.groupResource;
  return { group, resource: `${resource}/${request.subresource ?? ''}` };
}

function toView(live: ApiObject, { view, viewKind, write }: ViewCall, purpose: 'show' | 'change' = 'show'): ApiObject {
  const draft = view.read(live, write.hookContext, purpose);
  const typed: DraftObject = { ...draft, kind: viewKind.gvk.kind, apiVersion: viewKind.apiVersion };
  return seal(viewKind.schema, typed, live.metadata.resourceVersion);
}

/** Applies an update to the current view, managedFields included. */
type Change = (view: ApiObject) => DraftObject;

/** Adds ownership: the fields that the change modifies belong to the writer. */
function withOwnership(viewKind: ServedKind, write: WriteOperation, change: Change): Change {
  return (before) => {
    const draft = change(before);
    if (draft.apiVersion === '') {
      // The reference server converts a Scale of a custom resource only if it states its version, and then drops all managers.
      // upstream: apiextensions-apiserver/pkg/apiserver/conversion/converter.go crConverter.ConvertToVersion
      draft.apiVersion = viewKind.apiVersion;
      draft.metadata.managedFields = undefined;
    } else trackOwnershipOnUpdate(draft, before, { ...write, served: viewKind });
    return draft;
  };
}

function statedVersion(document: unknown): string {
  const version = isRecord(document) ? document['apiVersion'] : undefined;
  return typeof version === 'string' ? version : '';
}

/**
 * The managers of a view that no manager owns cannot be determined for a custom resource, whose Scale the reference server
 * cannot convert. upstream: apimachinery/pkg/util/managedfields/internal/skipnonapplied.go skipNonAppliedManager.Apply
 */
function requireManagers(apply: Change, viewKind: ServedKind, conversionError: string): Change {
  const why = `failed to convert live object (${applyAddressOf({}, viewKind)}) to proper version: ${conversionError}`;
  return (view) => {
    if (view.metadata.managedFields?.length) return apply(view);
    throw errors.plain(`failed to create manager for existing fields: ${why}`);
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
        allowCreateOnUpdate: false,
        hasManagedFields: true,
        makeDraft(live) {
          invariant(live !== undefined, 'only an existing object has a view');
          return change(toViewWithManagedFields(live, call));
        },
        view: {
          kind: call.viewKind,
          toView: (object) => toView(object, call, 'change'),
          fromView: (updated, live) => fromView(updated, live, call),
        },
      },
      write,
    );
  };
  return chain(withWarnings(write.warnings, update), ({ object }) =>
    objectResponse(200, toView(object, call), write.warnings),
  );
}

/** The object after the update of its view. */
function fromView(viewed: DraftObject, live: ApiObject, { view, viewKind, write }: ViewCall): DraftObject {
  const asObject = viewed as unknown as ApiObject;
  const isCustom = write.served.kind.representation === 'document';
  // The CRD's schema validates the replicas of a custom resource together with the object.
  const problems = isCustom ? [] : problemsOf(asObject, viewKind, write);
  if (problems.length > 0) throw errors.invalid(viewKind.gvk, viewed.metadata.name ?? '', problems);
  const { uid, resourceVersion } = viewed.metadata;
  // The reference server does not check the uid in a patch of a custom resource's scale.
  // upstream: apiextensions-apiserver/pkg/registry/customresource/etcd.go scaleUpdatedObjectInfo.UpdatedObject
  const why = isCustom ? undefined : failedPrecondition({ uid: uid || undefined }, live.metadata);
  if (why !== undefined) throw errors.conflict(addressOf(write), live.metadata.name, why);
  const draft = copyJson(live) as unknown as DraftObject;
  draft.metadata.resourceVersion = isCustom ? resourceVersion || live.metadata.resourceVersion : resourceVersion;
  view.write(asObject, draft, write.hookContext);
  const ownership = ownershipOf(live, { view, viewKind, write });
  if (ownership === undefined) trackOwnershipOnUpdate(draft, live, write);
  else {
    const above = storedManagers(viewed.metadata.managedFields);
    setManagers(draft.metadata, managersBelow(ownership, above, write.served.apiVersion), live.metadata.managedFields);
  }
  return draft;
}

/** The metadata of a view is validated although it is not stored. */
function problemsOf(viewed: ApiObject, { kind }: ServedKind, { hookContext }: WriteOperation): readonly FieldError[] {
  return [
    ...metadataProblems(viewed, kind, BUILT_IN_METADATA_CHECKS),
    ...(kind.strategy.create.validate?.(viewed, hookContext) ?? []),
  ];
}

/** The view with managedFields, for writes; reads do not include them. */
function toViewWithManagedFields(live: ApiObject, call: ViewCall): ApiObject {
  const viewed = toView(live, call, 'change');
  const ownership = ownershipOf(live, call);
  if (ownership === undefined) return viewed;
  const metadata = { ...viewed.metadata } as DraftMeta;
  setManagers(metadata, managersAbove(ownership, call.viewKind.apiVersion), undefined);
  return deepFreeze({ ...viewed, metadata }) as ApiObject;
}

/** Undefined for a view without a replicas path. */
function ownershipOf(live: ApiObject, { view, write }: ViewCall): ScaleOwnership | undefined {
  if (view.replicasPath === undefined) return undefined;
  return {
    managers: managersIn(live),
    replicasPath: view.replicasPath,
    isServed: (apiVersion) => servedIn(write, apiVersion) !== undefined,
  };
}

// The field managers of `replicas` are mapped between an object and its Scale view. A view has managers only while it is
// being written. upstream: apimachinery/pkg/util/managedfields/scalehandler.go ScaleHandler

const REPLICAS = setOfFields(['spec.replicas']);

interface ScaleOwnership {
  readonly managers: Managers;
  readonly replicasPath: readonly string[];
  /** Whether the object is served in a version; `replicasPath` is valid in all served versions. */
  readonly isServed: (apiVersion: string) => boolean;
}

/** The managers of the view: those that own the replicas of the object. */
function managersAbove(below: ScaleOwnership, viewVersion: string): Managers {
  const path = setOfPath(below.replicasPath);
  const above = new Map<string, Manager>();
  for (const manager of below.managers.values()) {
    if (!below.isServed(manager.apiVersion) || !hasFieldPath(manager.fields, path)) continue;
    const shown: Manager = { ...manager, apiVersion: viewVersion, fields: REPLICAS };
    above.set(managerKey(shown), shown);
  }
  return above;
}

/** The managers of the object after its view was written: who lost or gained the replicas in the view does so in the object. */
function managersBelow(before: ScaleOwnership, above: Managers, apiVersion: string): Managers {
  const path = setOfPath(before.replicasPath);
  const below = new Map<string, Manager>();
  for (const [key, manager] of before.managers) {
    if (!before.isServed(manager.apiVersion)) continue;
    const keeps = !hasFieldPath(manager.fields, path) || above.has(key);
    const fields = keeps ? manager.fields : difference(manager.fields, path);
    if (!isEmptySet(fields)) below.set(key, { ...manager, fields });
  }
  for (const [key, manager] of above) {
    if (!hasFieldPath(manager.fields, REPLICAS) || before.managers.has(key)) continue;
    const { time: _time, ...identity } = manager;
    // The reference server drops the time. An Update manager has one entry per version, so it can appear twice here
    // until the next write merges the entries.
    // upstream: apimachinery/pkg/util/managedfields/scalehandler.go ScaleHandler.ToParent
    below.set(key, { ...identity, apiVersion, fields: path });
  }
  return below;
}

function hasFieldPath(fields: FieldSet, path: FieldSet): boolean {
  return !isEmptySet(intersection(fields, path));
}

const servedViews = new WeakMap<Kind, Map<Dialect, ServedKind>>();

/** A ServedKind for a kind that has no endpoint of its own. */
export function servedView(kind: Kind, dialect: Dialect): ServedKind {
  const byDialect = getOrInsertComputed(servedViews, kind, () => new Map());
  return getOrInsertComputed(byDialect, dialect, () => serveKind(kind, dialect));
}
