/**
 * MD5 of a text. Not used for security: ports of endpoints are sorted by these hashes, and clients see that order.
 */

const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const SINES = Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32) >>> 0);
const BLOCK = 64;

/** Returns 32 lower-case hexadecimal digits. */
export function md5(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n, true);
  let state: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < padded.length; at += BLOCK) state = withBlock(state, view, at);
  const digest = new DataView(new ArrayBuffer(16));
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word, true);
  return state
    .map((_, index) =>
      digest
        .getUint32(index * 4)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('');
}

type State = [number, number, number, number];

function withBlock(state: State, view: DataView, start: number): State {
  let [a, b, c, d] = state;
  for (let step = 0; step < 64; step++) {
    const [mixed, word] = mix(step, b, c, d);
    const sum = (a + mixed + (SINES[step] ?? 0) + view.getUint32(start + word * 4, true)) >>> 0;
    const shift = SHIFTS[(step >> 4) * 4 + (step & 3)] ?? 0;
    [a, d, c] = [d, c, b];
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) >>> 0;
  }
  return [(state[0] + a) >>> 0, (state[1] + b) >>> 0, (state[2] + c) >>> 0, (state[3] + d) >>> 0];
}

/** The mixing function of a step, and the index of the word of the block it uses. */
function mix(step: number, b: number, c: number, d: number): readonly [mixed: number, word: number] {
  if (step < 16) return [(b & c) | (~b & d), step];
  if (step < 32) return [(d & b) | (~d & c), (5 * step + 1) % 16];
  if (step < 48) return [b ^ c ^ d, (3 * step + 5) % 16];
  return [c ^ (b | ~d), (7 * step) % 16];
}
