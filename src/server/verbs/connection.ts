/**
 * Lines to what runs elsewhere. There is nothing at the other end, so all that can be answered is why.
 */
import type { Connection } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse } from '../../protocol/response.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { startJob } from '../job.js';
import { type Admitted, admit } from '../steps/admit.js';
import { readLive } from '../steps/commit.js';

export function onConnection(
  context: ServerContext,
  request: ApiRequest,
  { served, connection }: { readonly served: ServedKind; readonly connection: Connection },
): MaybePromise<ApiResponse> {
  const name = request.name ?? '';
  const job = startJob(context, request, { served, dryRun: false });
  const answer = (): ApiResponse => {
    const live = readLive(job, name);
    if (live === undefined) throw errors.notFound(served.groupResource, name);
    const refusal = connection.refuse(live);
    if (refusal !== undefined) throw refusal;
    return { type: 'object', code: 204, object: NOTHING_TO_READ, warnings: job.warnings };
  };
  // What is only read (a log) is no line.
  if (connection.verbs.length === 1) return answer();
  const admitted: Admitted = {
    operation: 'CONNECT',
    object: lineOptions(connection, request.options.line ?? {}),
    as: { ...served, gvk: { group: '', version: 'v1', kind: connection.optionsKind } },
  };
  return chain(admit('mutate', admitted, job), () => chain(admit('validate', admitted, job), answer));
}

const SWITCHES = ['stdin', 'stdout', 'stderr', 'tty'];

/** What plugins see of a line. It has no metadata, which plugins need not know. */
function lineOptions({ optionsKind }: Connection, query: Readonly<Record<string, readonly string[]>>): DraftObject {
  const options: Record<string, unknown> = { kind: optionsKind, apiVersion: 'v1' };
  if (optionsKind.endsWith('ProxyOptions')) options['path'] = query['path']?.[0] ?? '';
  else if (optionsKind === 'PodPortForwardOptions') options['ports'] = (query['ports'] ?? []).map(Number);
  else {
    for (const name of SWITCHES) if (/^(?:true|1)$/.test(query[name]?.[0] ?? '')) options[name] = true;
    if (query['container']?.[0]) options['container'] = query['container'][0];
    if (optionsKind === 'PodExecOptions') options['command'] = [...(query['command'] ?? [])];
  }
  return Object.defineProperty(options, 'metadata', { value: {}, enumerable: false }) as unknown as DraftObject;
}

const NOTHING_TO_READ = Object.freeze({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' } as const);
