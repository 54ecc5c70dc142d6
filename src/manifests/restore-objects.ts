/**
 * Creates the objects of another cluster through the API of a server, with their status. They get new uids, which replace
 * the old ones in references.
 */
import type { Dialect } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { qualifiedKind } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse, ObjectResponse } from '../protocol/response.js';
import { isRecord } from '../util/json.js';
import { applyManifests, applyRank, isCrd, type ManifestKind, type ManifestTarget } from './apply.js';
import type { Manifest } from './read.js';
import { sendForObject, sendForResponse } from './send.js';

export interface RestoreOptions {
  /** Replaces objects that exist. Default: they stay as they are. */
  readonly overwrite?: boolean | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface RestoreReport {
  readonly created: number;
  readonly replaced: number;
  /** Objects that existed and were left as they were. */
  readonly existing: number;
  /** A message for each object that the server rejected, or that was not sent because the server failed. */
  readonly failures: readonly string[];
}

const MANAGER = 'orchplane';

/** Restoring ends after this many objects in a row for which the server has failed. */
const MOST_FAILURES = 3;

/**
 * Creates objects: CustomResourceDefinitions first, namespaces before what is in them, owners before dependents. Requests
 * for which the server fails are repeated a few times, so the target itself should not repeat them.
 */
export async function restoreObjects(
  server: ManifestTarget,
  all: readonly ApiObject[],
  options: RestoreOptions = {},
): Promise<RestoreReport> {
  const target = retryingTarget(server);
  // Servers allocate the addresses of Services themselves.
  const objects = all.filter(({ apiVersion, kind }) => kind !== 'IPAddress' || !apiVersion.startsWith('networking.'));
  const manifests = objects.map(manifestOf);
  const crds = manifests.filter(isCrd);
  const overwrite = options.overwrite === true;
  const mode = overwrite ? 'apply' : 'create';
  const applied = await applyManifests(target, crds, {
    mode,
    fieldManager: MANAGER,
    force: overwrite,
    fieldValidation: 'Ignore',
  });
  await target.refreshKinds?.();
  const count = { created: 0, replaced: 0, existing: 0 };
  const failures: string[] = [];
  for (const each of applied) {
    if (each.outcome !== 'failed') count[CRD_OUTCOMES[each.outcome]]++;
    else if (StatusError.is(each.error.cause, 'AlreadyExists')) count.existing++;
    else failures.push(each.error.message);
  }
  const others = inOrder(objects.filter((_, index) => !crds.includes(manifests[index] as Manifest)));
  const uids = new Map<string, string>();
  let serverFailures = 0;
  for (const [index, object] of others.entries()) {
    options.onProgress?.(crds.length + index, objects.length);
    if (serverFailures === MOST_FAILURES) {
      failures.push(`${nameOf(object)}: not sent, because the server failed before`);
      continue;
    }
    try {
      count[await restoreObject(target, object, { uids, overwrite })]++;
      serverFailures = 0;
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      serverFailures = isServerFailure(error) ? serverFailures + 1 : 0;
      failures.push(`${nameOf(object)}: ${error.message}`);
    }
  }
  return { ...count, failures };
}

/** The pauses before further attempts, unless the server names another time. */
const PAUSES_MS = [500, 1_000, 2_000];
const LONGEST_PAUSE_MS = 60_000;

/** Repeats requests for which the server fails. An attempt without an answer may have been executed. */
function retryingTarget(target: ManifestTarget): ManifestTarget {
  const { dialect, clock } = target;
  const send = async (request: ApiRequest): Promise<ApiResponse> => {
    let mayBeDone = false;
    for (let attempt = 0; ; attempt++) {
      try {
        return await (mayBeDone ? sendAgain(target, request) : target.send(request));
      } catch (error) {
        if (attempt === PAUSES_MS.length || !isServerFailure(error)) throw error;
        mayBeDone ||= error.code !== OVERLOADED;
        const { retryAfterSeconds } = error.status.details ?? {};
        const wait = retryAfterSeconds === undefined ? (PAUSES_MS[attempt] ?? 0) : retryAfterSeconds * 1_000;
        await new Promise<void>((resolve) => void clock.after(Math.min(wait, LONGEST_PAUSE_MS), resolve));
      }
    }
  };
  const retrying = { dialect, clock, kinds: () => target.kinds(), send };
  if (target.refreshKinds === undefined) return retrying;
  return { ...retrying, refreshKinds: async () => target.refreshKinds?.() };
}

/** Sends a request that an earlier attempt may have executed. */
async function sendAgain(target: ManifestTarget, request: ApiRequest): Promise<ApiResponse> {
  if (request.verb === 'update') {
    const { metadata } = (await readWritten(target, request)).object as ApiObject;
    const object = request.body?.read().value as ApiObject;
    const { resourceVersion } = metadata;
    const body = valueBody({ ...object, metadata: { ...object.metadata, resourceVersion } });
    return target.send({ ...request, body });
  }
  try {
    return await target.send(request);
  } catch (error) {
    if (request.verb !== 'create' || !StatusError.is(error, 'AlreadyExists')) throw error;
    const read = await readWritten(target, request);
    const { managedFields = [] } = (read.object as ApiObject).metadata;
    const isOwn = managedFields.some(({ manager, operation }) => manager === MANAGER && operation === 'Update');
    // An object without fields has no managers.
    if (managedFields.length > 0 && !isOwn) throw error;
    return { ...read, code: 201 };
  }
}

/** Reads the object that a request writes. */
function readWritten(target: ManifestTarget, { resource, namespace, body }: ApiRequest): Promise<ObjectResponse> {
  const written = body?.read().value as ApiObject | undefined;
  return sendForResponse(target, { verb: 'get', resource, namespace, name: written?.metadata.name, options: {} });
}

/** The server has not executed the request. */
const OVERLOADED = 429;

function isServerFailure(error: unknown): error is StatusError {
  return StatusError.is(error) && (error.code >= 500 || error.code === OVERLOADED);
}

const CRD_OUTCOMES = { created: 'created', configured: 'replaced', unchanged: 'existing' } as const;

function nameOf({ kind, metadata }: ApiObject): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
}

