/**
 * deletecollection: deletes every object of a list, one by one. Not atomic: the first failure ends it, and earlier
 * deletions remain. spec: deletecollection
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import { checkDeleteOptions } from '../../kinds/shared/deletion-options.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { chain, type MaybePromise, rescue } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { deleteOptionsOf } from '../delete-options.js';
import { deleteObject, warnOfDeletion } from '../deletion.js';
import { checkListOptions } from '../options.js';
import { objectResponse, withWarnings } from '../response.js';
import { selectionOf } from '../selection.js';
import { runAdmissionPhase } from '../steps/admit.js';
import { ConversionPending } from '../versions.js';
import { startWrite, type WriteOperation } from '../write-operation.js';
import { readList } from './list.js';

/** Returns the list as it was before the deletions. */
export function deleteCollection(
  context: ServerContext,
  request: ApiRequest,
  served: ServedKind,
): MaybePromise<ObjectResponse> {
  // List options are validated before delete options.
  checkListOptions(request.options, context.dialect);
  selectionOf(request, served);
  const options = deleteOptionsOf(request, context.dialect);
  if (request.body !== undefined) request.audit?.requestObject?.(options);
  const { dryRun, ...deletion } = checkDeleteOptions(options, context.dialect);
  const writeParts = {
    served,
    dryRun,
    deleteOptions: options as Readonly<Record<string, unknown>>,
    isCollectionDelete: true,
  };
  const collectionWrite = startWrite(context, request, writeParts);
  const { warnings } = collectionWrite;
  const listed = () =>
    chain(runAdmissionPhase('mutate', { operation: 'DELETE' }, collectionWrite), () =>
      readList(context, request, served),
    );
  return withWarnings(warnings, () =>
    chain(listed(), (list) => {
      warnOfDeletion(deletion, collectionWrite);
      const deleteItem = (item: ApiObject) => {
        // A request across namespaces names none; each item is deleted in its own.
        const namespace = item.metadata.namespace;
        const itemRequest = namespace === undefined ? request : { ...request, namespace };
        const write: WriteOperation = { ...startWrite(context, itemRequest, writeParts), warnings };
        return deleteObject(item.metadata.name, deletion, write);
      };
      let done: MaybePromise<unknown>;
      for (const item of list.items) {
        done = chain(done, () => ignoreNotFound(() => whenConverted(() => deleteItem(item))));
      }
      return chain(done, () => objectResponse(200, list, warnings));
    }),
  );
}

/** Waits for the conversion of an object that was written meanwhile; the request cannot start again after deletions. */
function whenConverted<Value>(run: () => MaybePromise<Value>): MaybePromise<Value> {
  return rescue(run, (error) => {
    if (!(error instanceof ConversionPending)) throw error;
    return error.ready.then(() => whenConverted(run));
  });
}

/** Ignores objects that another client deleted first. */
function ignoreNotFound(run: () => MaybePromise<unknown>): MaybePromise<unknown> {
  const ignoreNotFound = (error: unknown) => {
    if (!StatusError.is(error, 'NotFound')) throw error;
  };
  return rescue(run, ignoreNotFound);
}
