/**
 * Slices as their controller meets them: by the service they belong to, and with its own writes told apart from those of
 * others. What it has written itself is no reason for another look.
 */
import type { InformerEvent } from '../../client/informer.js';
import type { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { Dialect } from '../../meta/dialect.js';
import { managedByLabel, serviceNameLabel } from '../endpoints/names.js';
import type { Lookup, SharedInformer } from '../runtime/shared-informer.js';
import type { StoredSlice } from './slice.js';

export interface OwnSlicesOptions {
  readonly dialect: Dialect;
  /** What the label holds that tells who writes slices. */
  readonly manager: string;
}

export class OwnSlices {
  readonly #options: OwnSlicesOptions;
  readonly #slices: SharedInformer<typeof EndpointSlice>;
  readonly #byService: Lookup<StoredSlice>;
  /** The version last written of each slice that is there, by uid; absent: somebody else's. */
  readonly #written = new Map<string, string>();
  /** What was told of services while their slices were being written: whose write it was is known afterwards. */
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
   * Tells from now on of services whose slices have changed by another hand; first of those that have any. To be called
   * when the queue is there that is told: what there is already is told within the call.
   */
  onChange(listener: (key: string) => void): void {
    this.#listener = listener;
    this.#slices.subscribe((event) => this.#take(event));
  }

  /** The controller's own slices of a service. */
  of(key: string): readonly StoredSlice[] {
    return this.#byService(key);
  }

  /** Writes slices of a service; `run` is given what to note each write with. */
  async write(key: string, run: (wrote: (slice: StoredSlice) => void) => Promise<void>): Promise<void> {
    this.#writing.set(key, []);
    try {
      await run(({ metadata }) => this.#written.set(metadata.uid, metadata.resourceVersion));
    } finally {
      const events = this.#writing.get(key) ?? [];
      this.#writing.delete(key);
      for (const event of events) this.#tell(event);
    }
  }

  #take(event: InformerEvent<StoredSlice>): void {
    const key = this.#serviceOf(event.object);
    const held = key === undefined ? undefined : this.#writing.get(key);
    if (held === undefined) this.#tell(event);
    else held.push(event);
  }

  #tell(event: InformerEvent<StoredSlice>): void {
    const { type, object } = event;
    const { uid, resourceVersion } = object.metadata;
    const written = this.#written.get(uid);
    if (type === 'DELETED') {
      this.#written.delete(uid);
      if (written === GONE) return;
    } else if (written === resourceVersion) return;
    const previous = type === 'MODIFIED' ? event.previous : object;
    const keys = new Set([this.#serviceOf(object), this.#serviceOf(previous)]);
    // Another's slice of the same service, now as before.
    if (keys.size === 1 && !this.#isOwn(object) && !this.#isOwn(previous)) return;
    for (const key of keys) if (key !== undefined) this.#listener(key);
  }

  /** Notes that a slice is going by the controller's own hand. */
  removing({ metadata }: StoredSlice): void {
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

/** No version is this. */
const GONE = '';
