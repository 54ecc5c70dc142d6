/**
 * Base types of kinds that are never stored, such as TokenReview. Their metadata is what the client sent, which may be
 * nothing; it has the type of other objects, so that code that is generic over kinds accepts them.
 */
import type { ObjectBase, ObjectMetaInput } from '../../meta/object.js';

export interface ReviewBase extends ObjectBase {}

export interface ReviewInputBase {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMetaInput;
}
