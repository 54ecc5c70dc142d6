/**
 * Lines to what runs elsewhere. There is nothing at the other end, so all that can be answered is why.
 */
import type { Connection } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse } from '../../protocol/response.js';
import type { ServerContext } from '../context.js';
import { startJob } from '../job.js';
import { readLive } from '../steps/commit.js';

export function onConnection(
  context: ServerContext,
  request: ApiRequest,
  { served, connection }: { readonly served: ServedKind; readonly connection: Connection },
): ApiResponse {
  const name = request.name ?? '';
  const live = readLive(startJob(context, request, { served, dryRun: false }), name);
  if (live === undefined) throw errors.notFound(served.groupResource, name);
  const refusal = connection.refuse(live);
  if (refusal !== undefined) throw refusal;
  return { type: 'object', code: 204, object: NOTHING_TO_READ, warnings: [] };
}

const NOTHING_TO_READ = Object.freeze({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' } as const);
