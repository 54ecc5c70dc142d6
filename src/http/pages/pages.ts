/**
 * The non-resource pages of the server: version, health checks, metrics, OpenAPI, OpenID discovery and the path index.
 */
import type { TokenDiscovery } from '../../auth/authentication.js';
import type { Document } from '../../codec/codec.js';
import { encodeJson, indentJson } from '../../codec/json-encoder.js';
import type { Release } from '../../kinds/lifecycle.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { apiVersionOf } from '../../meta/gvk.js';
import { METRICS_CONTENT_TYPE } from '../../metrics/family.js';
import type { Answer } from '../../protocol/http.js';
import { chain, isPromise, type MaybePromise } from '../../util/maybe-promise.js';
import type { HandlerMetrics } from '../metrics.js';
import { chooseRepresentation } from '../negotiate.js';
import { respondBody, respondDocument, respondText } from '../respond.js';
import { refuseAtRouter } from './discovery.js';
import { openApiPage } from './openapi.js';
import type { Page, PageRequest } from './page.js';
import { memoizePerKinds } from './page.js';

/** What the pages report about. */
export interface PageSources {
  readonly metrics: HandlerMetrics;
  readonly isClosing: () => boolean;
  /** The problem of the storage, if any; see `StorageReader`. */
  readonly checkStorage: () => MaybePromise<string | undefined>;
  /** The emulated Kubernetes release. */
  readonly release: Release;
  /** Absent when the cluster signs no tokens. */
  readonly discovery?: TokenDiscovery | undefined;
}

/** Creates all pages, in the order in which they are tried. */
export function createPages(sources: PageSources): readonly Page[] {
  const { metrics, release, discovery } = sources;
  const root = rootPage(discovery === undefined ? [] : OPENID_PATHS);
  return [versionPage(release), healthPage(sources), metricsPage(metrics), openApiPage, openIdPage(discovery), root];
}

function versionPage(release: Release): Page {
  const document = versionInfo(release) as Document & ReturnType<typeof versionInfo>;
  return (request) => {
    if (request.path !== '/version' && request.path !== '/version/') return undefined;
    const refusal = refuseAtRouter(request, request.offers.json);
    if (refusal !== undefined) return refusal;
    const form = { ...chooseRepresentation(request.offers.json, request.accept, { watch: false }), pretty: true };
    return respondDocument(request.envelope, { code: 200, document, form });
  };
}

/** The content of `/version`: the emulated release and build information. */
export function versionInfo(release: Release) {
  const [major = '', minor = ''] = release.split('.');
  return Object.freeze({
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `v${release}.0+orchplane`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'orchplane',
    platform: 'javascript',
  });
}

function healthPage(sources: HealthSources): Page {
  return (request) => {
    const [, page = '', ...rest] = request.path.split('/');
    const checks = checksOf(page, sources);
    if (checks === undefined) return undefined;
    const name = rest.join('/');
    return name === '' ? allChecks(request, page, checks) : oneCheck(request, checks, name);
  };
}

type HealthSources = Pick<PageSources, 'isClosing' | 'checkStorage'>;

/** A health check; returns the problem, if any. */
type Check = () => MaybePromise<string | undefined>;

type Checks = Readonly<Record<string, Check>>;

const alwaysHealthy: Check = () => undefined;

/** The checks of each page, in display order. The process itself is healthy as soon as it responds. */
function checksOf(page: string, { isClosing, checkStorage }: HealthSources): Checks | undefined {
  const base = { ping: alwaysHealthy, log: alwaysHealthy, etcd: checkStorage };
  switch (page) {
    case 'healthz':
    case 'livez':
      return base;
    case 'readyz':
      return {
        ...base,
        'etcd-readiness': checkStorage,
        'informer-sync': alwaysHealthy,
        shutdown: () => (isClosing() ? 'process is shutting down' : undefined),
      };
    default:
      return undefined;
  }
}

function oneCheck({ envelope }: PageRequest, checks: Checks, name: string): MaybePromise<Answer> | undefined {
  if (!Object.hasOwn(checks, name)) return undefined;
  return chain(checks[name]?.(), (problem) =>
    problem === undefined
      ? respondText(envelope, 200, 'ok')
      : respondText(envelope, 500, `internal server error: ${problem}\n`),
  );
}

