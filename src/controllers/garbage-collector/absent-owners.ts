/**
 * Owners of which it is known that they do not exist. A uid is never given twice, so what was once absent stays so; only
 * the most recent are remembered, because that is what the many dependents of one owner ask for.
 */
import { kindKey } from './followed-kinds.js';

/** What names an owner. The namespace is empty for cluster-scoped kinds. */
export interface OwnerCoordinates {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Deleted before our eyes, or not there when we looked; such an owner may be somewhere else. */
export type Absence = 'deleted' | 'not found';

const MOST = 500;

export class AbsentOwners {
  readonly #absences = new Map<string, Absence>();

  add(owner: OwnerCoordinates, absence: Absence): void {
    const key = keyOf(owner);
    this.#absences.delete(key);
    this.#absences.set(key, absence);
    if (this.#absences.size <= MOST) return;
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
