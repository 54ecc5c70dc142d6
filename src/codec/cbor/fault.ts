/**
 * What can be wrong with a CBOR document, in the reference server's words. Faults are values, not exceptions, because a
 * fault found later may be the one that is reported: see `decode.ts`.
 */

export class CborFault {
  constructor(readonly message: string) {}
}

/** A data item that cannot become what is expected in its place. */
export class TypeFault extends CborFault {
  readonly #found: string;
  readonly #wanted: string;
  readonly #note: string;

  constructor(found: MajorType, wanted: string, note = '') {
    super(`cbor: cannot unmarshal ${TYPE_NAMES[found]} into Go value of type ${wanted}${note}`);
    this.#found = TYPE_NAMES[found];
    this.#wanted = wanted;
    this.#note = note;
  }

  /** The same fault, found in a field of a struct. */
  inField(field: string): CborFault {
    return new CborFault(
      `cbor: cannot unmarshal ${this.#found} into Go struct field ${field} of type ${this.#wanted}${this.#note}`,
    );
  }
}

/** The bytes are no CBOR at all, or hold what no document may hold anywhere. */
export class NotWellFormed extends Error {
  override readonly name = 'NotWellFormed';
}

/** The upper three bits of the first byte of a data item. */
export type MajorType = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

export const POSITIVE = 0;
export const NEGATIVE = 1;
export const BYTES = 2;
export const TEXT = 3;
export const ARRAY = 4;
export const MAP = 5;
export const TAG = 6;
export const PRIMITIVE = 7;

export const TYPE_NAMES = {
  [POSITIVE]: 'positive integer',
  [NEGATIVE]: 'negative integer',
  [BYTES]: 'byte string',
  [TEXT]: 'UTF-8 text string',
  [ARRAY]: 'array',
  [MAP]: 'map',
  [TAG]: 'tag',
  [PRIMITIVE]: 'primitives',
} as const satisfies Record<MajorType, string>;

export function unacceptable(type: MajorType, what: string): string {
  return `cbor: data item of cbor type ${TYPE_NAMES[type]} is not accepted by protocol: ${what}`;
}
