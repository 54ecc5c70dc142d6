/**
 * Objects that are not stored: virtual kinds (reviews, ComponentStatus), which are computed, and the bodies of action
 * subresources (eviction, binding, token).
 */
import type { VirtualKind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { SubresourceAction } from '../../kinds/subresource.js';
import { errors } from '../../meta/errors.js';
import type { ApiList, ApiObject, DraftObject } from '../../meta/object.js';
import type { Status } from '../../meta/status.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { StorageError } from '../../storage/types.js';
import { copyJson, deepFreeze } from '../../util/json.js';
import { chain, type MaybePromise, rescue } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { deleteObject } from '../deletion.js';
import { checkListOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { selectionOf } from '../selection.js';
import { runAdmissionPhase } from '../steps/admit.js';
import { trackOwnershipOnCreate } from '../steps/managed-fields.js';
import { ensureNamespaceMatches } from '../steps/match-address.js';
import { clearSystemFields } from '../steps/prepare.js';
import { redecodeMutated } from '../steps/redecode.js';
import { seal } from '../steps/seal.js';
import { limitErrors } from '../steps/validate.js';
import { strategyContext } from '../strategy-context.js';
import { startWrite, type WriteOperation } from '../write-operation.js';
import { startBodyWrite } from './update.js';
import { servedView } from './view.js';

export function onVirtual(
  context: ServerContext,
  request: ApiRequest,
  target: { readonly served: ServedKind; readonly virtual: VirtualKind },
): MaybePromise<ObjectResponse> {
  const { served, virtual } = target;
  const finish = (draft: DraftObject): ApiObject => {
    const typed: DraftObject = { ...draft, kind: served.gvk.kind, apiVersion: served.apiVersion };
    return seal(served.schema, typed, undefined);
  };
  if (request.verb === 'create' && virtual.create !== undefined) {
    return createVirtual(context, request, { served, create: virtual.create, finish });
  }
  const write = startWrite(context, request, { served, dryRun: false });
  const power = strategyContext(write, deleteObject);
  if (request.verb === 'get' && virtual.get !== undefined) {
    return chain(virtual.get(request.name ?? '', power), (draft) => objectResponse(200, finish(draft)));
  }
  if (request.verb === 'list' && virtual.list !== undefined) {
    checkListOptions(request.options, context.dialect);
    if (request.unacceptable !== undefined) throw request.unacceptable;
    const { matches } = selectionOf(request, served);
    return chain(virtual.list(power), (drafts) => {
      const items = drafts.map(finish).filter((item) => matches?.(item) ?? true);
      const metadata = served.dialect.rules.everyListHasResourceVersion
        ? { resourceVersion: String(context.store.revision) }
        : {};
      const list = { kind: served.kind.names.listKind, apiVersion: served.apiVersion, metadata, items };
      return objectResponse(200, Object.freeze(list) as unknown as ApiList);
    });
  }
  throw errors.genericServerResponse('MethodNotAllowed');
}

function createVirtual(
  context: ServerContext,
  request: ApiRequest,
  target: {
    readonly served: ServedKind;
    readonly create: NonNullable<VirtualKind['create']>;
    readonly finish: (draft: DraftObject) => ApiObject;
  },
): MaybePromise<ObjectResponse> {
  const { served, create, finish } = target;
  const { draft, write } = startBodyWrite(context, request, served, { optionsKind: 'CreateOptions' });
  served.kind.strategy.decode.defaults?.(draft, write.hookContext);
  request.audit?.requestObject?.(draft);
  clearSystemFields(draft.metadata);
  const created = runOnBody(draft, served, write, (body) => create(body, strategyContext(write, deleteObject)));
  return chain(created, (result) => {
    // Kinds that perform an action return a Status.
    const isStatus = result.kind === 'Status' && result.apiVersion === 'v1';
    const object = isStatus ? (deepFreeze(result) as unknown as Status) : finish(result);
    return objectResponse(201, object, write.warnings);
  });
}

/** create on an action subresource. */
export function onAction(
  context: ServerContext,
  request: ApiRequest,
  { served, action }: { readonly served: ServedKind; readonly action: SubresourceAction },
): MaybePromise<ObjectResponse> {
  const bodyKind = servedView(action.kind, context.dialect);
  const { alsoAccepts } = action;
  const { draft, write } = startBodyWrite(context, request, served, {
    optionsKind: 'CreateOptions',
    bodyKind,
    alsoAccepts,
  });
  bodyKind.kind.strategy.decode.defaults?.(draft, write.hookContext);
  request.audit?.requestObject?.(draft);
  const done = runOnBody(draft, bodyKind, write, (body) => action.run(body, strategyContext(write, deleteObject)));
  return chain(done, (object) => objectResponse(201, deepFreeze(object) as ObjectResponse['object'], write.warnings));
}

/** Admits a body and runs the action on it. */
function runOnBody<Result>(
  draft: DraftObject,
  objectKind: ServedKind,
  write: WriteOperation,
  run: (body: DraftObject) => MaybePromise<Result>,
): MaybePromise<Result> {
  const bodyWrite = { ...write, served: objectKind };
  ensureNamespaceMatches(draft.metadata, write);
  trackOwnershipOnCreate(draft, bodyWrite);
  return withWarnings(write.warnings, () =>
    chain(runAdmissionPhase('mutate', { operation: 'CREATE', object: draft, objectKind }, write), () => {
      const body = redecodeMutated(draft, bodyWrite);
      // Validating plugins get a frozen copy.
      const object = deepFreeze(copyJson(body)) as unknown as ApiObject;
      return chain(runAdmissionPhase('validate', { operation: 'CREATE', object, objectKind }, write), () =>
        runInTransaction(() => limitErrors(objectKind, body.metadata.name, () => run(body)), write),
      );
    }),
  );
}

/** More lost races than real contention causes. */
const MAX_ATTEMPTS = 100;

/** Runs an action and what it stores; again when another write came first. */
function runInTransaction<Result>(
  run: () => MaybePromise<Result>,
  write: WriteOperation,
  attempt = 1,
): MaybePromise<Result> {
  const again = (error: unknown): MaybePromise<Result> => {
    if (!(error instanceof StorageError) || attempt >= MAX_ATTEMPTS) throw error;
    return runInTransaction(run, write, attempt + 1);
  };
  return rescue(() => write.server.store.transaction(run, (result) => result), again);
}
