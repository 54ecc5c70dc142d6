/**
 * Checks the arguments of `runControllers` and `controllers`, so that JavaScript callers get a clear TypeError instead of a
 * failed property access.
 */
import type { Host } from '../../client/host.js';
import type { Controller } from './controller.js';

/** Throws TypeError unless `list` is a list of controllers with distinct names. `where` names the function for the message. */
export function checkControllers(where: string, list: unknown): asserts list is readonly Controller[] {
  if (!Array.isArray(list)) throw new TypeError(`orchplane: ${where} takes a list of controllers, not ${nameOf(list)}`);
  const seen = new Set<string>();
  for (const [index, each] of list.entries()) {
    if (!isController(each)) {
      throw new TypeError(`orchplane: ${where}: ${nameOf(each)} at ${index} is no controller${adviceOn(each)}`);
    }
    if (seen.has(each.name)) throw new TypeError(`orchplane: two controllers are named ${each.name}`);
    seen.add(each.name);
  }
}

/** Throws TypeError unless `host` is a cluster or a transport. */
export function checkHost(where: string, host: unknown): asserts host is Host {
  if (isRecord(host) && typeof host.send === 'function' && isRecord(host.clock)) return;
  throw new TypeError(`orchplane: ${where} takes a cluster or a transport first, not ${nameOf(host)}`);
}

/** Throws TypeError unless the value is a function or undefined. */
export function checkFunction(where: string, option: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw new TypeError(`orchplane: ${where}: ${option} is a function, not ${nameOf(value)}`);
}

function isController(value: unknown): value is Controller {
  if (!isRecord(value)) return false;
  const { name, needs, start } = value;
  if (typeof name !== 'string' || name === '' || typeof start !== 'function') return false;
  return Array.isArray(needs) && needs.every(isRecord);
}

/** A hint at the probable mistake. */
function adviceOn(value: unknown): string {
  if (typeof value === 'function') return `: it has to be called, ${value.name === '' ? 'f' : value.name}()`;
  if (Array.isArray(value)) return ': lists are spread, [...list]';
  if (isRecord(value) && 'kind' in value && !('needs' in value)) return ': stages are given to stages([...])';
  return '; it has a name, the kinds it needs, and start';
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return `the function ${value.name}`.trimEnd();
  if (!isRecord(value)) return `${typeof value} ${String(value)}`;
  return typeof value.name === 'string' && value.name !== '' ? `"${value.name}"` : 'an object';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
