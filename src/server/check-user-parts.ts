/**
 * Checks the user-provided parts of a cluster (clock, kinds, plugins, audit log, controllers, webhooks, journal) when it is created.
 */
import type { AdmissionPlugin } from '../admission/types.js';
import type { AuditLog } from '../audit/log.js';
import type { Kind } from '../kinds/kind.js';
import type { Webhooks } from '../kinds/reconciler.js';
import type { Journal } from '../storage/journal/types.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';

export interface Plugged {
  readonly clock?: Clock | undefined;
  readonly ids?: Ids | undefined;
  readonly kinds?: readonly Kind[] | undefined;
  readonly admission?: readonly AdmissionPlugin[] | undefined;
  readonly audit?: AuditLog | undefined;
  /** A function; see `controllers()`. */
  readonly controllers?: unknown;
  readonly webhooks?: Webhooks | undefined;
  readonly journal?: Journal | undefined;
}

/** Throws TypeError early; a wrong value would otherwise fail much later or be ignored. */
export function checkUserParts(parts: Plugged): void {
  const { clock, ids, kinds = [], admission = [], audit, controllers, webhooks, journal } = parts;
  if (clock !== undefined && !areFunctions([clock?.now, clock?.after])) {
    throw new TypeError(
      'orchplane: clock is an object with now() and after(); fakeClock() of orchplane/testing makes one',
    );
  }
  if (ids !== undefined && !areFunctions([ids?.uid, ids?.suffix, ids?.random])) {
    throw new TypeError('orchplane: ids is an object with uid(), suffix() and random()');
  }
  if (!Array.isArray(kinds) || !kinds.every((kind: Kind | undefined) => typeof kind?.kind === 'string')) {
    throw new TypeError('orchplane: kinds is a list of kinds; defineKind makes one');
  }
  if (!Array.isArray(admission)) throw new TypeError('orchplane: admission is a list of plugins');
  for (const plugin of admission as readonly (AdmissionPlugin | undefined)[]) {
    if (typeof plugin !== 'object' || typeof plugin?.name !== 'string') {
      throw new TypeError('orchplane: admission has something that is no plugin; defineAdmission makes one');
    }
    const { mutate, validate, handlesKind } = plugin;
    if (areFunctions([mutate, validate, handlesKind].filter((value) => (value ?? null) !== null))) continue;
    throw new TypeError(`orchplane: admission: mutate, validate and handlesKind of ${plugin.name} are functions`);
  }
  const twice = admission.find((plugin, index) => admission.indexOf(plugin) !== index);
  if (twice !== undefined) throw new TypeError(`orchplane: admission has the plugin ${twice.name} twice`);
  if (audit !== undefined && typeof audit.begin !== 'function') {
    throw new TypeError('orchplane: audit takes what auditLog() returns');
  }
  if (controllers !== undefined && typeof controllers !== 'function') {
    throw new TypeError('orchplane: controllers takes what controllers([...]) of orchplane/controllers returns');
  }
  if (journal !== undefined && typeof journal.load !== 'function') {
    throw new TypeError('orchplane: journal takes what fileJournal(folder) or await indexedDbJournal(name) returns');
  }
  const isWebhooks = typeof webhooks === 'function' || typeof webhooks?.resolve === 'function';
  if (webhooks !== undefined && !isWebhooks) {
    throw new TypeError('orchplane: webhooks is a function, or { resolve(address) }');
  }
}

function areFunctions(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'function');
}
