/**
 * Base types of kinds that are never stored, such as TokenReview: all fields of their metadata are optional.
 */
import type { ObjectMetaInput } from '../../meta/object.js';

export interface ReviewBase {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetaInput;
}

export interface ReviewInputBase {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMetaInput;
}
