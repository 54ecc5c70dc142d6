/**
 * Events as bytes, for as long as other watches are likely to be sent the same: a write that fifty watches see is encoded
 * once. What an object looks like is kept with the object by its codec; what is kept here is its event, and only a few.
 */
import type { Encoded, EventDocument, StreamCodec } from '../codec/codec.js';
import type { Dialect } from '../meta/dialect.js';

interface Kept {
  readonly type: string;
  readonly codec: StreamCodec;
  readonly bytes: Uint8Array;
}

export class RecentEvents {
  readonly #kept = new Map<object, Kept>();
  readonly #most: number;
  readonly #text = new TextEncoder();

  constructor(most = 128) {
    this.#most = most;
  }

  encode(event: EventDocument, codec: StreamCodec, dialect: Dialect): Uint8Array {
    const known = this.#kept.get(event.object);
    if (known !== undefined && known.type === event.type && known.codec === codec) return known.bytes;
    const bytes = this.#toBytes(codec.encode(event, dialect));
    // What may still change is not the same the next time.
    if (Object.isFrozen(event.object)) this.#keep(event.object, { type: event.type, codec, bytes });
    return bytes;
  }

  #keep(object: object, kept: Kept): void {
    this.#kept.set(object, kept);
    if (this.#kept.size <= this.#most) return;
    // The oldest is the first.
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      return;
    }
  }

  #toBytes(encoded: Encoded): Uint8Array {
    return typeof encoded === 'string' ? this.#text.encode(encoded) : encoded;
  }
}
