/**
 * Virtual kinds: reviews and ComponentStatus are computed, not stored.
 */
import type { VirtualKind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { ApiList, ApiObject, DraftObject } from '../../meta/object.js';
import type { Status } from '../../meta/status.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { copyJson, deepFreeze } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { decodeRequestBody } from '../decode-body.js';
import { deleteObject } from '../deletion.js';
import { checkWriteOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { selectionOf } from '../selection.js';
import { runAdmissionPhase } from '../steps/admit.js';
import { trackOwnershipOnCreate } from '../steps/managed-fields.js';
import { ensureNamespaceMatches } from '../steps/match-address.js';
import { clearSystemFields } from '../steps/prepare.js';
import { redecodeMutated } from '../steps/redecode.js';
import { seal } from '../steps/seal.js';
import { strategyContext } from '../strategy-context.js';
import { startWrite } from '../write-operation.js';

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
    return create(context, request, { served, createVirtual: virtual.create, finish });
  }
  const write = startWrite(context, request, { served, dryRun: false });
  const power = strategyContext(write, deleteObject);
  if (request.verb === 'get' && virtual.get !== undefined) {
    return chain(virtual.get(request.name ?? '', power), (draft) => objectResponse(200, finish(draft)));
  }
  if (request.verb === 'list' && virtual.list !== undefined) {
    const { matches } = selectionOf(request, served);
    return chain(virtual.list(power), (drafts) => {
      const items = drafts.map(finish).filter((item) => matches?.(item) ?? true);
      // A computed list has no resourceVersion.
      const list = { kind: served.kind.names.listKind, apiVersion: served.apiVersion, metadata: {}, items };
      return objectResponse(200, Object.freeze(list) as unknown as ApiList);
    });
  }
  throw errors.genericServerResponse('MethodNotAllowed');
}

function create(
  context: ServerContext,
  request: ApiRequest,
  target: {
    readonly served: ServedKind;
    readonly createVirtual: NonNullable<VirtualKind['create']>;
    readonly finish: (draft: DraftObject) => ApiObject;
  },
): MaybePromise<ObjectResponse> {
  const { served, createVirtual, finish } = target;
  const options = checkWriteOptions(request.options, 'CreateOptions', context.dialect);
  const { fieldValidation } = options;
  const { draft, warnings } = decodeRequestBody(request.body, { served, registry: context.registry, fieldValidation });
  const write = startWrite(context, request, { served, dryRun: options.dryRun, warnings });
  served.kind.strategy.decode.defaults?.(draft, write.hookContext);
  request.audit?.requestObject?.(draft);
  clearSystemFields(draft.metadata);
  ensureNamespaceMatches(draft.metadata, write);
  trackOwnershipOnCreate(draft, write);
  const created = withWarnings(write.warnings, () =>
    chain(runAdmissionPhase('mutate', { operation: 'CREATE', object: draft }, write), () => {
      const body = redecodeMutated(draft, write);
      // Validating plugins get a frozen copy.
      const frozen = deepFreeze(copyJson(body)) as unknown as ApiObject;
      return chain(runAdmissionPhase('validate', { operation: 'CREATE', object: frozen }, write), () =>
        createVirtual(body, strategyContext(write, deleteObject)),
      );
    }),
  );
  return chain(created, (result) => {
    // Kinds that perform an action return a Status.
    const isStatus = result.kind === 'Status' && result.apiVersion === 'v1';
    const object = isStatus ? (deepFreeze(result) as unknown as Status) : finish(result);
    return objectResponse(201, object, write.warnings);
  });
}
