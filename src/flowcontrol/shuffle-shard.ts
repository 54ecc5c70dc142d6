/**
 * Shuffle sharding: of many queues a flow is dealt a hand, always the same, and uses only that. A flow that floods its
 * own hand leaves at least one queue to nearly every other flow.
 *
 * The hand comes from a hash of the flow's name. The hash is a number of 64 bits, from which one digit is taken for each
 * card, in a base that shrinks by one with each: the first of 64 queues, then one of the 63 that are left, and so on.
 *
 *   hash 1000, 5 queues, 2 cards:   1000 = 200 × 5 + 0   the first of 0 1 2 3 4: 0
 *                                    200 =  50 × 4 + 0   the first of   1 2 3 4: 1
 */
import { sha256 } from '../util/sha256.js';

/** Four digits of 16 bits, the highest first. */
export type FlowHash = Uint16Array;

const DIGITS = 4;
const BASE = 2 ** 16;

/** Of a flow: a schema, and what tells the flow from others of the schema. */
export function flowHash(flowSchema: string, distinguisher: string): FlowHash {
  const digest = sha256(`${flowSchema}\0${distinguisher}`);
  const hash = new Uint16Array(DIGITS);
  // The number is the first eight bytes, the lowest first.
  for (let index = 0; index < DIGITS; index++) {
    const low = 2 * (DIGITS - 1 - index);
    hash[index] = (digest[low] ?? 0) | ((digest[low + 1] ?? 0) << 8);
  }
  return hash;
}

/** Which `handSize` of the cards 0 … `deckSize` − 1 a hash stands for, in the order in which they are dealt. */
export function deal(hash: FlowHash, deckSize: number, handSize: number): number[] {
  const rest = Uint16Array.from(hash);
  const hand: number[] = [];
  const dealt: number[] = [];
  for (let left = deckSize; left > deckSize - handSize; left--) {
    let card = divide(rest, left);
    // It counts only what is still in the deck.
    let place = 0;
    for (; place < dealt.length && card >= (dealt[place] ?? 0); place++) card++;
    dealt.splice(place, 0, card);
    hand.push(card);
  }
  return hand;
}

/** Leaves the quotient in the number and returns the remainder. */
function divide(number: FlowHash, divisor: number): number {
  let remainder = 0;
  for (let index = 0; index < DIGITS; index++) {
    const part = remainder * BASE + (number[index] ?? 0);
    number[index] = Math.floor(part / divisor);
    remainder = part % divisor;
  }
  return remainder;
}
