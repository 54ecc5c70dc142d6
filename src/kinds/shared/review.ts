/**
 * What every answer that is not stored has: metadata of which nothing is demanded.
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
