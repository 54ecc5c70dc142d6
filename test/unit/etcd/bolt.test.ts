/** The reader and the writer of bbolt databases. */
import { describe, expect, test } from 'vitest';
import { BoltError, BoltReader } from '../../../src/etcd/bolt-reader.js';
import { writeBolt } from '../../../src/etcd/bolt-writer.js';
import { readKeySpace } from '../../../src/etcd/mvcc.js';
import { expectedContent, snapshotBytes } from './fixture.js';

const PAGE = 4096;

const readerOf = (bytes: Uint8Array): BoltReader =>
  new BoltReader({ size: bytes.length, read: (at, length) => bytes.slice(at, at + length) });

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const entry = (key: string, value: string) => ({
  key: new TextEncoder().encode(key),
  value: new TextEncoder().encode(value),
});
const contentOf = (bolt: BoltReader, bucket: string) =>
  Array.from(bolt.bucket(bucket) ?? [], ({ key, value }) => [text(key), text(value)]);

describe('a database that etcd wrote', () => {
  test('has the latest revision of every key that is not deleted', () => {
    const { revision, entries } = readKeySpace(readerOf(snapshotBytes()));
    const expected = expectedContent();
    expect(revision).toBe(expected.revision);
    const registered = entries.filter(({ key }) => key.startsWith('/registry/'));
    const revisions = Object.fromEntries(registered.map(({ key, revision: last }) => [key, last]));
    expect(revisions).toEqual(expected.keys);
  });

  test('has values on several pages, and no deleted keys', () => {
    const { entries } = readKeySpace(readerOf(snapshotBytes()));
    const others = new Map(entries.map(({ key, value }) => [key, text(value)]));
    expect(others.get('/other/big')).toBe('x'.repeat(20_000));
    expect(others.get('/other/k119')).toBe('value 119');
    expect(others.has('/other/k000')).toBe(false);
    expect(others.has('/registry/configmaps/etcdns/deleted')).toBe(false);
  });

  test('is read with either of its meta pages', () => {
    const content = readKeySpace(readerOf(snapshotBytes()));
    const newest = [0, 1].map((page) => snapshotBytes().readBigUInt64LE(page * PAGE + 16 + 48));
    const older = Number(newest[0]) < Number(newest[1]) ? 0 : 1;
    const damaged = snapshotBytes();
    damaged.fill(0xff, older * PAGE + 16, older * PAGE + 40);
    expect(readKeySpace(readerOf(damaged))).toEqual(content);
    damaged.fill(0xff, (1 - older) * PAGE + 16, (1 - older) * PAGE + 40);
    expect(() => readerOf(damaged)).toThrow(BoltError);
  });
});

describe('a written database', () => {
  test('contains its buckets: empty, small, and with branches and large values', () => {
    const many = Array.from({ length: 5_000 }, (_, index) =>
      entry(`key-${String(index).padStart(5, '0')}`, `v${index}`),
    );
    const large = [entry('a', 'x'.repeat(3 * PAGE)), entry('b', ''), entry('c', 'y'.repeat(PAGE))];
    const parts = writeBolt(
      new Map([
        ['none', []],
        ['many', many],
        ['large', large],
      ]),
    );
    const bolt = readerOf(Buffer.concat(parts));
    expect(contentOf(bolt, 'none')).toEqual([]);
    expect(contentOf(bolt, 'many')).toEqual(many.map(({ key, value }) => [text(key), text(value)]));
    expect(contentOf(bolt, 'large')).toEqual(large.map(({ key, value }) => [text(key), text(value)]));
    expect(bolt.bucket('absent')).toBeUndefined();
  });

  test('is a whole number of pages', () => {
    const parts = writeBolt(new Map([['a', [entry('k', 'x'.repeat(PAGE))]]]));
    expect(Buffer.concat(parts).length % PAGE).toBe(0);
  });
});

describe('a damaged database', () => {
  const whole = (): Buffer => Buffer.concat(writeBolt(new Map([['a', [entry('k', 'x'.repeat(2 * PAGE))]]])));

  test.each([
    ['has no valid meta page', (bytes: Buffer) => bytes.fill(0, 0, 2 * PAGE), 'no bbolt database'],
    ['ends within a page', (bytes: Buffer) => bytes.subarray(0, 4 * PAGE), 'the file ends within page 6'],
    ['has a page with another number', (bytes: Buffer) => bytes.fill(9, 3 * PAGE, 3 * PAGE + 1), 'another number'],
    ['has a page of another type', (bytes: Buffer) => bytes.fill(0x10, 3 * PAGE + 8, 3 * PAGE + 9), 'the type 16'],
    ['has too many elements', (bytes: Buffer) => bytes.fill(0xff, 3 * PAGE + 10, 3 * PAGE + 12), 'more elements than'],
    ['has a page of many gigabytes', (bytes: Buffer) => bytes.fill(0xff, 3 * PAGE + 12, 3 * PAGE + 15), 'ends within'],
    ['has an element outside', (bytes: Buffer) => bytes.fill(0x7f, 3 * PAGE + 28, 3 * PAGE + 32), 'beyond its page'],
  ])('is refused if it %s', (_what, damage, message) => {
    const bytes = damage(whole());
    expect(() => contentOf(readerOf(bytes), 'a')).toThrow(message);
  });

  test('is refused if the elements of a page share their content, which would be copied for each', () => {
    const bytes = Buffer.concat(writeBolt(new Map([['a', [entry('a', 'x'), entry('b', 'y')]]])));
    // The leaf page of the bucket: its second element has the content of the first.
    const leaf = Array.from({ length: bytes.length / PAGE }, (_, page) => page * PAGE).findLast(
      (at) => bytes.readUInt16LE(at + 8) === 2 && bytes.readUInt16LE(at + 10) === 2,
    );
    const second = (leaf ?? 0) + 32;
    bytes.writeUInt32LE(bytes.readUInt32LE(second + 4) - 2, second + 4);
    expect(() => contentOf(readerOf(bytes), 'a')).toThrow('the elements of a page overlap');
  });

  test('is refused if a page reaches into another one', () => {
    const many = Array.from({ length: 500 }, (_, index) => entry(`key-${index + 1000}`, 'v'.repeat(40)));
    const bytes = Buffer.concat(writeBolt(new Map([['a', many]])));
    const root = bytes.length / PAGE - 2;
    const first = Number(bytes.readBigUInt64LE(root * PAGE + 16 + 8));
    bytes.writeUInt32LE(1, first * PAGE + 12);
    expect(() => contentOf(readerOf(bytes), 'a')).toThrow(/page \d+ is in the tree twice/);
  });

  // Without a limit, a hundred pages that refer to their successor twice are read 2^100 times.
  test.each([
    ['form a cycle', false],
    ['are referred to twice', true],
  ])('is refused if its pages %s', (_what, isShared) => {
    const many = Array.from({ length: 500 }, (_, index) => entry(`key-${index + 1000}`, 'v'.repeat(40)));
    const bytes = Buffer.concat(writeBolt(new Map([['a', many]])));
    // The root of the bucket is the page before the root of the database.
    const root = bytes.length / PAGE - 2;
    const target = isShared ? bytes.readBigUInt64LE(root * PAGE + 32 + 8) : BigInt(root);
    bytes.writeBigUInt64LE(target, root * PAGE + 16 + 8);
    expect(() => contentOf(readerOf(bytes), 'a')).toThrow(`page ${target} is in the tree twice`);
  });
});
