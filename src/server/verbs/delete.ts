/**
 * delete: one object by name. spec: delete
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import { checkDeleteOptions } from '../../kinds/shared/deletion-options.js';
import { successStatus } from '../../meta/status.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { deleteOptionsOf } from '../delete-options.js';
import { deleteObject, warnOfDeletion } from '../deletion.js';
import { objectResponse, withWarnings } from '../response.js';
import { startWrite, type WriteOperation } from '../write-operation.js';

/** Named so because `delete` is a keyword. */
export function deleteOne(
  context: ServerContext,
  request: ApiRequest,
  served: ServedKind,
): MaybePromise<ObjectResponse> {
  const options = deleteOptionsOf(request, context.dialect);
  if (request.body !== undefined) request.audit?.requestObject?.(options);
  const { dryRun, ...deletion } = checkDeleteOptions(options, context.dialect);
  const write: WriteOperation = startWrite(context, request, {
    served,
    dryRun,
    deleteOptions: options as Readonly<Record<string, unknown>>,
  });
  warnOfDeletion(deletion, write);
  const deleted = withWarnings(write.warnings, () => deleteObject(request.name ?? '', deletion, write));
  return chain(deleted, ({ object, removed, returnsObject }) => {
    const code = !removed && deletion.orphanDependents === false ? 202 : 200;
    if (!removed || returnsObject === true || served.kind.strategy.delete.returnDeletedObject)
      return objectResponse(code, object, write.warnings);
    // The group and resource of the request; error messages name the group of the storage version.
    const { group, resource } = served.gvr;
    const status = successStatus({
      name: object.metadata.name,
      ...(group === '' ? {} : { group }),
      kind: resource,
      uid: object.metadata.uid,
    });
    return objectResponse(code, status, write.warnings);
  });
}
