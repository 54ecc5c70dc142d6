/**
 * Synchronous SHA-256 for names and hashes, not for secrets. The platform's digest is asynchronous and missing in insecure
 * contexts.
 */

import { toHex } from './bytes.js';

const WORD_BITS = 32;
const BLOCK_BYTES = 64;

/** The first 32 bits of the fractional part of a root of a prime. */
function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** WORD_BITS) | 0;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
}

const PRIMES = primes(BLOCK_BYTES);
const ROUND_CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

/** The SHA-256 digest (32 bytes) of the UTF-8 bytes of a text. */
export function sha256(text: string): Uint8Array {
  const message = new TextEncoder().encode(text);
  const padded = pad(message);
  const state = Int32Array.from(START);
  const schedule = new Int32Array(BLOCK_BYTES);
  const words = new DataView(padded.buffer);
  for (let block = 0; block < padded.length; block += BLOCK_BYTES) {
    for (let i = 0; i < 16; i++) schedule[i] = words.getInt32(block + i * 4);
    extend(schedule);
    mix(state, schedule);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => {
    digest.setInt32(index * 4, word);
  });
  return new Uint8Array(digest.buffer);
}

/** Appends a one bit, zeros and the length in bits, to a multiple of the block size. */
function pad(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(message);
  padded[message.length] = 0x80;
  new DataView(padded.buffer).setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  return padded;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (WORD_BITS - by));
}

function extend(schedule: Int32Array): void {
  for (let i = 16; i < schedule.length; i++) {
    const early = schedule[i - 15] ?? 0;
    const late = schedule[i - 2] ?? 0;
    const low = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const high = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[i] = ((schedule[i - 16] ?? 0) + low + (schedule[i - 7] ?? 0) + high) | 0;
  }
}

function mix(state: Int32Array, schedule: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < schedule.length; i++) {
    const turnedE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const chosen = (e & f) ^ (~e & g);
    const first = (h + turnedE + chosen + (ROUND_CONSTANTS[i] ?? 0) + (schedule[i] ?? 0)) | 0;
    const turnedA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (turnedA + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = ((state[index] ?? 0) + word) | 0;
  });
}

/** The digest as upper-case hexadecimal digits, for ETags. */
export function sha256Tag(text: string): string {
  return toHex(sha256(text)).toUpperCase();
}
