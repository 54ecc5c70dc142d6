/**
 * What a handler counts of its work, and the page that shows it in the format of Prometheus.
 */
import type { Action, ServedResource } from './routes.js';

/** What a request was about. */
export interface CountedRequest {
  /** Absent: of a page of the server's own. */
  readonly served: ServedResource | undefined;
  readonly action: Action | undefined;
  readonly method: string;
  readonly dryRun: boolean;
  readonly code: number;
}

export class Metrics {
  /** By what tells requests apart; how that is shown is worked out when somebody looks. */
  readonly #requests = new Map<string, { readonly request: CountedRequest; total: number }>();
  #watches = 0;

  count(request: CountedRequest): void {
    const { served, action, method, dryRun, code } = request;
    const { group = '', version = '', resource = '' } = served?.gvr ?? {};
    const about = `${group}/${version}/${resource}/${action?.subresource ?? ''}`;
    const key = `${about} ${verbOf(action, method)} ${scopeOf(action)} ${code} ${dryRun}`;
    const counted = this.#requests.get(key);
    if (counted === undefined) this.#requests.set(key, { request, total: 1 });
    else counted.total++;
  }

  watchBegan(): void {
    this.#watches++;
  }

  watchEnded(): void {
    this.#watches--;
  }

  print(): string {
    const totals = [...this.#requests.values()].map(({ request, total }) => `{${labelsOf(request)}} ${total}`).sort();
    return [
      '# HELP apiserver_longrunning_requests Watches that are open.',
      '# TYPE apiserver_longrunning_requests gauge',
      `apiserver_longrunning_requests{component="apiserver",verb="WATCH"} ${this.#watches}`,
      '# HELP apiserver_request_total Requests that were answered, by what they were about and how they ended.',
      '# TYPE apiserver_request_total counter',
      ...totals.map((line) => `apiserver_request_total${line}`),
      '',
    ].join('\n');
  }
}

/** In the order of their names, as Prometheus likes them. */
function labelsOf({ served, action, method, dryRun, code }: CountedRequest): string {
  const { group = '', version = '', resource = '' } = served?.gvr ?? {};
  const labels = {
    code: String(code),
    component: 'apiserver',
    dry_run: dryRun ? 'All' : '',
    group,
    resource,
    scope: scopeOf(action),
    subresource: action?.subresource ?? '',
    verb: verbOf(action, method),
    version,
  };
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (character) => ESCAPES[character] ?? '')}"`)
    .join(',');
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function scopeOf(action: Action | undefined): string {
  if (action === undefined) return '';
  if (action.name !== undefined) return 'resource';
  return action.namespace === undefined ? 'cluster' : 'namespace';
}

const VERBS: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT', deletecollection: 'DELETECOLLECTION' };

/** Methods nobody knows are one, or every client could fill the page with its own. */
function verbOf(action: Action | undefined, method: string): string {
  if (action !== undefined) return VERBS[action.verb] ?? action.verb.toUpperCase();
  return /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : 'other';
}
