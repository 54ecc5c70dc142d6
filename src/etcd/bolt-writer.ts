/**
 * Writes a bbolt database in one go: the pages of each bucket from left to right, then the branches above them.
 */
import {
  BRANCH_PAGE,
  BUCKET_ELEMENT,
  BUCKET_HEADER,
  CHECKSUM_OFFSET,
  checksum,
  ELEMENT,
  FORMAT_VERSION,
  FREELIST_PAGE,
  LEAF_PAGE,
  MAGIC,
  META_PAGE,
  META_SIZE,
  PAGE_HEADER,
} from './bolt-format.js';
import type { BoltEntry } from './bolt-reader.js';

const PAGE_SIZE = 4096;
/** bbolt counts elements with 16 bits, and leaves this many unused. */
const MAX_ELEMENTS = 0xffff - 16;
const FREELIST = 2;
const FIRST_FREE = 3;

/** A page element: a value, or the number of a page below. */
interface Element {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly isBucket?: boolean;
  readonly page?: number;
}

/** The bytes of a database with these buckets. The entries of a bucket are sorted by key. */
export function writeBolt(buckets: ReadonlyMap<string, Iterable<BoltEntry>>): Uint8Array[] {
  const pages = new PageList();
  const roots: Element[] = [];
  for (const name of [...buckets.keys()].sort()) {
    const root = pages.addTree(buckets.get(name) ?? []);
    roots.push({ key: new TextEncoder().encode(name), value: bucketHeader(root), isBucket: true });
  }
  const root = pages.addTree(roots);
  const freelist = pageBytes(FREELIST, FREELIST_PAGE, 0, PAGE_SIZE);
  return [metaPage(0, root, pages.count), metaPage(1, root, pages.count), freelist, ...pages.bytes];
}

class PageList {
  readonly bytes: Uint8Array[] = [];
  /** One more than the highest page. */
  count = FIRST_FREE;

  /** Adds the pages of a tree and returns the number of its root. */
  addTree(entries: Iterable<Element>): number {
    let level = this.#addLevel(entries, LEAF_PAGE);
    while (level.length > 1) level = this.#addLevel(level, BRANCH_PAGE);
    return level[0]?.page ?? 0;
  }

  /** Fills pages with elements, and returns the elements of the level above. An empty level is one empty page. */
  #addLevel(elements: Iterable<Element>, flags: number): readonly Element[] {
    const above: Element[] = [];
    let open: Element[] = [];
    let size = PAGE_HEADER;
    const close = (): void => {
      above.push({ key: open[0]?.key ?? NO_BYTES, value: NO_BYTES, page: this.#addPage(open, flags, size) });
      open = [];
      size = PAGE_HEADER;
    };
    for (const element of elements) {
      const added = ELEMENT + element.key.length + element.value.length;
      // A branch has at least two elements, so that each level is smaller than the one below.
      const isFull = size + added > PAGE_SIZE && open.length >= (flags === BRANCH_PAGE ? 2 : 1);
      if (isFull || open.length === MAX_ELEMENTS) close();
      open.push(element);
      size += added;
    }
    if (open.length > 0 || above.length === 0) close();
    return above;
  }

  #addPage(elements: readonly Element[], flags: number, size: number): number {
    const number = this.count;
    const page = pageBytes(number, flags, elements.length, size);
    const view = new DataView(page.buffer);
    let end = PAGE_HEADER + elements.length * ELEMENT;
    for (const [index, { key, value, isBucket = false, page: below }] of elements.entries()) {
      const at = PAGE_HEADER + index * ELEMENT;
      if (below === undefined) {
        view.setUint32(at, isBucket ? BUCKET_ELEMENT : 0, true);
        view.setUint32(at + 4, end - at, true);
        view.setUint32(at + 8, key.length, true);
        view.setUint32(at + 12, value.length, true);
      } else {
        view.setUint32(at, end - at, true);
        view.setUint32(at + 4, key.length, true);
        view.setBigUint64(at + 8, BigInt(below), true);
      }
      page.set(key, end);
      page.set(value, end + key.length);
      end += key.length + value.length;
    }
    this.bytes.push(page);
    this.count += page.length / PAGE_SIZE;
    return number;
  }
}

const NO_BYTES = new Uint8Array();

/** A page, or several for one that is larger, with its header. */
function pageBytes(number: number, flags: number, count: number, size: number): Uint8Array<ArrayBuffer> {
  const pages = Math.ceil(size / PAGE_SIZE);
  const page = new Uint8Array(pages * PAGE_SIZE);
  const view = new DataView(page.buffer);
  view.setBigUint64(0, BigInt(number), true);
  view.setUint16(8, flags, true);
  view.setUint16(10, count, true);
  view.setUint32(12, pages - 1, true);
  return page;
}

function metaPage(number: number, root: number, count: number): Uint8Array {
  const page = pageBytes(number, META_PAGE, 0, PAGE_SIZE);
  const meta = new DataView(page.buffer, PAGE_HEADER, META_SIZE);
  meta.setUint32(0, MAGIC, true);
  meta.setUint32(4, FORMAT_VERSION, true);
  meta.setUint32(8, PAGE_SIZE, true);
  meta.setBigUint64(16, BigInt(root), true);
  meta.setBigUint64(32, BigInt(FREELIST), true);
  meta.setBigUint64(40, BigInt(count), true);
  // The transaction; the second page is that of the newer one.
  meta.setBigUint64(48, BigInt(number), true);
  const covered = page.subarray(PAGE_HEADER, PAGE_HEADER + CHECKSUM_OFFSET);
  meta.setBigUint64(CHECKSUM_OFFSET, checksum(covered), true);
  return page;
}

function bucketHeader(root: number): Uint8Array {
  const header = new Uint8Array(BUCKET_HEADER);
  new DataView(header.buffer).setBigUint64(0, BigInt(root), true);
  return header;
}
