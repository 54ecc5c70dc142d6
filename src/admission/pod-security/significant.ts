/**
 * Which updates of a pod count. Of all that a level looks at, only images and the list of ephemeral containers can change
 * while a pod lives; other updates pass, also of pods that would not be let in any more.
 */
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';

export function isSignificant(next: PodSpec, live: PodSpec): boolean {
  if (hasOtherImages(next.containers, live.containers)) return true;
  if (hasOtherImages(next.initContainers, live.initContainers)) return true;
  const images = new Map((live.ephemeralContainers ?? []).map(({ name, image = '' }) => [name, image]));
  return (next.ephemeralContainers ?? []).some(({ name, image = '' }) => images.get(name) !== image);
}

interface WithImage {
  readonly image?: string | undefined;
}

/** By position. */
function hasOtherImages(next: readonly WithImage[] | null = [], live: readonly WithImage[] | null = []): boolean {
  if (next?.length !== live?.length) return true;
  return (next ?? []).some(({ image = '' }, index) => image !== (live?.[index]?.image ?? ''));
}
