/**
 * The paths of a scale subresource.
 */

/** The fields behind a scale subresource, as paths in a CRD: `.spec.replicas`. */
export interface ScalePaths {
  /** Below `.spec`. */
  readonly specReplicasPath: string;
  /** Below `.status`. */
  readonly statusReplicasPath: string;
  /** The path of a serialized label selector. */
  readonly labelSelectorPath?: string;
}
