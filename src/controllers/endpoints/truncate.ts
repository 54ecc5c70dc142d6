/**
 * Endpoints hold a thousand addresses at most. Those that are ready go first, and subsets share the room by their size.
 */
import type { Subset } from './repack.js';

export const MAX_ADDRESSES = 1000;

/** The subsets with as many addresses as there is room for; the same array: all fit. */
export function truncateSubsets(subsets: readonly Subset[]): readonly Subset[] {
  const ready = count(subsets, 'addresses');
  const notReady = count(subsets, 'notReadyAddresses');
  if (ready + notReady <= MAX_ADDRESSES) return subsets;
  const list = ready > MAX_ADDRESSES ? 'addresses' : 'notReadyAddresses';
  const room = list === 'addresses' ? MAX_ADDRESSES : MAX_ADDRESSES - ready;
  const total = list === 'addresses' ? ready : notReady;
  let left = room;
  return subsets.flatMap((subset) => {
    const { addresses, notReadyAddresses, ...rest } = subset;
    const all = subset[list] ?? [];
    // Rounded up, so that it is the last subset that goes short.
    const kept = all.slice(0, Math.min(left, Math.ceil((all.length / total) * room)));
    left -= kept.length;
    const isLeft = kept.length > 0 || (list === 'notReadyAddresses' && addresses !== undefined);
    if (!isLeft) return [];
    return [
      {
        ...rest,
        ...(list === 'notReadyAddresses' && addresses !== undefined ? { addresses } : {}),
        ...(kept.length > 0 ? { [list]: kept } : {}),
      },
    ];
  });
}

/** How many addresses there are. */
export function countAddresses(subsets: readonly Subset[]): number {
  return count(subsets, 'addresses') + count(subsets, 'notReadyAddresses');
}

function count(subsets: readonly Subset[], list: 'addresses' | 'notReadyAddresses'): number {
  return subsets.reduce((sum, subset) => sum + (subset[list]?.length ?? 0), 0);
}
