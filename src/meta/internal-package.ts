/**
 * Names of packages of the reference server, as they stand in its messages.
 */
import { own } from '../util/json.js';

/** How the reference server calls its own form of a group's kinds. */
export function internalPackage(group: string): string {
  const [first = ''] = group.split('.');
  return own(OTHER_PACKAGES, first) ?? first;
}

/** Where the name of the group is not that of the place: events are those of the core, whatever their group. */
const OTHER_PACKAGES: Readonly<Record<string, string>> = {
  '': 'core',
  events: 'core',
  internal: 'apiserverinternal',
};
