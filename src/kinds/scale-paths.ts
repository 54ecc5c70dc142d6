/**
 * Paths into an object, as definitions write them: `.spec.replicas`.
 */

/** Where a kind keeps what its scale shows. */
export interface ScalePaths {
  /** Below `.spec`. */
  readonly specReplicasPath: string;
  /** Below `.status`. */
  readonly statusReplicasPath: string;
  /** A label selector as text. */
  readonly labelSelectorPath?: string;
}
