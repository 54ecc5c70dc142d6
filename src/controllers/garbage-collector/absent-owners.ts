/**
 * Owners that are known not to exist. A uid is never reused, so an absent owner stays absent. Only the most recent ones are
 * remembered, for owners with many dependents.
 */
import { kindKey } from './followed-kinds.js';

/** The identity of an owner. The namespace is empty for cluster-scoped kinds. */
export interface OwnerCoordinates {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** `deleted`: the deletion was observed. `not found`: a lookup failed; the owner may exist in another namespace. */
export type Absence = 'deleted' | 'not found';

const MAX_REMEMBERED = 500;

export class AbsentOwners {
  readonly #absences = new Map<string, Absence>();

  add(owner: OwnerCoordinates, absence: Absence): void {
    const key = keyOf(owner);
    this.#absences.delete(key);
    this.#absences.set(key, absence);
    if (this.#absences.size <= MAX_REMEMBERED) return;
    const [oldest = ''] = this.#absences.keys();
    this.#absences.delete(oldest);
  }

  get(owner: OwnerCoordinates): Absence | undefined {
    return this.#absences.get(keyOf(owner));
  }
}

function keyOf({ apiVersion, kind, namespace, name, uid }: OwnerCoordinates): string {
  return `${uid} ${kindKey(apiVersion, kind)} ${namespace}/${name}`;
}
