/**
 * What strategies and actions may do beyond their own object: look at others, and change some. Every change is one
 * compare-and-swap in the same instant, without admission: whoever asks has been admitted already.
 */
import type { DeletionRequest, PowerContext } from '../kinds/kind.js';
import type { ObjectAddress, ObjectReader, Objects } from '../kinds/objects.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { GroupResource } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { Registry } from '../registry/registry.js';
import type { Store } from '../storage/store.js';
import { StorageError } from '../storage/types.js';
import { invariant } from '../util/invariant.js';
import { copyJson } from '../util/json.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { startJob, type WriteJob } from './job.js';
import { commitCreate, commitDelete, commitDraft, readLive } from './steps/commit.js';
import { seal } from './steps/seal.js';

/** A client's delete, handed in by who has it: it may itself need what stands here. */
export type DeleteObject = (name: string, deletion: DeletionRequest, job: WriteJob) => MaybePromise<unknown>;

export function powerContext(job: WriteJob, deleteObject: DeleteObject): PowerContext {
  const { dialect, now, features } = job.moment;
  const { request, user, namespace, dryRun, warnings, context } = job;
  const random = () => context.ids.random();
  return {
    dialect,
    now,
    features,
    request,
    user,
    namespace,
    dryRun,
    warnings,
    random,
    access: context.access,
    tokens: context.authentication.tokens,
    objects: objectsFor(job, deleteObject),
  };
}

/** Reads for whoever may only look. */
export function objectReader(store: Store, registry: Registry): ObjectReader {
  return {
    get(address) {
      const form = registry.storedForm(address);
      if (form === undefined) return undefined;
      return store.get({ resource: form.storage, namespace: address.namespace, name: address.name });
    },
    list(resource, namespace) {
      const form = registry.storedForm(resource);
      if (form === undefined) return [];
      const range = form.namespaced && namespace !== undefined ? { namespace } : {};
      return store.list({ resource: form.storage, ...range }).items;
    },
  };
}

/** Of kinds that are not served. */
const NO_KEYS = { has: () => false };

export function objectsFor(job: WriteJob, deleteObject: DeleteObject): Objects {
  const { context, dryRun } = job;
  const form = (resource: GroupResource): ServedKind => {
    const stored = context.registry.storedForm(resource);
    invariant(stored !== undefined, `${resource.resource} are served`);
    return stored;
  };
  const jobFor = (address: ObjectAddress): WriteJob =>
    startJob(context, { ...job.request, namespace: address.namespace }, { served: form(address), dryRun });
  const live = (address: ObjectAddress, of: WriteJob): ApiObject => {
    const object = readLive(of, address.name);
    if (object === undefined) throw new StorageError('missing');
    return object;
  };
  return {
    ...objectReader(context.store, context.registry),
    index(resource, keysOf) {
      const stored = context.registry.storedForm(resource);
      return stored === undefined ? NO_KEYS : context.store.index(stored.storage, keysOf);
    },
    serves: (resource) => context.registry.storedForm(resource) !== undefined,
    resourceOf: (gvk) => context.registry.byKind(gvk)?.gvr.resource,
    create(address, draft) {
      const of = jobFor(address);
      draft.metadata.creationTimestamp = job.moment.now;
      draft.metadata.uid = context.ids.uid();
      draft.metadata.name = address.name;
      if (of.served.namespaced) draft.metadata.namespace = address.namespace;
      const typed: DraftObject = { ...draft, kind: of.served.gvk.kind, apiVersion: of.served.apiVersion };
      return commitCreate(seal(of.served.schema, typed, ''), of);
    },
    change(address, change) {
      const of = jobFor(address);
      const before = live(address, of);
      const draft = copyJson(before) as unknown as DraftObject;
      change(draft);
      return commitDraft(draft, before, of);
    },
    remove(address) {
      const of = jobFor(address);
      const object = readLive(of, address.name);
      if (object !== undefined) commitDelete(object, of);
    },
    delete(address, deletion) {
      const unasked = { ...jobFor(address), context: { ...context, admission: [] } };
      return chain(deleteObject(address.name, deletion, unasked), () => undefined);
    },
  };
}
