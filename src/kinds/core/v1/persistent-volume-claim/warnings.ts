/**
 * What writers of a claim's spec are told: for claims, and for the claims of ephemeral volumes and of StatefulSets.
 */
import { childPath, keyPath } from '../../../../meta/field-error.js';
import { quote } from '../../../../text/go/go-text.js';
import { Quantity } from '../../../../meta/quantity.js';
import { own } from '../../../../util/json.js';
import type { PersistentVolumeClaimSpec } from '../pod-spec/claim-spec.js';

export function claimSpecWarnings(path: string, spec: PersistentVolumeClaimSpec): string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const amount = own(spec.resources?.[list] ?? {}, 'storage');
    if (amount === undefined || Quantity.parse(amount).milliValue() % 1000n === 0n) return [];
    const at = keyPath(childPath(path, `resources.${list}`), 'storage');
    return [`${at}: fractional byte value ${quote(amount)} is invalid, must be an integer`];
  });
}
