/**
 * Opens what `etcdctl snapshot save` wrote: the database of an etcd member, followed by its SHA-256 hash.
 */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { featureGates } from '../kinds/feature-gates.js';
import type { HookContext } from '../kinds/kind.js';
import { type DialectName, dialectNamed } from '../meta/dialect.js';
import type { ApiObject } from '../meta/object.js';
import type { ClusterState } from '../storage/state.js';
import { formatTime } from '../text/time/time.js';
import { systemClock } from '../util/clock.js';
import { messageOf } from '../util/message-of.js';
import { refuseUnknownOptions } from '../util/options.js';
import { BoltReader, type PageSource } from './bolt-reader.js';
import { builtInKindsIn } from './built-in-kinds.js';
import { DEFAULT_PREFIX, type EtcdLayout, etcdLayout } from './layout.js';
import { type KeySpace, type KeyValue, readKeySpace } from './mvcc.js';
import { decodeCustomValue, decodeStored, EncryptedValueError } from './values.js';

/** What a snapshot may contain that cannot be served. */
export type Skippable = 'unserved' | 'encrypted';

export interface EtcdSnapshotOptions {
  /** The flag `--etcd-prefix` of the kube-apiserver. Default: `/registry`. */
  readonly prefix?: string | undefined;
  /** The names in the snapshot. Default: `kubernetes`. */
  readonly dialect?: DialectName | undefined;
  /**
   * `unserved` skips objects of kinds that the cluster does not serve, `encrypted` those that the server encrypted. By
   * default both are errors.
   */
  readonly skip?: readonly Skippable[] | undefined;
  /** Opens a file without a hash, such as `member/snap/db` of a stopped member. Default: false. */
  readonly skipHashCheck?: boolean | undefined;
}

/** The objects of a snapshot, for the option `from` of `createCluster`. */
export interface EtcdSnapshot extends ClusterState {
  /** The keys of skipped objects, except those of kinds that the new cluster does not serve. */
  readonly skipped: readonly string[];
}

/**
 * Reads the current objects of an etcd snapshot: the newest revision of every key that is not deleted. Rejects with an
 * Error for a file that is damaged or not a snapshot, and for objects that cannot be read.
 *
 * @example
 * const cluster = createCluster({ dialect: 'kubernetes', from: await openEtcdSnapshot('backup.db') });
 */
export async function openEtcdSnapshot(file: string, options: EtcdSnapshotOptions = {}): Promise<EtcdSnapshot> {
  refuseUnknownOptions('openEtcdSnapshot', options, ['prefix', 'dialect', 'skip', 'skipHashCheck']);
  try {
    const size = await databaseSize(file, options.skipHashCheck === true);
    return objectsIn(readDatabase(file, size), options);
  } catch (error) {
    throw new Error(`orchplane: the etcd snapshot ${file} cannot be opened: ${messageOf(error)}`, { cause: error });
  }
}

const HASH_BYTES = 32;
/** The size of a database is a multiple of this, so that a file with a hash is recognizable. */
const BLOCK = 512;

/** Checks the hash at the end of the file and returns the size of the database before it. */
async function databaseSize(file: string, skipHashCheck: boolean): Promise<number> {
  const source = openFile(file);
  const { size } = source;
  const expected = size % BLOCK === HASH_BYTES ? source.read(size - HASH_BYTES, HASH_BYTES) : undefined;
  source[Symbol.dispose]();
  if (skipHashCheck) return expected === undefined ? size : size - HASH_BYTES;
  if (expected === undefined) {
    throw new TypeError(
      'it does not end with a hash, so "etcdctl snapshot save" did not write it, or it is incomplete',
    );
  }
  const hash = createHash('sha256');
  const database = createReadStream(file, { end: size - HASH_BYTES - 1 });
  for await (const chunk of database) hash.update(chunk as Uint8Array);
  if (!hash.digest().equals(expected)) throw new TypeError('its content does not match its hash: the file is damaged');
  return size - HASH_BYTES;
}

function readDatabase(file: string, size: number): KeySpace {
  using source = openFile(file);
  return readKeySpace(new BoltReader({ size, read: source.read }));
}

function openFile(file: string): PageSource & Disposable {
  const descriptor = openSync(file, 'r');
  return {
    size: fstatSync(descriptor).size,
    read(offset, length) {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
    },
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

function objectsIn({ revision, entries }: KeySpace, options: EtcdSnapshotOptions): EtcdSnapshot {
  const dialect = dialectNamed(options.dialect ?? 'kubernetes');
  const layout = etcdLayout(options.prefix ?? DEFAULT_PREFIX, dialect);
  const context = { dialect, features: featureGates(), now: formatTime(systemClock.now()) };
  const skip = new Set(options.skip);
  const objects: ApiObject[] = [];
  const skipped: string[] = [];
  const unknown: string[] = [];
  for (const entry of entries) {
    const { key } = entry;
    const parsed = layout.parse(key);
    if (parsed.type === 'unknown' && key.startsWith(layout.prefix)) unknown.push(key);
    if (parsed.type !== 'object') continue;
    const object = decodeEntry(entry, parsed.storageKey, context, skip.has('encrypted'));
    if (object === undefined) skipped.push(key);
    else objects.push(object);
  }
  if (objects.length === 0) throw noObjects(entries, layout);
  if (unknown.length > 0 && !skip.has('unserved')) throw new TypeError(unknownKeys(unknown));
  const skipsUnserved = skip.has('unserved');
  return { resourceVersion: String(revision), objects, skipsUnserved, skipped: [...skipped, ...unknown] };
}

/** Undefined for an encrypted value that is skipped. */
function decodeEntry(
  { key, value, revision }: KeyValue,
  storageKey: string,
  context: HookContext,
  skipsEncrypted: boolean,
): ApiObject | undefined {
  const served = builtInKindsIn(context.dialect).storageKinds.get(storageKey);
  try {
    if (served === undefined) return decodeCustomValue(value, revision, context.dialect);
    return decodeStored(value, { served, revision, context });
  } catch (error) {
    if (skipsEncrypted && error instanceof EncryptedValueError) return undefined;
    throw new TypeError(`${key}: ${messageOf(error)}`, { cause: error });
  }
}

const NAMED_AT_MOST = 5;

function unknownKeys(keys: readonly string[]): string {
  const more = keys.length > NAMED_AT_MOST ? ` and ${keys.length - NAMED_AT_MOST} more` : '';
  const named = keys.slice(0, NAMED_AT_MOST).join(', ');
  return `these keys are of no known kind: ${named}${more}; the option skip with "unserved" leaves them out`;
}

function noObjects(entries: readonly KeyValue[], { prefix }: EtcdLayout): TypeError {
  const [first] = entries;
  const instead = first === undefined ? 'it has no keys' : `one of its keys is ${first.key}`;
  return new TypeError(`it has no objects under ${prefix}: ${instead}`);
}
