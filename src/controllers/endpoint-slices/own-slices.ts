/**
 * The slices of one controller, indexed by Service, and their writes. Distinguishes the controller's own writes from those of
 * other clients, so that its own writes do not cause a reconcile.
 */

import type { Client } from '../../client/client.js';
import type { InformerEvent } from '../../client/informer.js';
import { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { Dialect } from '../../meta/dialect.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { managedByLabel, serviceNameLabel } from '../endpoints/pod-services.js';
import { isNamespaceTerminating } from '../runtime/expected-errors.js';
import type { Lookup, SharedInformer } from '../runtime/shared-informer.js';
import type { StoredSlice } from './slice.js';
import { bodyOf, type SliceChanges, type SlicePlan } from './slice.js';

export interface OwnSlicesOptions {
  readonly dialect: Dialect;
  /** The value of the managed-by label. */
  readonly manager: string;
}

/** The slices that one controller manages. */
export class OwnSlices {
  readonly #options: OwnSlicesOptions;
  readonly #slices: SharedInformer<typeof EndpointSlice>;
  readonly #byService: Lookup<StoredSlice>;
  /** The resourceVersion of this controller's last write of each slice, by uid. */
  readonly #written = new Map<string, string>();
  /** Events received while slices of a Service are being written: only afterwards is it known whose writes they are. */
  readonly #writing = new Map<string, InformerEvent<StoredSlice>[]>();
  #listener: (key: string) => void = () => undefined;

  constructor(slices: SharedInformer<typeof EndpointSlice>, options: OwnSlicesOptions) {
    this.#options = options;
    this.#byService = slices.index(`service, of ${options.manager}`, (slice) => {
      const service = this.#isOwn(slice) ? this.#serviceOf(slice) : undefined;
      return service === undefined ? [] : [service];
    });
    this.#slices = slices;
  }

  /**
   * Calls the listener with the Services whose slices were changed by other clients, starting with those of all existing
   * slices. Call it after the queue is created, because existing slices are reported within the call.
   */
  onChange(listener: (key: string) => void): void {
    this.#listener = listener;
    this.#slices.subscribe((event) => this.#receive(event));
  }

  /** The controller's slices of a Service. */
  of(key: string): readonly StoredSlice[] {
    return this.#byService(key);
  }

  /** Runs writes to slices of a Service; `run` must report each written slice. */
  async write(key: string, run: (recordWrite: (slice: StoredSlice) => void) => Promise<void>): Promise<void> {
    this.#writing.set(key, []);
    try {
      await run(({ metadata }) => this.#written.set(metadata.uid, metadata.resourceVersion));
    } finally {
      const events = this.#writing.get(key) ?? [];
      this.#writing.delete(key);
      for (const event of events) this.#notify(event);
    }
  }

  #receive(event: InformerEvent<StoredSlice>): void {
    const key = this.#serviceOf(event.object);
    const held = key === undefined ? undefined : this.#writing.get(key);
    if (held === undefined) this.#notify(event);
    else held.push(event);
  }

  #notify(event: InformerEvent<StoredSlice>): void {
    const { type, object } = event;
    const { uid, resourceVersion } = object.metadata;
    const written = this.#written.get(uid);
    if (type === 'DELETED') {
      this.#written.delete(uid);
      if (written === GONE) return;
    } else if (written === resourceVersion) return;
    const previous = type === 'MODIFIED' ? event.previous : object;
    const keys = new Set([this.#serviceOf(object), this.#serviceOf(previous)]);
    // A slice of another manager, before and after the change.
    if (keys.size === 1 && !this.#isOwn(object) && !this.#isOwn(previous)) return;
    for (const key of keys) if (key !== undefined) this.#listener(key);
  }

  /** Records that this controller deletes the slice. */
  recordDelete({ metadata }: StoredSlice): void {
    this.#written.set(metadata.uid, GONE);
  }

  #serviceOf({ metadata }: StoredSlice): string | undefined {
    const name = metadata.labels?.[serviceNameLabel(this.#options.dialect)] ?? '';
    return name === '' ? undefined : `${metadata.namespace ?? ''}/${name}`;
  }

  #isOwn({ metadata }: StoredSlice): boolean {
    return metadata.labels?.[managedByLabel(this.#options.dialect)] === this.#options.manager;
  }
}

/** Marks a deletion; not a valid resourceVersion. */
const GONE = '';

interface SliceWrites {
  readonly client: Client;
  /** The key of the service. */
  readonly key: string;
  /** Records each write. */
  readonly slices: OwnSlices;
  /** The Service or Endpoints that the slices belong to. */
  readonly owner: ApiObject;
  readonly changes: SliceChanges;
  /** Adds annotations before a slice is sent. */
  readonly annotated?: (plan: SlicePlan) => SlicePlan;
}

/** Rejects with the first failure, with the reference server's message. */
export async function writeSlices(writes: SliceWrites): Promise<void> {
  const { create, update, remove } = writes.changes;
  if (create.length + update.length + remove.length === 0) return;
  await writes.slices.write(writes.key, (recordWrite) => writeAll(writes, recordWrite));
}

async function writeAll(
  { client, owner, changes, slices, annotated = (plan) => plan }: SliceWrites,
  recordWrite: (slice: StoredSlice) => void,
): Promise<void> {
  const { kind, metadata } = owner;
  const { name, namespace = '' } = metadata;
  const api = client.api(EndpointSlice, namespace);
  const description = `EndpointSlice for ${kind} ${namespace}/${name}`;
  // An owner that is being deleted gets no new slices: they would have to be garbage-collected.
  if (metadata.deletionTimestamp === undefined) {
    for (const plan of changes.create) {
      try {
        recordWrite(await api.create(bodyOf(annotated(plan))));
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        throw withContext(`failed to create ${description}`, error);
      }
    }
  }
  for (const plan of changes.update) {
    const { name: slice = '', ...rest } = annotated(plan);
    try {
      recordWrite(await api.update({ ...bodyOf(rest), metadata: { ...rest.metadata, name: slice } }));
    } catch (error) {
      throw withContext(`failed to update ${slice} ${description}`, error);
    }
  }
  for (const slice of changes.remove) {
    const { name: deletedName, uid } = slice.metadata;
    try {
      await api.delete(deletedName, { preconditions: { uid } });
      slices.recordDelete(slice);
    } catch (error) {
      if (!StatusError.is(error, 'NotFound'))
        throw withContext(`failed to delete ${deletedName} ${description}`, error);
    }
  }
}

/** Prefixes the message and keeps the status, because the queue checks the reason. */
function withContext(text: string, error: unknown): unknown {
  if (StatusError.is(error)) {
    return new StatusError({ ...error.status, message: `${text}: ${error.message}` }, { cause: error });
  }
  return error;
}
