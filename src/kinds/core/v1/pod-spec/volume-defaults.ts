/**
 * What a volume becomes when its writer left things out, as far as the schemas cannot say it.
 */
import { claimSpecDefaults } from '../claim-spec-rules.js';
import { imageTag } from './image-name.js';
import type { Volume } from './volume.js';

/** Fills in one volume of a pod or of a pod template, in place. */
export function volumeDefaults(volume: Volume): void {
  const { ephemeral, image, scaleIO } = volume;
  if (Object.keys(volume).every((field) => field === 'name')) volume.emptyDir = {};
  if (image !== undefined) {
    image.pullPolicy ??= imageTag(image.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  }
  const claim = ephemeral?.volumeClaimTemplate?.spec;
  if (claim !== undefined) claimSpecDefaults(claim);
  if (scaleIO !== undefined && scaleIO.secretRef === undefined) {
    const { gateway, system, secretRef = null, ...rest } = scaleIO;
    // In its place on the wire.
    volume.scaleIO = { gateway, system, secretRef, ...rest };
  }
}
