/**
 * What a persistent volume becomes when its writer left things out.
 */
import { roundAmounts } from '../../../shared/round-amounts.js';
import type { InlineVolumeSpec } from './spec.js';

/** For volumes, and for those that an attachment holds inline. Further defaults of sources stand in their schemas. */
export function volumeSourceDefaults(spec: InlineVolumeSpec | undefined): void {
  if (spec === undefined) return;
  roundAmounts(spec.capacity);
  const { azureFile, scaleIO } = spec;
  // These two are on the wire always, as null if need be, and in their places.
  if (azureFile !== undefined) azureFile.secretNamespace ??= null;
  if (scaleIO !== undefined) {
    const { gateway, system, secretRef = null, ...rest } = scaleIO;
    spec.scaleIO = { gateway, system, secretRef, ...rest };
  }
}
