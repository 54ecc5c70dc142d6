/**
 * Resource versions in requests and in `cluster.at`: parsing, and waiting for a future revision.
 */
import { errors } from '../meta/errors.js';
import type { Store } from '../storage/store.js';
import { quote } from '../text/go/go-text.js';
import { onAbort } from '../util/abort.js';
import type { Undo } from '../util/clock.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import type { ServerContext } from './context.js';

/**
 * The number in a resource version, 0 for none. Throws an Error whose message is the reference server's.
 * upstream: apiserver/pkg/storage/api_object_versioner.go APIObjectVersioner.ParseResourceVersion
 */
export function parseRevision(text: string | undefined): number {
  if (!text) return 0;
  if (!/^[0-9]+$/.test(text)) throw new RangeError(`strconv.ParseUint: parsing ${quote(text)}: invalid syntax`);
  if (BigInt(text) >= 2n ** 64n) throw new RangeError(`strconv.ParseUint: parsing ${quote(text)}: value out of range`);
  return Number(text);
}

/** As {@link parseRevision}, for a query option: the failure names it. */
export function parseRevisionOption(text: string | undefined): number {
  try {
    return parseRevision(text);
  } catch (error) {
    const why = messageOf(error);
    throw new RangeError(`resourceVersion: Invalid value: ${quote(text ?? '')}: ${why}`);
  }
}

/** How long a read waits for a revision from the future. */
const FUTURE_REVISION_TIMEOUT_MS = 3000;

interface RequestedRevision {
  readonly text: string;
  readonly signal?: AbortSignal | undefined;
  /** A read of a kind without a watch cache does not wait. */
  readonly uncached?: boolean | undefined;
}

/** Resolves when the store has reached a revision. Rejects with 504 after a timeout. */
export function untilRevision(
  context: ServerContext,
  revision: number,
  requested: RequestedRevision,
): MaybePromise<void> {
  const { store, clock } = context;
  if (store.revision >= revision) return undefined;
  const { signal, uncached } = requested;
  if (uncached) throw errors.tooLargeResourceVersion(requested.text, store.revision, 0);
  return new Promise((resolve, reject) => {
    const undos: Undo[] = [];
    const end = (settle: () => void) => {
      for (const undo of undos) undo();
      settle();
    };
    undos.push(
      clock.after(FUTURE_REVISION_TIMEOUT_MS, () => {
        end(() => reject(errors.tooLargeResourceVersion(requested.text, store.revision, 1)));
      }),
      store.onRevision(() => {
        if (store.revision >= revision) end(resolve);
      }),
    );
    undos.push(onAbort(signal, () => end(() => reject(signal?.reason))));
  });
}

/** The argument of `cluster.at`. Throws TypeError for a malformed version, RangeError for a future one, Expired for one that is no longer kept. */
export function pastRevision(store: Store, resourceVersion: unknown): number {
  if (typeof resourceVersion !== 'string' || !/^[1-9]\d*$/.test(resourceVersion)) {
    const got = typeof resourceVersion === 'string' ? JSON.stringify(resourceVersion) : typeof resourceVersion;
    throw new TypeError(`orchplane: at takes a resourceVersion such as '12', got ${got}`);
  }
  const revision = Number(resourceVersion);
  if (revision > store.revision) {
    throw new RangeError(`orchplane: at: version ${resourceVersion} is in the future, the newest is ${store.revision}`);
  }
  const oldest = store.oldestRevision();
  if (revision >= oldest) return revision;
  const why =
    store.firstRevision === oldest
      ? `this cluster starts at version ${oldest}`
      : `the oldest kept version is ${oldest}; createCluster({ storage: memoryStorage({ keepHistory: … }) }) keeps more`;
  throw errors.expired(`version ${resourceVersion} is no longer kept: ${why}`);
}
