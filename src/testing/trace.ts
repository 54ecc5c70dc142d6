/**
 * Prints a request log for golden tests: one line for each request, stable between runs and easy to diff. Generated names
 * are numbered in order of creation for each prefix, so that an additional object changes few lines.
 *
 *   create pods default/web-<1> by replicaset-controller → 201
 *   update deployments.apps/status default/web by deployment-controller → 409 Conflict
 *   apply configmaps default/settings by local (ci) → 200, no change
 */
import { ADMINISTRATOR } from '../auth/identity.js';
import type { RequestMatch } from './faults/match.js';
import { isNoOp, type LoggedRequest } from './request-log.js';

export interface TraceOptions extends RequestMatch {
  /** Shows the versions of objects: `3 → 4`. */
  readonly versions?: boolean | undefined;
  /** Shows when each request was sent. */
  readonly times?: boolean | undefined;
}

type Shown = Pick<TraceOptions, 'versions' | 'times'>;

/** The lines of the wanted requests. All requests are processed, because names are numbered in order. */
export function traceOf(
  all: readonly LoggedRequest[],
  isWanted: (request: LoggedRequest) => boolean,
  shown: Shown,
): string {
  const names = new Aliases();
  const lines = all.map((request) => {
    names.note(request);
    return isWanted(request) ? [lineOf(request, names, shown)] : [];
  });
  return lines.flat().join('\n');
}

function lineOf(request: LoggedRequest, names: Aliases, { versions, times }: Shown): string {
  const parts = [
    ...(times === true ? [request.time] : []),
    verbOf(request),
    request.subresource === undefined ? request.resource : `${request.resource}/${request.subresource}`,
    placeOf(request, names),
    ...(request.user === ADMINISTRATOR.user ? [] : [`as ${request.user}`]),
    `by ${request.source}${managerOf(request)}`,
    ...(request.dryRun ? ['(dry run)'] : []),
    '→',
    outcomeOf(request),
    ...(versions === true ? [versionsOf(request)] : []),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** The default field managers of local requests and of controllers, which a trace omits. */
const ORDINARY_MANAGERS: readonly string[] = ['orchplane', 'kube-controller-manager'];

function verbOf({ verb, patchType }: LoggedRequest): string {
  if (patchType === undefined) return verb;
  return patchType === 'apply' ? 'apply' : `patch(${patchType})`;
}

function placeOf(request: LoggedRequest, names: Aliases): string {
  const { namespace, generateName } = request;
  const name = names.of(request) ?? (generateName === undefined ? undefined : `${generateName}<?>`);
  if (name === undefined) return namespace === undefined ? '' : `in ${namespace}`;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function managerOf({ manager, source }: LoggedRequest): string {
  return manager === undefined || manager === source || ORDINARY_MANAGERS.includes(manager) ? '' : ` (${manager})`;
}

function outcomeOf(request: LoggedRequest): string {
  const { outcome } = request;
  if (outcome === undefined) return 'under way';
  const reason = outcome.reason === undefined ? '' : ` ${outcome.reason}`;
  const effect = request.gone === true ? ', gone' : isNoOp(request) ? ', no change' : '';
  return `${outcome.code}${reason}${effect}`;
}

function versionsOf({ verb, outcome, versionBefore, versionAfter, gone }: LoggedRequest): string {
  if (outcome === undefined || outcome.code >= 400) return '';
  const after = gone === true ? 'gone' : (versionAfter ?? (verb === 'delete' ? 'gone' : undefined));
  return after === undefined ? '' : `(${versionBefore ?? 'new'} → ${after})`;
}

/** Numbers generated names. */
class Aliases {
  readonly #counts = new Map<string, number>();
  readonly #aliases = new Map<string, string>();

  note(request: LoggedRequest): void {
    const { generateName, name, resource } = request;
    if (generateName === undefined || name === undefined) return;
    const prefix = `${resource} ${generateName}`;
    const count = (this.#counts.get(prefix) ?? 0) + 1;
    this.#counts.set(prefix, count);
    this.#aliases.set(keyOf(request, name), `${generateName}<${count}>`);
  }

  of(request: LoggedRequest): string | undefined {
    const { name, kind } = request;
    if (name === undefined) return undefined;
    // Names of Events end with a timestamp.
    if (kind === 'Event') return name.replace(/\.[0-9a-f]{8,}$/, '.<time>');
    return this.#aliases.get(keyOf(request, name)) ?? name;
  }
}

function keyOf({ resource, namespace }: LoggedRequest, name: string): string {
  return `${resource} ${namespace ?? ''}/${name}`;
}
