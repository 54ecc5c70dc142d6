/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Records the access checks of a cluster: run a test, then get the smallest roles that allow what it did, or what given
 * roles would have denied.
 */

import type { Dialect } from '../meta/dialect.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import type { Clock } from '../util/clock.js';
import { refuseUnknownOptions } from '../util/options.js';
import { AccessChecks, type AccessFilter, type AccessReport, isOneOf } from './access-report.js';

/** Satisfied by a cluster. */
export interface AccessSource {
  readonly dialect: Dialect;
  readonly clock: Pick<Clock, 'now'>;
  onAccess(
    listener: (user: User, attributes: AccessAttributes, decision: AccessDecision, source: string) => void,
    options?: { readonly allows?: (user: User, attributes: AccessAttributes, source: string) => boolean },
  ): () => void;
}

export interface RecordAccessOptions extends Pick<AccessFilter, 'user' | 'source'> {
  /**
   * Executes recorded requests that are refused. A program without permissions then continues to its end, and the roles
   * contain all that it needs. Default: no.
   */
  readonly permissive?: boolean;
  /** Whether roles contain resource names. Default: no, because names in tests are arbitrary. */
  readonly resourceNames?: boolean;
}

export interface AccessRecording extends AccessReport, Disposable {
  /** The same for a part of the checks, those to come included. */
  select(filter: AccessFilter): AccessReport;
  /** Discards the checks so far. */
  clear(): void;
  /** Stops recording; the recorded checks remain. `using` calls it automatically. */
  stop(): void;
}

/**
 * Starts recording the access checks of a cluster, in process and over HTTP.
 *
 * @example
 * using access = recordAccess(cluster, { user: 'system:serviceaccount:default:my-controller' });
 * await cluster.api(ConfigMap).list(); // what your controller does
 * console.log(access.yaml('my-controller'));
 */
export function recordAccess(cluster: AccessSource, options: RecordAccessOptions = {}): AccessRecording {
  refuseUnknownOptions('recordAccess', options, OPTIONS);
  const recorded = new AccessChecks();
  const isRecorded = (user: User, source: string): boolean =>
    isOneOf(user.user, options.user) && isOneOf(source, options.source);
  const stop = cluster.onAccess(
    (user, attributes, { allowed }, source) => {
      if (!isRecorded(user, source)) return;
      recorded.add({ user: user.user, source, attributes, time: cluster.clock.now(), allowed });
    },
    options.permissive === true ? { allows: (user, _attributes, source) => isRecorded(user, source) } : {},
  );
  const settings = { dialect: cluster.dialect, withNames: options.resourceNames === true };
  const select = (filter: AccessFilter): AccessReport => {
    refuseUnknownOptions('select', filter, FILTERS);
    return recorded.report(filter, settings);
  };
  const report = select({});
  return Object.freeze({
    get requests() {
      return report.requests;
    },
    roles: report.roles,
    clusterRole: report.clusterRole,
    yaml: report.yaml,
    refusedBy: report.refusedBy,
    select,
    clear: () => recorded.clear(),
    stop,
    [Symbol.dispose]: stop,
  });
}

const OPTIONS = [
  'user',
  'source',
  'permissive',
  'resourceNames',
] as const satisfies readonly (keyof RecordAccessOptions)[];
const FILTERS = ['user', 'source', 'from', 'to'] as const satisfies readonly (keyof AccessFilter)[];
