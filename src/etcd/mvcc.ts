/**
 * The buckets of etcd's database: `key` has an entry for each change, `lease` the leases, `meta` what the server must
 * remember.
 */
import { createTypeTable } from '../codec/protobuf/notation.js';
import { decodeMessage } from '../codec/protobuf/read.js';
import { encodeMessage } from '../codec/protobuf/write.js';
import { kubernetesDialect } from '../meta/dialect.js';
import { decodeUtf8 } from '../util/bytes.js';
import { once } from '../util/once.js';
import type { BoltEntry, BoltReader } from './bolt-reader.js';

/** An etcd key with its newest value. */
export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision of the last change. */
  readonly revision: number;
  /** The lease that deletes the key when it expires; absent: none. */
  readonly lease?: number;
}

/** The content of an etcd at a revision, sorted by revision. */
export interface KeySpace {
  readonly revision: number;
  readonly entries: readonly KeyValue[];
}

const types = once(() => createTypeTable([], TYPES, kubernetesDialect));

const TYPES = `
KeyValue key:raw createRevision*:int64 modRevision*:int64 version*:int64 value:raw lease*:int64
Lease id*:int64 ttl*:int64
`;

/** A revision has eight bytes, an underscore, and eight bytes that number the changes of a transaction. */
const REVISION_BYTES = 17;
/** Follows the revision of a deletion. */
const TOMBSTONE = 't'.charCodeAt(0);
const COMPACTED = 'finishedCompactRev';

/** The latest value of each key that is not deleted. */
export function readKeySpace(bolt: BoltReader): KeySpace {
  const changes = bolt.bucket('key');
  if (changes === undefined) throw new TypeError('the database has no bucket "key": etcd did not write it');
  let revision = compactedRevision(bolt);
  const latest = new Map<string, KeyValue>();
  for (const { key: version, value: bytes } of changes) {
    revision = Math.max(revision, mainRevision(version));
    const { key, value } = decodeMessage(types().named('KeyValue'), bytes);
    const name = decodeUtf8(bytesIn(key));
    // Removed first, so that the map is in the order of revisions.
    latest.delete(name);
    if (version[REVISION_BYTES] === TOMBSTONE) continue;
    // Copied, so that the page is not kept in memory.
    latest.set(name, { key: name, value: bytesIn(value).slice(), revision: mainRevision(version) });
  }
  return { revision, entries: [...latest.values()] };
}

/** If the last changes were deletions, compaction has removed their entries. */
function compactedRevision(bolt: BoltReader): number {
  for (const { key, value } of bolt.bucket('meta') ?? []) if (decodeUtf8(key) === COMPACTED) return mainRevision(value);
  return 0;
}

function bytesIn(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function mainRevision(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0));
}

/** A lease with its time to live in seconds. */
export interface Lease {
  readonly id: number;
  readonly ttl: number;
}

/** Buckets that etcd expects, besides those with content. */
const EMPTY_BUCKETS = ['alarm', 'auth', 'authRoles', 'authUsers', 'cluster', 'members', 'members_removed'];

/**
 * The buckets of a database whose history has been compacted up to its revision. Changes with the same revision become
 * one transaction.
 */
export function keySpaceBuckets(
  { revision, entries }: KeySpace,
  leases: readonly Lease[] = [],
): ReadonlyMap<string, readonly BoltEntry[]> {
  const buckets = new Map<string, readonly BoltEntry[]>(EMPTY_BUCKETS.map((name) => [name, []]));
  buckets.set('key', changesOf(entries));
  buckets.set(
    'lease',
    leases.map(({ id, ttl }) => ({
      key: uint64(id),
      value: encodeMessage(types().named('Lease'), { id, ttl }),
    })),
  );
  const compacted = revisionBytes(revision, 0);
  // Sorted by name.
  const settings: readonly (readonly [string, Uint8Array])[] = [
    ['consistent_index', uint64(1)],
    [COMPACTED, compacted],
    ['scheduledCompactRev', compacted],
    ['term', uint64(1)],
  ];
  return buckets.set(
    'meta',
    settings.map(([name, value]) => ({ key: new TextEncoder().encode(name), value })),
  );
}

function changesOf(entries: readonly KeyValue[]): readonly BoltEntry[] {
  let [last, sub] = [0, 0];
  return [...entries]
    .sort((left, right) => left.revision - right.revision)
    .map(({ key, value, revision, lease }) => {
      sub = revision === last ? sub + 1 : 0;
      last = revision;
      const bytes = encodeMessage(types().named('KeyValue'), {
        key: new TextEncoder().encode(key),
        // When the key was created is not known.
        createRevision: revision,
        modRevision: revision,
        version: 1,
        value,
        lease,
      });
      return { key: revisionBytes(revision, sub), value: bytes };
    });
}

function revisionBytes(main: number, sub: number): Uint8Array {
  const bytes = new Uint8Array(REVISION_BYTES);
  bytes.set(uint64(main));
  bytes[8] = '_'.charCodeAt(0);
  bytes.set(uint64(sub), 9);
  return bytes;
}

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}
