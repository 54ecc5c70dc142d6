/**
 * Frames: the format of records in journal files.
 *
 *   marker 4 | checksum 4 | length 4 | synced 8 | payload …
 *
 * The checksum covers everything after it. `synced` is the length of the durable part of the file when the frame was
 * written. Together with the zero bytes of sectors that never reached the disk, it distinguishes two cases: an end that
 * was torn off by a power loss, which is normal and discarded, and damage to durable data, which must be reported.
 *
 * Worked example: three frames were written but not synced before a power loss, and only the third reached the disk:
 *
 *   frame 1 (synced 16)   0000000000   frame 3 (synced 16)
 *   → frame 2 is a hole that frame 3 does not know as durable: 2 and 3 were never acknowledged and are discarded
 *
 * If frame 3 had `synced 900`, or frame 2 contained anything but zeros, durable data would have been lost.
 *
 * If no intact frame follows, an end counts as torn only if part of it is missing: the file ends inside the frame, or a
 * sector of it is empty. A complete frame with a wrong checksum is damaged.
 *
 * A closed file ends with marks, which are frames but not records. Everything before them was durable, so damage to it
 * can never look like a torn end.
 */
import * as zlib from 'node:zlib';

/** An intact frame and its position. */
export interface Frame {
  readonly start: number;
  readonly end: number;
  readonly synced: number;
  readonly text: string;
}

/** The frames of a file after its header. */
export interface FrameScan {
  readonly frames: readonly Frame[];
  /** The end of the last intact frame. */
  readonly end: number;
  /** What follows the intact frames. */
  readonly rest: 'nothing' | 'torn' | 'damaged';
}

const HEAD_BYTES = 20;
/** The first and last byte never occur in UTF-8 text. */
const MARKER = Buffer.from([0xfe, 0x4a, 0x52, 0xff]);
const MARKER_NUMBER = MARKER.readUInt32LE();
/** The smallest unit that a disk writes. */
const SECTOR_BYTES = 512;

/** Encodes frames in a reused buffer: a frame is valid until the next call. */
export class FrameWriter {
  #buffer = Buffer.allocUnsafe(64 * 1024);

  frame(text: string, synced: number): Buffer {
    // A UTF-16 code unit takes at most three bytes in UTF-8.
    const most = HEAD_BYTES + text.length * 3;
    if (most > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(most * 2);
    const buffer = this.#buffer;
    const length = buffer.write(text, HEAD_BYTES, 'utf8');
    buffer.writeUInt32LE(MARKER_NUMBER, 0);
    buffer.writeUInt32LE(length, 8);
    buffer.writeDoubleLE(synced, 12);
    const whole = buffer.subarray(0, HEAD_BYTES + length);
    buffer.writeUInt32LE(checksum(whole.subarray(8)), 4);
    return whole;
  }
}

/** Reads frames from a position to the end or to the first damaged one. */
export function scanFrames(bytes: Buffer, from: number): FrameScan {
  const frames: Frame[] = [];
  let end = from;
  for (let frame = readFrame(bytes, end); frame !== undefined; frame = readFrame(bytes, end)) {
    frames.push(frame);
    end = frame.end;
  }
  return { frames, end, rest: end === bytes.length ? 'nothing' : classifyRest(bytes, end) };
}

/** The first intact frame at or after a position. */
export function findFrame(bytes: Buffer, from: number): Frame | undefined {
  for (let at = bytes.indexOf(MARKER, from); at !== -1; at = bytes.indexOf(MARKER, at + 1)) {
    const frame = readFrame(bytes, at);
    if (frame !== undefined) return frame;
  }
  return undefined;
}

function readFrame(bytes: Buffer, start: number): Frame | undefined {
  if (start + HEAD_BYTES > bytes.length || bytes.readUInt32LE(start) !== MARKER_NUMBER) return undefined;
  const end = start + HEAD_BYTES + bytes.readUInt32LE(start + 8);
  if (end > bytes.length) return undefined;
  if (checksum(bytes.subarray(start + 8, end)) !== bytes.readUInt32LE(start + 4)) return undefined;
  return { start, end, synced: bytes.readDoubleLE(start + 12), text: bytes.toString('utf8', start + HEAD_BYTES, end) };
}

/** Classifies the bytes at a position where a frame should begin. */
function classifyRest(bytes: Buffer, at: number): 'torn' | 'damaged' {
  const next = findFrame(bytes, at + 1);
  if (next === undefined) return isTorn(bytes, at) ? 'torn' : 'damaged';
  for (let frame: Frame | undefined = next; frame !== undefined; frame = findFrame(bytes, frame.end)) {
    if (frame.synced > at) return 'damaged';
  }
  return hasEmptySector(bytes, at, next.start) ? 'torn' : 'damaged';
}

/** Whether part of the last frame is missing. */
function isTorn(bytes: Buffer, at: number): boolean {
  const there = bytes.length - at;
  const isMarked = bytes.subarray(at, at + MARKER.length).equals(MARKER.subarray(0, there));
  if (there < HEAD_BYTES) return isMarked || hasEmptySector(bytes, at, bytes.length);
  const end = at + HEAD_BYTES + (isMarked ? bytes.readUInt32LE(at + 8) : 0);
  if (hasEmptySector(bytes, at, Math.min(end, bytes.length))) return true;
  return isMarked && end > bytes.length && !hasOnlyWrongLength(bytes, at);
}

/** Whether the frame is complete except for its length field, which was changed. */
function hasOnlyWrongLength(bytes: Buffer, at: number): boolean {
  const covered = Buffer.from(bytes.subarray(at + 8));
  covered.writeUInt32LE(bytes.length - at - HEAD_BYTES, 0);
  return checksum(covered) === bytes.readUInt32LE(at + 4);
}

/** Whether a sector, or the part of one, between two positions was never written. */
function hasEmptySector(bytes: Buffer, from: number, to: number): boolean {
  for (let start = from; start < to; ) {
    const end = Math.min(to, (Math.floor(start / SECTOR_BYTES) + 1) * SECTOR_BYTES);
    if (bytes.subarray(start, end).every((byte) => byte === 0)) return true;
    start = end;
  }
  return false;
}

/** Node's own CRC-32 (since 20.15) is an order of magnitude faster. */
const checksum: (bytes: Uint8Array) => number = zlib.crc32 ?? crc32;

let table: Uint32Array | undefined;

/** A portable CRC-32, for Node releases without one. */
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
