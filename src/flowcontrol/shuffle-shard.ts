/**
 * Shuffle sharding: a flow always uses the same small hand of queues. A flow that floods its own hand leaves at least one
 * queue to nearly every other flow.
 *
 * The hand is derived from a 64-bit hash of the flow: one digit per card, in a base that shrinks by one with each card: one
 * of 64 queues, then one of the remaining 63, and so on.
 *
 *   hash 1000, 5 queues, 2 cards:   1000 = 200 × 5 + 0   the first of 0 1 2 3 4: 0
 *                                    200 =  50 × 4 + 0   the first of   1 2 3 4: 1
 */
import { sha256 } from '../util/sha256.js';

/** Four 16-bit digits, the highest first. */
export type FlowHash = Uint16Array;

const DIGITS = 4;
const BASE = 2 ** 16;

/** The hash of a flow: its schema and distinguisher. */
export function flowHash(flowSchema: string, distinguisher: string): FlowHash {
  const digest = sha256(`${flowSchema}\0${distinguisher}`);
  const hash = new Uint16Array(DIGITS);
  // The first eight bytes as a little-endian number.
  for (let index = 0; index < DIGITS; index++) {
    const low = 2 * (DIGITS - 1 - index);
    hash[index] = (digest[low] ?? 0) | ((digest[low + 1] ?? 0) << 8);
  }
  return hash;
}

/** The `handSize` cards out of 0 … `deckSize` − 1 that a hash selects, in dealing order. */
export function deal(hash: FlowHash, deckSize: number, handSize: number): number[] {
  const rest = Uint16Array.from(hash);
  const hand: number[] = [];
  const dealt: number[] = [];
  for (let left = deckSize; left > deckSize - handSize; left--) {
    let card = divide(rest, left);
    // The card is an index into the remaining deck.
    let place = 0;
    for (; place < dealt.length && card >= (dealt[place] ?? 0); place++) card++;
    dealt.splice(place, 0, card);
    hand.push(card);
  }
  return hand;
}

/** Divides in place and returns the remainder. */
function divide(number: FlowHash, divisor: number): number {
  let remainder = 0;
  for (let index = 0; index < DIGITS; index++) {
    const part = remainder * BASE + (number[index] ?? 0);
    number[index] = Math.floor(part / divisor);
    remainder = part % divisor;
  }
  return remainder;
}
