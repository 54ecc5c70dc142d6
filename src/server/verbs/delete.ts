/**
 * delete and deletecollection. The options come from the body if there is one, otherwise from the query. By the rules of
 * the dialect, options that the body omits may come from the query.
 * spec: Operations, Parameters
 */
import { paceOf } from '../../admission/evaluation-pace.js';
import type { DeletionRequest } from '../../kinds/deletion.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { checkDeleteOptions } from '../../kinds/shared/deletion-options.js';
import { type Dialect, OPTIONS_SCHEME, serviceGroup } from '../../meta/dialect.js';
import { errors, StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { type Status, successStatus } from '../../meta/status.js';
import { BodyError, type TypeMeta } from '../../protocol/body.js';
import type { ApiRequest, RequestOptions } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import {
  boolean,
  int64,
  list,
  namedString,
  objectNode,
  optional,
  pointer,
  string,
  struct,
} from '../../schema/declare.js';
import { decode } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import { quote } from '../../text/go/go-text.js';
import { chain, type MaybePromise, rescue } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { claimedType, malformedBodyMessage, readTypeMeta } from '../decode-body.js';
import { type Deleted, deleteObject, warnOfDeletion } from '../deletion.js';
import { checkListOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { selectionOf } from '../selection.js';
import { ConversionPending, MAX_CONVERSIONS } from '../versions.js';
import { startWrite, type WriteOperation } from '../write-operation.js';
import { readList } from './read.js';

/** Named so because `delete` is a keyword. */
export function deleteOne(
  context: ServerContext,
  request: ApiRequest,
  served: ServedKind,
): MaybePromise<ObjectResponse> {
  const { deletion, ...parts } = readDeletion(context, request, served);
  const write = startWrite(context, request, parts);
  warnOfDeletion(deletion, write);
  const deleted = withWarnings(write.warnings, () => deleteObject(request.name ?? '', deletion, write));
  return chain(deleted, (result) => {
    const code = !result.removed && deletion.orphanDependents === false ? 202 : 200;
    const answer = returnsObject(result, served) ? result.object : deletedStatus(request, served, result.object);
    return objectResponse(code, answer, write.warnings);
  });
}

function returnsObject({ removed, returnsObject: forced }: Deleted, { kind, dialect }: ServedKind): boolean {
  const { returnDeletedObject } = kind.strategy.delete;
  if (dialect.rules.deleteReturnsStatus) return returnDeletedObject === true;
  return !removed || forced === true || returnDeletedObject !== false;
}

/** Has the group and resource of the request; error messages name the group of the storage version. */
function deletedStatus({ name }: ApiRequest, { gvr }: ServedKind, { metadata }: ApiObject): Status {
  const { uid } = metadata as { readonly uid?: string };
  return successStatus({
    ...(name === undefined ? {} : { name }),
    ...(gvr.group === '' ? {} : { group: gvr.group }),
    kind: gvr.resource,
    ...(uid === undefined ? {} : { uid }),
  });
}

/**
 * Deletes every object of a list, one by one. Not atomic: the first failure ends it, and earlier deletions remain. Returns
 * the list as it was before the deletions, or a Status, by the rules of the dialect.
 */
export function deleteCollection(
  context: ServerContext,
  request: ApiRequest,
  served: ServedKind,
): MaybePromise<ObjectResponse> {
  // List options are validated before delete options.
  checkListOptions(request.options, context.dialect);
  if (request.unacceptable !== undefined) throw request.unacceptable;
  selectionOf(request, served);
  const { deletion, ...parts } = readDeletion(context, request, served);
  const writeParts = { ...parts, isCollectionDelete: true };
  const collectionWrite = startWrite(context, request, writeParts);
  const { warnings } = collectionWrite;
  return withWarnings(warnings, () =>
    chain(readList(context, request, served), (list) => {
      warnOfDeletion(deletion, collectionWrite);
      const deleteItem = (item: ApiObject) => {
        // A request across namespaces names none; each item is deleted in its own.
        const namespace = item.metadata.namespace;
        const itemRequest = namespace === undefined ? request : { ...request, namespace };
        const write: WriteOperation = { ...startWrite(context, itemRequest, writeParts), warnings };
        return deleteObject(item.metadata.name, deletion, write);
      };
      let done: MaybePromise<unknown>;
      const pace = paceOf(collectionWrite);
      for (const item of list.items) {
        done = chain(done, () => pace.pause());
        done = chain(done, () => ignoreNotFound(() => whenConverted(served, () => deleteItem(item))));
      }
      const answer = context.dialect.rules.deleteReturnsStatus ? collectionStatus(served) : list;
      return chain(done, () => objectResponse(200, answer, warnings));
    }),
  );
}

/** The reference server's response for a storage that returns no list. */
function collectionStatus({ gvk }: ServedKind): Status {
  return successStatus({ kind: gvk.kind }, 200);
}

/** Waits for the conversion of an object that was written meanwhile; the request cannot start again after deletions. */
function whenConverted<Value>(served: ServedKind, run: () => MaybePromise<Value>, attempt = 1): MaybePromise<Value> {
  return rescue(run, (error) => {
    if (!(error instanceof ConversionPending)) throw error;
    if (attempt === MAX_CONVERSIONS) throw errors.serverTimeout(served.groupResource, 'deletecollection', 2);
    return error.ready.then(() => whenConverted(served, run, attempt + 1));
  });
}

/** Ignores objects that another client deleted first. */
function ignoreNotFound(run: () => MaybePromise<unknown>): MaybePromise<unknown> {
  return rescue(run, (error) => {
    if (!StatusError.is(error, 'NotFound')) throw error;
  });
}

const schema = objectNode('DeleteOptions', {
  kind: optional(string()),
  apiVersion: optional(string()),
  gracePeriodSeconds: pointer(int64()),
  preconditions: pointer(
    struct('Preconditions', { uid: pointer(namedString('types.UID')), resourceVersion: pointer(string()) }),
  ),
  orphanDependents: pointer(boolean()),
  propagationPolicy: pointer(namedString('v1.DeletionPropagation')),
  dryRun: optional(list(string())),
  ignoreStoreReadErrorWithClusterBreakingPotential: pointer(boolean()),
});

interface ReadDeletion {
  readonly served: ServedKind;
  readonly deletion: DeletionRequest;
  readonly dryRun: boolean;
  readonly deleteOptions: Readonly<Record<string, unknown>>;
}

function readDeletion(context: ServerContext, request: ApiRequest, served: ServedKind): ReadDeletion {
  const options = deleteOptionsOf(request, context.dialect);
  if (request.body !== undefined) request.audit?.requestObject?.(options);
  const { dryRun, ...deletion } = checkDeleteOptions(options, context.dialect);
  return { served, deletion, dryRun, deleteOptions: options as Readonly<Record<string, unknown>> };
}

/** Throws a 500 without a reason for a malformed body, as the reference server does. */
function deleteOptionsOf(request: ApiRequest, dialect: Dialect): RequestOptions {
  if (request.body === undefined) return request.options;
  const claimed = readTypeMeta(request.body, errors.plain);
  try {
    const read = request.body.read();
    const body = read.value === null ? { value: {} } : read;
    checkType(claimedType(body.value, errors.plain), dialect);
    const options = decode(schema, body).value as RequestOptions;
    return dialect.rules.deleteQueryApplies ? withQueryOptions(options, request.options) : options;
  } catch (error) {
    if (error instanceof BodyError && claimed !== undefined) throw errors.plain(error.message);
    if (error instanceof BodyError) throw errors.plain(malformedBodyMessage(error));
    if (error instanceof DecodeError) throw errors.plain(error.message);
    throw error;
  }
}

/** Adds the options of the query that the body omits. `orphanDependents` is the older form of a propagation policy. */
function withQueryOptions(body: RequestOptions, query: RequestOptions): RequestOptions {
  const { gracePeriodSeconds = query.gracePeriodSeconds, orphanDependents } = body;
  const { propagationPolicy = orphanDependents === undefined ? query.propagationPolicy : undefined } = body;
  const dryRun = (body.dryRun?.length ?? 0) > 0 ? body.dryRun : query.dryRun;
  const { preconditions = query.preconditions } = body;
  return {
    ...body,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun === undefined ? {} : { dryRun }),
    ...(preconditions === undefined ? {} : { preconditions }),
  };
}

const KNOWN_OTHERS = [
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'CreateOptions',
  'Status',
  'UpdateOptions',
];

/** Other option kinds are registered but not convertible to DeleteOptions; all other types are not registered. */
function checkType({ kind, apiVersion }: TypeMeta, dialect: Dialect): void {
  if (!kind || kind === 'DeleteOptions') return;
  if (KNOWN_OTHERS.includes(kind)) {
    throw errors.plain(`converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`);
  }
  const version = quote(apiVersion || `${dialect.group(serviceGroup('meta'))}/v1`);
  throw errors.plain(`no kind ${quote(kind)} is registered for version ${version} in scheme ${quote(OPTIONS_SCHEME)}`);
}
