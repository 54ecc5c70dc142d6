/**
 * What the rules of a pod's spec need to know besides the spec.
 */
import type { WriteContext } from '../../../kind.js';
import type { PodSpec } from './pod-spec.js';

/** The context of a write will do for a template. */
export interface PodSpecContext extends Pick<WriteContext, 'dialect' | 'features'> {
  /** The name of the pod; absent in a template, whose pods are still to be named. */
  readonly podName?: string | undefined;
  /** A node made the pod by itself. */
  readonly isStatic?: boolean;
  /** The spec before the update: what it had already may stay, even where new objects may not have it. */
  readonly live?: PodSpec | undefined;
}
