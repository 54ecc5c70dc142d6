/**
 * Checks the user-provided parts of a cluster (plugins, audit log, controllers, webhooks, journal) when it is created.
 */
import type { AdmissionPlugin } from '../admission/types.js';
import type { AuditLog } from '../audit/log.js';
import type { Webhooks } from '../kinds/reconciler.js';
import type { Journal } from '../storage/journal/types.js';

export interface Plugged {
  readonly admission?: readonly AdmissionPlugin[] | undefined;
  readonly audit?: AuditLog | undefined;
  /** A function; see `controllers()`. */
  readonly controllers?: unknown;
  readonly webhooks?: Webhooks | undefined;
  readonly journal?: Journal | undefined;
}

/** Throws TypeError early; a wrong value would otherwise fail much later or be ignored. */
export function checkUserParts({ admission = [], audit, controllers, webhooks, journal }: Plugged): void {
  if (!Array.isArray(admission)) throw new TypeError('orchplane: admission is a list of plugins');
  for (const plugin of admission as readonly (AdmissionPlugin | undefined)[]) {
    if (typeof plugin === 'object' && typeof plugin?.name === 'string') continue;
    throw new TypeError('orchplane: admission has something that is no plugin; defineAdmission makes one');
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