function manifestOf(object: ApiObject, index: number): Manifest {
  const { apiVersion, kind, metadata } = object;
  return {
    place: { document: index + 1, line: 1 },
    apiVersion,
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    generateName: undefined,
    body: valueBody({ ...object, metadata: portableMetadata(object, new Map()) }),
  };
}

/** Prerequisites first, and every object after those that it refers to by uid. */
function inOrder(objects: readonly ApiObject[]): readonly ApiObject[] {
  const byUid = new Map(objects.map((object) => [object.metadata.uid, object]));
  const ordered = new Set<ApiObject>();
  const visiting = new Set<ApiObject>();
  const visit = (object: ApiObject): void => {
    if (visiting.has(object)) return;
    visiting.add(object);
    for (const uid of referencesOf(object)) {
      const referred = byUid.get(uid);
      if (referred !== undefined) visit(referred);
    }
    ordered.add(object);
  };
  for (const object of objects.toSorted((left, right) => applyRank(left) - applyRank(right))) visit(object);
  return [...ordered];
}

/** The uids of owners, and of the claim of a volume. */
function referencesOf({ metadata, spec }: ApiObject & { readonly spec?: unknown }): readonly string[] {
  const claim = isRecord(spec) && isRecord(spec['claimRef']) ? spec['claimRef']['uid'] : undefined;
  const owners = (metadata.ownerReferences ?? []).map(({ uid }) => uid);
  return typeof claim === 'string' ? [...owners, claim] : owners;
}

interface Restoring {
  /** The new uids by the old ones. */
  readonly uids: Map<string, string>;
  readonly overwrite: boolean;
}

async function restoreObject(
  target: ManifestTarget,
  object: ApiObject,
  { uids, overwrite }: Restoring,
): Promise<'created' | 'replaced' | 'existing'> {
  const { apiVersion, kind, metadata } = object;
  const served = target.kinds().find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
  if (served === undefined) throw notServed(object);
  const at = { resource: served.gvr, namespace: served.namespaced ? metadata.namespace : undefined };
  const body = portable(object, uids, target.dialect);
  const options = { fieldManager: MANAGER, fieldValidation: 'Ignore' };
  let outcome: 'created' | 'replaced' = 'created';
  let live: ApiObject;
  try {
    live = await sendForObject(target, { verb: 'create', ...at, options, body: valueBody(body) });
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
    live = await sendForObject(target, { verb: 'get', ...at, name: metadata.name, options: {} });
    uids.set(metadata.uid, live.metadata.uid);
    if (!overwrite) return 'existing';
    const { resourceVersion } = live.metadata;
    const replacement = valueBody({ ...body, metadata: { ...body.metadata, resourceVersion } });
    live = await sendForObject(target, { verb: 'update', ...at, name: metadata.name, options, body: replacement });
    outcome = 'replaced';
  }
  uids.set(metadata.uid, live.metadata.uid);
  await restoreStatus(target, served, object, at);
  return outcome;
}

