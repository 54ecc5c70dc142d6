/**
 * A change to one object, as the store records it and as a watch carries it.
 */
import type { ApiObject } from './object.js';

export interface ChangeEvent<Object = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Object;
}