function allChecks({ envelope, query }: PageRequest, page: string, checks: Checks): MaybePromise<Answer> {
  const excluded = new Set(query.get('exclude')?.flatMap((names) => names.split(',')) ?? []);
  const outcomes = Object.entries(checks).map(([name, check]) =>
    excluded.delete(name) ? `[+]${name} excluded: ok\n` : chain(check(), (problem) => outcomeOf(name, problem)),
  );
  const more = [...excluded].map((name) => JSON.stringify(name)).join(',');
  const warning = more === '' ? '' : `warn: some health checks cannot be excluded: no matches for ${more}\n`;
  const respond = (found: readonly string[]): Answer => {
    const lines = found.join('') + warning;
    // A failure always lists all checks.
    if (found.some((line) => line.startsWith('[-]'))) {
      return respondText(envelope, 500, `${lines}${page} check failed\n`);
    }
    return respondText(envelope, 200, query.has('verbose') ? `${lines}${page} check passed\n` : 'ok');
  };
  return outcomes.some(isPromise) ? Promise.all(outcomes).then(respond) : respond(outcomes as string[]);
}

function outcomeOf(name: string, problem: string | undefined): string {
  return problem === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
}

function metricsPage(metrics: HandlerMetrics): Page {
  return ({ path, envelope }) => {
    if (path !== '/metrics') return undefined;
    const headers = { 'Content-Type': METRICS_CONTENT_TYPE };
    return respondBody(envelope, { code: 200, body: metrics.print(), headers });
  };
}

/** `/`: the index of all paths. `more`: paths of optional pages. */
function rootPage(more: readonly string[]): Page {
  const indexOf = memoizePerKinds((kinds, _page: 'index') => {
    const paths = new Set(['/api', '/apis', '/apis/', ...STATIC_PATHS, ...more, ...kinds.flatMap(pathsOf)]);
    return indentJson(encodeJson({ paths: [...paths].sort() }));
  });
  return ({ path, kinds, dialect, envelope }) => {
    if (path !== '/' && path !== '/index.html') return undefined;
    const headers = { 'Content-Type': 'application/json' };
    return respondBody(envelope, { code: 200, body: indexOf(kinds, 'index', dialect), headers });
  };
}

const STATIC_PATHS = [
  '/healthz',
  '/healthz/etcd',
  '/healthz/log',
  '/healthz/ping',
  '/livez',
  '/livez/etcd',
  '/livez/log',
  '/livez/ping',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/readyz',
  '/readyz/etcd',
  '/readyz/etcd-readiness',
  '/readyz/informer-sync',
  '/readyz/log',
  '/readyz/ping',
  '/readyz/shutdown',
  '/version',
];

function pathsOf({ gvr }: ServedKind): string[] {
  const { group } = gvr;
  return group === '' ? [`/api/${gvr.version}`] : [`/apis/${group}`, `/apis/${apiVersionOf(gvr)}`];
}

const CONFIGURATION = '/.well-known/openid-configuration';

const KEY_SET = '/openid/v1/jwks';

const OPENID_PATHS: readonly string[] = [CONFIGURATION, KEY_SET];

/** The keys do not change within an hour. */
const CACHE_CONTROL = 'public, max-age=3600';

/**
 * The OpenID discovery pages, with which other services verify service account tokens. Without `discovery` there are
 * none.
 */
function openIdPage(discovery: TokenDiscovery | undefined): Page {
  return (request) => {
    const { path, host } = request;
    if (discovery === undefined || (path !== CONFIGURATION && path !== KEY_SET)) return undefined;
    return chain(discovery.configuration(`https://${host}${KEY_SET}`), (configuration): MaybePromise<Answer> => {
      // An issuer that is not a URL publishes nothing.
      if (configuration === undefined) return respondText(request.envelope, 404, '404 page not found\n');
      if (path === CONFIGURATION) return respondOpenId(request, configuration, 'application/json');
      return chain(discovery.keySet(), (keys) => respondOpenId(request, keys, 'application/jwk-set+json'));
    });
  };
}

/** Each page has exactly one media type. */
function respondOpenId(request: PageRequest, content: object, contentType: string): Answer {
  const refusal = refuseAtRouter(request, { ...request.offers.json, mediaTypes: [contentType] });
  if (refusal !== undefined) return refusal;
  const headers = { 'Content-Type': contentType, 'Cache-Control': CACHE_CONTROL };
  return respondBody(request.envelope, { code: 200, body: JSON.stringify(content), headers });
}
