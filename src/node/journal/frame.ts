/**
 * Records in a file: each in a frame by which it is known to be whole.
 *
 *   marker 4 | checksum 4 | length 4 | synced 8 | payload …
 *
 * The checksum covers everything behind it. `synced` is the position up to which the file was durable when the frame was
 * written. By that, and by what a sector looks like that never reached the disk, one can tell two things apart that must be
 * treated differently: an end that was torn off when the power went, which is normal and cut away, and damage to what had
 * been safe, which nobody should overlook.
 *
 * Worked example, three frames that were written and not made durable before the power went, of which the disk has kept
 * the third only:
 *
 *   frame 1 (synced 16)   0000000000   frame 3 (synced 16)
 *   → frame 2 is a hole, and frame 3 does not know it as durable: 2 and 3 are cut away, nobody was told of them
 *
 * If frame 3 said `synced 900`, or there were anything but zeros in the place of 2, the disk would have lost what it held.
 *
 * With no whole frame behind it, an end counts as torn off only if something of it is missing: the file ends inside the
 * frame, or a sector of it is empty. A frame of which every byte is there and whose checksum is wrong was whole once.
 *
 * A file that is closed gets marks at its end, frames that are no records. What stands before them was durable, so
 * nothing of that can pass for a torn end later.
 */
import * as zlib from 'node:zlib';

export interface Frame {
  readonly start: number;
  readonly end: number;
  readonly synced: number;
  readonly text: string;
}

/** What a file holds behind its header. */
export interface Scan {
  readonly frames: readonly Frame[];
  /** Where the whole frames end. */
  readonly end: number;
  /** What is behind them, if anything. */
  readonly rest: 'nothing' | 'torn' | 'damaged';
}

const HEAD = 20;
/** The first and the last byte never occur in UTF-8 text. */
const MARKER = Buffer.from([0xfe, 0x4a, 0x52, 0xff]);
const MARKER_NUMBER = MARKER.readUInt32LE();
/** The least that disks write or do not write. */
const SECTOR = 512;

/** Makes frames in a buffer of its own: each is good until the next. */
export class FrameWriter {
  #buffer = Buffer.allocUnsafe(64 * 1024);

  frame(text: string, synced: number): Buffer {
    // A character of JavaScript is at most three bytes.
    const most = HEAD + text.length * 3;
    if (most > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(most * 2);
    const buffer = this.#buffer;
    const length = buffer.write(text, HEAD, 'utf8');
    buffer.writeUInt32LE(MARKER_NUMBER, 0);
    buffer.writeUInt32LE(length, 8);
    buffer.writeDoubleLE(synced, 12);
    const whole = buffer.subarray(0, HEAD + length);
    buffer.writeUInt32LE(checksum(whole.subarray(8)), 4);
    return whole;
  }
}

/** Reads frames from a position to the end, or to the first that is not whole. */
export function scanFrames(bytes: Buffer, from: number): Scan {
  const frames: Frame[] = [];
  let end = from;
  for (let frame = readFrame(bytes, end); frame !== undefined; frame = readFrame(bytes, end)) {
    frames.push(frame);
    end = frame.end;
  }
  return { frames, end, rest: end === bytes.length ? 'nothing' : judgeRest(bytes, end) };
}

/** The first whole frame at or behind a position. */
export function findFrame(bytes: Buffer, from: number): Frame | undefined {
  for (let at = bytes.indexOf(MARKER, from); at !== -1; at = bytes.indexOf(MARKER, at + 1)) {
    const frame = readFrame(bytes, at);
    if (frame !== undefined) return frame;
  }
  return undefined;
}

function readFrame(bytes: Buffer, start: number): Frame | undefined {
  if (start + HEAD > bytes.length || bytes.readUInt32LE(start) !== MARKER_NUMBER) return undefined;
  const end = start + HEAD + bytes.readUInt32LE(start + 8);
  if (end > bytes.length) return undefined;
  if (checksum(bytes.subarray(start + 8, end)) !== bytes.readUInt32LE(start + 4)) return undefined;
  return { start, end, synced: bytes.readDoubleLE(start + 12), text: bytes.toString('utf8', start + HEAD, end) };
}

/** What is wrong at a position where a frame should begin. */
function judgeRest(bytes: Buffer, at: number): 'torn' | 'damaged' {
  const next = findFrame(bytes, at + 1);
  if (next === undefined) return isUnfinished(bytes, at) ? 'torn' : 'damaged';
  for (let frame: Frame | undefined = next; frame !== undefined; frame = findFrame(bytes, frame.end)) {
    if (frame.synced > at) return 'damaged';
  }
  return hasEmptySector(bytes, at, next.start) ? 'torn' : 'damaged';
}

/** Whether something of the last frame, the one at this position, is missing. */
function isUnfinished(bytes: Buffer, at: number): boolean {
  const there = bytes.length - at;
  const isMarked = bytes.subarray(at, at + MARKER.length).equals(MARKER.subarray(0, there));
  if (there < HEAD) return isMarked || hasEmptySector(bytes, at, bytes.length);
  const end = at + HEAD + (isMarked ? bytes.readUInt32LE(at + 8) : 0);
  if (hasEmptySector(bytes, at, Math.min(end, bytes.length))) return true;
  return isMarked && end > bytes.length && !isWholeButForItsLength(bytes, at);
}

/** A frame that would end with the file if its length were right: nothing is missing, the length was changed. */
function isWholeButForItsLength(bytes: Buffer, at: number): boolean {
  const covered = Buffer.from(bytes.subarray(at + 8));
  covered.writeUInt32LE(bytes.length - at - HEAD, 0);
  return checksum(covered) === bytes.readUInt32LE(at + 4);
}

/** Whether a sector between two positions, or the part of it that is between them, was never written. */
function hasEmptySector(bytes: Buffer, from: number, to: number): boolean {
  for (let start = from; start < to; ) {
    const end = Math.min(to, (Math.floor(start / SECTOR) + 1) * SECTOR);
    if (bytes.subarray(start, end).every((byte) => byte === 0)) return true;
    start = end;
  }
  return false;
}

/** The platform's own, where it has one (Node 20.15): it is an order of magnitude faster. */
const checksum: (bytes: Uint8Array) => number = zlib.crc32 ?? crc32;

let table: Uint32Array | undefined;

export function crc32(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}
