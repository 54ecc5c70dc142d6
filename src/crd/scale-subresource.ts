/**
 * The `scale` subresource of users' kinds: how many replicas there are and are to be, under one address for all kinds.
 */

import type { ScalePaths } from '../kinds/scale-paths.js';
import type { SubresourceView } from '../kinds/subresource.js';
import { customScale } from './scale.js';

/**
 * A scale with paths of its own.
 *
 * @example
 * subresources: { scale: scaleAt({ specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' }) }
 *
 * @__NO_SIDE_EFFECTS__
 */
export function scaleAt(paths: ScalePaths): SubresourceView {
  return customScale(paths);
}

/** `.spec.replicas`, `.status.replicas` and `.status.selector`. */
export const scale: SubresourceView = /* @__PURE__ */ scaleAt({
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
});
