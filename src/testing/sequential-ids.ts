/**
 * Identifiers that are the same on every run.
 */
import { type Ids, NAME_ALPHABET } from '../util/ids.js';

/** A source of sequential identifiers. */
export interface SequentialIds extends Ids {
  /** A copy that continues from the current position; both return the same identifiers from now on. */
  copy(): SequentialIds;
}

/**
 * Creates identifiers that count up: uids (`00000000-0000-4000-8000-000000000001`, …) and name suffixes (`bbbbb`, `bbbbc`,
 * …). `random` returns a fixed sequence that starts with 0.5.
 *
 * @example
 * createCluster({ ids: sequentialIds() })
 */
export function sequentialIds(): SequentialIds {
  return counting(0, 0, 0);
}

const COUNTED_UID = /^00000000-0000-4000-8000-(\d{12})$/;

/** Identifiers that continue after those that are in use, so that uids stay unique. */
export function sequentialIdsAfter(taken: Iterable<string>): SequentialIds {
  let last = 0;
  for (const uid of taken) last = Math.max(last, Number(COUNTED_UID.exec(uid)?.[1] ?? 0));
  return counting(last, 0, 0);
}

/** Whether the identifiers can be copied. */
export function isSequential(ids: Ids): ids is SequentialIds {
  return 'copy' in ids;
}

function counting(uidsBefore: number, suffixesBefore: number, randomsBefore: number): SequentialIds {
  let uids = uidsBefore;
  let suffixes = suffixesBefore;
  let randoms = randomsBefore;
  return {
    copy: () => counting(uids, suffixes, randoms),
    uid: () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`,
    suffix(length) {
      let text = '';
      for (let rest = suffixes++; text.length < length; rest = Math.floor(rest / NAME_ALPHABET.length)) {
        text = (NAME_ALPHABET[rest % NAME_ALPHABET.length] ?? '') + text;
      }
      return text;
    },
    // Steps of the golden ratio are distributed evenly.
    random: () => (0.5 + randoms++ * 0.618033988749895) % 1,
  };
}
