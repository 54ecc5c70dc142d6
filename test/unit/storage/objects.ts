/** Objects and events for the storage tests, with only the fields that the store reads. */
import type { ApiObject } from '../../../src/meta/object.js';
import type { StoredEvent } from '../../../src/storage/types.js';

/** A stored object. */
export function object(name: string, revision: number, more: Record<string, unknown> = {}): ApiObject {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: String(revision) };
  return Object.freeze({
    kind: 'Thing',
    apiVersion: 'v1',
    metadata: Object.freeze({ ...metadata, creationTimestamp: '2030-01-01T00:00:00Z' }),
    ...more,
  });
}

/** An ADDED event, unless `previous` is set. */
export function event(revision: number, more: Partial<StoredEvent> = {}): StoredEvent {
  const name = more.name ?? `o${revision}`;
  return {
    revision,
    type: more.previous === undefined ? 'ADDED' : 'MODIFIED',
    namespace: 'default',
    name,
    object: object(name, revision),
    previous: undefined,
    time: 0,
    ...more,
  };
}
