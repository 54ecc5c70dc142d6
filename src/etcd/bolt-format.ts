/**
 * The file format of bbolt, the database of etcd: numbered pages of equal size with a B+ tree for each bucket. Numbers are
 * little-endian.
 */

export const MAGIC = 0xed0c_daed;
export const FORMAT_VERSION = 2;

/** Before the elements of a page: its number, flags, the number of elements, the number of further pages. */
export const PAGE_HEADER = 16;
export const BRANCH_PAGE = 0x01;
export const LEAF_PAGE = 0x02;
export const META_PAGE = 0x04;
export const FREELIST_PAGE = 0x10;

/** The size of an element: of a leaf (flags, position, sizes of key and value), of a branch (position, size, page). */
export const ELEMENT = 16;
/** The flag of a leaf element whose value is a bucket. */
export const BUCKET_ELEMENT = 1;

/** The value of a bucket: its root page, a sequence number. The root page 0 is inline: it follows. */
export const BUCKET_HEADER = 16;

/** A meta page without its header; the checksum is the last number. */
export const META_SIZE = 64;
export const CHECKSUM_OFFSET = 56;

const FNV_OFFSET = 0xcbf2_9ce4_8422_2325n;
const FNV_PRIME = 0x100_0000_01b3n;

/** The checksum of a meta page: FNV-1a with 64 bits. */
export function checksum(bytes: Uint8Array): bigint {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  return hash;
}
