/**
 * The controllers of a whole cluster, each with its ordinary options.
 */
import type { Controller } from './runtime/controller.js';
import { serviceAccounts } from './service-accounts.js';

/** What the standard set may leave out or do differently. */
export interface StandardOptions {
  /** Names of controllers that are not wanted. */
  readonly without?: readonly string[] | undefined;
}

/**
 * Every controller there is, as far as the cluster serves what it needs.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers(standardControllers()) });
 */
export function standardControllers({ without = [] }: StandardOptions = {}): readonly Controller[] {
  const all: readonly Controller[] = [serviceAccounts()];
  const unknown = without.filter((name) => !all.some((controller) => controller.name === name));
  if (unknown.length > 0) {
    const names = all.map(({ name }) => name).join(', ');
    throw new TypeError(`orchplane: no controller is named ${unknown.join(', ')}; there are ${names}`);
  }
  return all
    .filter(({ name }) => !without.includes(name))
    .map((controller) => ({ ...controller, optional: true, start: (context) => controller.start(context) }));
}
