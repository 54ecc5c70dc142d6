/**
 * Connect subresources (exec, log, proxy): runs admission and opens a connection to the node runtime.
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import type { ConnectQuery, ConnectSubresource } from '../../kinds/subresource.js';
import { errors } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse } from '../../protocol/response.js';
import { copyJson, deepEqual } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { ServerContext } from '../context.js';
import { type AdmissionInput, runAdmissionPhase } from '../steps/admit.js';
import { objectReader } from '../strategy-context.js';
import { startWrite } from '../write-operation.js';

export function onConnect(
  context: ServerContext,
  request: ApiRequest,
  { served, connectSubresource }: { readonly served: ServedKind; readonly connectSubresource: ConnectSubresource },
): MaybePromise<ApiResponse> {
  const { store, registry, features } = context;
  const write = startWrite(context, request, { served, dryRun: false });
  const query = request.options.connectQuery ?? {};
  // `log` is only read: it has no CONNECT admission.
  const isConnect = connectSubresource.verbs.length > 1;
  if (isConnect && query['dryRun'] !== undefined) throw errors.badRequest('dryRun is not supported');
  const options = connectSubresource.options(query);
  const object = asObject({ kind: connectSubresource.optionsKind, apiVersion: 'v1', ...copyJson(options) });
  const answer = (): MaybePromise<ApiResponse> => {
    const { warnings, namespace } = write;
    const objects = objectReader(store, registry);
    const { runtime } = context.runtimeSlot;
    const target = { name: request.name ?? '', namespace, query: admittedQuery(query, { options, object, request }) };
    const opened = connectSubresource.open({ ...target, objects, features, runtime });
    if (opened === undefined) return { type: 'object', code: 204, object: NOTHING_TO_READ, warnings };
    return chain(opened, (connection) => ({ type: 'connection', connection, warnings }));
  };
  if (!isConnect) return answer();
  const admitted: AdmissionInput = {
    operation: 'CONNECT',
    object,
    objectKind: { ...served, gvk: { group: '', version: 'v1', kind: connectSubresource.optionsKind } },
  };
  return chain(runAdmissionPhase('mutate', admitted, write), () =>
    chain(runAdmissionPhase('validate', admitted, write), answer),
  );
}

/** Options have no metadata; plugins expect it, so it is added as a hidden member. */
function asObject(options: object): DraftObject {
  return Object.defineProperty(options, 'metadata', { value: {}, enumerable: false }) as DraftObject;
}

/** The query with what plugins have changed in the options. Forwarded requests cannot be changed. */
function admittedQuery(
  query: ConnectQuery,
  {
    options,
    object,
    request,
  }: { readonly options: object; readonly object: DraftObject; readonly request: ApiRequest },
): ConnectQuery {
  const { kind: _kind, apiVersion: _version, ...admitted } = object;
  const [before, after] = [new Map(Object.entries(options)), new Map(Object.entries(admitted))];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const changed = names.filter((name) => !deepEqual(before.get(name) ?? null, after.get(name) ?? null));
  if (changed.length === 0) return query;
  const { subresource = '' } = request;
  if (subresource !== 'exec' && subresource !== 'attach')
    throw errors.internal(`admission plugins cannot change the options of ${subresource}`);
  const values = (name: string): [string, string[]] => [name, [after.get(name) ?? []].flat().map(String)];
  return { ...query, ...Object.fromEntries(changed.map(values)) };
}

const NOTHING_TO_READ = Object.freeze({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' } as const);
