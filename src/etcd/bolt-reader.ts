/**
 * Reads a bbolt database. Pages are read one by one, so that a database may be larger than memory.
 */
import { decodeUtf8 } from '../util/bytes.js';
import {
  BRANCH_PAGE,
  BUCKET_ELEMENT,
  BUCKET_HEADER,
  CHECKSUM_OFFSET,
  checksum,
  ELEMENT,
  FORMAT_VERSION,
  LEAF_PAGE,
  MAGIC,
  META_SIZE,
  PAGE_HEADER,
} from './bolt-format.js';

/** The database is damaged, or not a database. */
export class BoltError extends Error {
  override readonly name = 'BoltError';
}

/** Random access to a file. */
export interface PageSource {
  readonly size: number;
  /** Returns new bytes, fewer than requested at the end of the file. */
  read(offset: number, length: number): Uint8Array;
}

/** An entry of a bucket. The bytes are part of a page: copy what you keep. */
export interface BoltEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** No database is deeper: a page has at least two elements. */
const MAX_DEPTH = 64;

export class BoltReader {
  readonly #source: PageSource;
  readonly #meta: Meta;

  /** Throws {@link BoltError} if neither meta page is valid. */
  constructor(source: PageSource) {
    this.#source = source;
    this.#meta = readMeta(source);
  }

  /** The entries of a bucket in the order of their keys; undefined if there is no such bucket. */
  bucket(name: string): Iterable<BoltEntry> | undefined {
    for (const { key, value, isBucket } of this.#elements(this.#meta.root)) {
      if (!isBucket || decodeUtf8(key) !== name) continue;
      if (value.length < BUCKET_HEADER) throw new BoltError(`the bucket ${name} is damaged`);
      const root = toNumber(viewOf(value).getBigUint64(0, true));
      return root === 0 ? leafElements(value.subarray(BUCKET_HEADER)) : this.#elements(root);
    }
    return undefined;
  }

  /** A page belongs to a tree once: pages that several others refer to could take time without end. */
  *#elements(number: number, seen = new Set<number>(), depth = 0): Generator<LeafElement> {
    if (depth > MAX_DEPTH) throw new BoltError('the tree of pages is too deep');
    const page = this.#page(number);
    for (let part = number; part < number + page.length / this.#meta.pageSize; part++) {
      if (seen.has(part)) throw new BoltError(`page ${part} is in the tree twice`);
      seen.add(part);
    }
    const flags = viewOf(page).getUint16(8, true);
    if (flags === LEAF_PAGE) yield* leafElements(page);
    else if (flags === BRANCH_PAGE) for (const child of childPages(page)) yield* this.#elements(child, seen, depth + 1);
    else throw new BoltError(`page ${number} has the type ${flags}, which belongs to no tree`);
  }

  #page(number: number): Uint8Array {
    const { pageSize, pageCount } = this.#meta;
    if (number < 2 || number >= pageCount) throw new BoltError(`page ${number} is outside of the database`);
    const first = this.#read(number, pageSize);
    const head = viewOf(first);
    if (toNumber(head.getBigUint64(0, true)) !== number) throw new BoltError(`page ${number} has another number`);
    const length = (1 + head.getUint32(12, true)) * pageSize;
    return length === pageSize ? first : this.#read(number, length);
  }

  #read(number: number, length: number): Uint8Array {
    const offset = number * this.#meta.pageSize;
    // Before memory is used for it.
    const bytes = offset + length > this.#source.size ? undefined : this.#source.read(offset, length);
    if (bytes?.length !== length) throw new BoltError(`the file ends within page ${number}`);
    return bytes;
  }
}

interface Meta {
  readonly pageSize: number;
  readonly root: number;
  /** One more than the highest page. */
  readonly pageCount: number;
  readonly transaction: bigint;
}

const PAGE_SIZES = Array.from({ length: 15 }, (_, power) => 1024 << power);

/** The newer of the two meta pages. A crash while it is written leaves the other one. */
function readMeta(source: PageSource): Meta {
  const first = metaAt(source, 0);
  const sizes = first === undefined ? PAGE_SIZES : [first.pageSize];
  const second = sizes.map((size) => metaAt(source, size)).find((meta) => meta !== undefined);
  const newest = (second?.transaction ?? -1n) > (first?.transaction ?? -1n) ? second : first;
  if (newest === undefined) throw new BoltError('this is no bbolt database, or both of its meta pages are damaged');
  return newest;
}

function metaAt(source: PageSource, offset: number): Meta | undefined {
  const bytes = source.read(offset + PAGE_HEADER, META_SIZE);
  if (bytes.length < META_SIZE) return undefined;
  const meta = viewOf(bytes);
  if (meta.getUint32(0, true) !== MAGIC || meta.getUint32(4, true) !== FORMAT_VERSION) return undefined;
  if (meta.getBigUint64(CHECKSUM_OFFSET, true) !== checksum(bytes.subarray(0, CHECKSUM_OFFSET))) return undefined;
  const pageSize = meta.getUint32(8, true);
  if (!PAGE_SIZES.includes(pageSize)) return undefined;
  return {
    pageSize,
    root: toNumber(meta.getBigUint64(16, true)),
    pageCount: toNumber(meta.getBigUint64(40, true)),
    transaction: meta.getBigUint64(48, true),
  };
}

interface LeafElement extends BoltEntry {
  readonly isBucket: boolean;
}

/** The content of elements follows their table in the same order. Overlapping content could be larger than the page, many times. */
function* leafElements(page: Uint8Array): Generator<LeafElement> {
  const view = viewOf(page);
  const offsets = [...elementOffsets(page)];
  let free = PAGE_HEADER + offsets.length * ELEMENT;
  for (const at of offsets) {
    const key = at + view.getUint32(at + 4, true);
    const value = key + view.getUint32(at + 8, true);
    const end = value + view.getUint32(at + 12, true);
    if (end > page.length) throw new BoltError('an element reaches beyond its page');
    if (key < free) throw new BoltError('the elements of a page overlap');
    free = end;
    const isBucket = view.getUint32(at, true) === BUCKET_ELEMENT;
    yield { key: page.subarray(key, value), value: page.subarray(value, end), isBucket };
  }
}

function* childPages(page: Uint8Array): Generator<number> {
  const view = viewOf(page);
  for (const at of elementOffsets(page)) yield toNumber(view.getBigUint64(at + 8, true));
}

function* elementOffsets(page: Uint8Array): Generator<number> {
  const count = page.length < PAGE_HEADER ? 0 : viewOf(page).getUint16(10, true);
  if (PAGE_HEADER + count * ELEMENT > page.length) throw new BoltError('a page has more elements than fit in it');
  for (let index = 0; index < count; index++) yield PAGE_HEADER + index * ELEMENT;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function toNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new BoltError(`the page number ${value} is impossible`);
  return Number(value);
}