function notServed({ kind, apiVersion }: ApiObject): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: 404,
    message: `no kind ${kind} in ${apiVersion} is served`,
  });
}

async function restoreStatus(
  target: ManifestTarget,
  { subresources = [] }: ManifestKind,
  { status, metadata }: ApiObject & { readonly status?: unknown },
  at: Pick<ApiRequest, 'resource' | 'namespace'>,
): Promise<void> {
  if (!isRecord(status) || Object.keys(status).length === 0 || !subresources.includes('status')) return;
  const place = { ...at, name: metadata.name, subresource: 'status' };
  const options = { fieldManager: MANAGER, fieldValidation: 'Ignore' };
  await sendForObject(target, { verb: 'patch', patchType: 'merge', ...place, options, body: valueBody({ status }) });
}

/** Fields that a server sets. */
const SERVER_FIELDS: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
]);

/** The metadata for another cluster. References to owners that were not restored are left out. */
function portableMetadata({ metadata }: ApiObject, uids: ReadonlyMap<string, string>): ApiObject['metadata'] {
  const entries = Object.entries(metadata).filter(([name]) => !SERVER_FIELDS.has(name));
  const owners = (metadata.ownerReferences ?? []).flatMap((owner) => {
    const uid = uids.get(owner.uid);
    return uid === undefined ? [] : [{ ...owner, uid }];
  });
  const { ownerReferences: _owners, ...rest } = Object.fromEntries(entries) as unknown as ApiObject['metadata'];
  return owners.length === 0 ? rest : { ...rest, ownerReferences: owners };
}

/** The object as another cluster takes it: without its status and without what the old cluster allocated. */
function portable(
  object: ApiObject & { readonly spec?: unknown; readonly status?: unknown },
  uids: ReadonlyMap<string, string>,
  dialect: Dialect,
): ApiObject {
  const { status: _status, spec, ...rest } = object;
  const metadata = portableMetadata(object, uids);
  if (!isRecord(spec)) return { ...rest, metadata };
  return { ...rest, metadata, spec: portableSpec(object, spec, uids, dialect) } as ApiObject;
}

type Spec = Readonly<Record<string, unknown>>;

function portableSpec(object: ApiObject, spec: Spec, uids: ReadonlyMap<string, string>, dialect: Dialect): Spec {
  const { kind, apiVersion } = object;
  const type = qualifiedKind({ group: apiVersion.split('/').slice(0, -1).join('/'), kind });
  // Addresses are those of another range.
  if (type === 'Service' && spec['clusterIP'] !== 'None') {
    const { clusterIP: _address, clusterIPs: _addresses, ...others } = spec;
    return others;
  }
  if (type === 'PersistentVolume' && isRecord(spec['claimRef'])) {
    const { uid, resourceVersion: _version, ...claim } = spec['claimRef'];
    const bound = uids.get(String(uid));
    return { ...spec, claimRef: bound === undefined ? claim : { ...claim, uid: bound } };
  }
  // The selector of a Job is its uid, unless the Job says otherwise.
  if (type === 'Job.batch' && spec['manualSelector'] !== true) return withoutJobSelector(spec, dialect);
  return spec;
}

function withoutJobSelector({ selector: _selector, template, ...spec }: Spec, dialect: Dialect): Spec {
  if (!isRecord(template) || !isRecord(template['metadata'])) return { ...spec, template };
  const labels = { ...(isRecord(template['metadata']['labels']) ? template['metadata']['labels'] : {}) };
  for (const name of ['controller-uid', 'job-name']) {
    delete labels[name];
    delete labels[dialect.subkey('batch', name)];
  }
  return { ...spec, template: { ...template, metadata: { ...template['metadata'], labels } } };
}
