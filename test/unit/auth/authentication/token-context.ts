/**
 * The context of tokens without a cluster.
 */
import type { ObjectReader } from '../../../../src/kinds/objects.js';
import type { ApiObject } from '../../../../src/meta/object.js';
import { type FakeClock, fakeClock } from '../../../../src/testing/fake-clock.js';

/** The parts of an object that tokens read. */
export interface KnownObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly deleted?: string;
}

/** Objects by resource; the lists are live. */
export function objectsOf(objects: Readonly<Record<string, readonly KnownObject[]>>): ObjectReader {
  const objectOf = ({ namespace, name, uid, deleted }: KnownObject): ApiObject =>
    ({
      metadata: { namespace, name, uid, ...(deleted === undefined ? {} : { deletionTimestamp: deleted }) },
    }) as unknown as ApiObject;
  return {
    get({ resource, namespace, name }) {
      const found = objects[resource]?.find((each) => each.namespace === namespace && each.name === name);
      return found === undefined ? undefined : objectOf(found);
    },
    list: (resource) => (objects[resource.resource] ?? []).map(objectOf),
  };
}

export function fakeClockAt(time: string): FakeClock {
  return fakeClock({ now: Date.parse(time) });
}
