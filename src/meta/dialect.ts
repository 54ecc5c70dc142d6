/**
 * Every identifier that carries the service's own name, in the two spellings the library speaks.
 *
 * Kinds are written once, in canonical names: the group `coordination` of the service is
 * `serviceGroup('coordination')`, the label `metadata.name` of the service is `dialect.key('metadata.name')`. No
 * literal with the token stands anywhere else in the library.
 */

export type DialectName = 'orch' | 'kubernetes';

export interface Dialect {
  readonly name: DialectName;
  /** The domain of the service's own keys, alone: `orch.io`. What tokens say of the cluster stands under it. */
  readonly domain: string;
  /** A canonical group (as kinds declare it) in this dialect. Groups that are not the service's own pass unchanged. */
  group(canonical: string): string;
  /** A label, annotation, finalizer or type of the service: `metadata.name` → `orch.io/metadata.name`. */
  key(name: string): string;
  /** A key under a subdomain of the service: (`pod-security`, `enforce`) → `pod-security.orch.io/enforce`. */
  subkey(subdomain: string, name: string): string;
  /** The few annotations that use the group's suffix: `initial-events-end`. */
  systemKey(name: string): string;
  /** A schema extension: `list-type` → `x-orch-list-type`. */
  extension(name: string): string;
  /** A vendor media type: `protobuf` → `application/vnd.orch.protobuf`. */
  mediaType(name: string): string;
  /** The name of a type in published schemas: `api.core.v1.Pod` → `io.orch.api.core.v1.Pod`. */
  definition(type: string): string;
  /** A metric that is named after the service: `build_info` → `orch_build_info`. */
  metric(name: string): string;
}

const CANONICAL_SUFFIX = '.orch.io';

/**
 * The canonical name of one of the service's own groups.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function serviceGroup(name: string): string {
  return `${name}${CANONICAL_SUFFIX}`;
}

/** The same text each time: engines take longer to look for a key that was just put together than for one they know. */
function remembered<Value>(make: (name: string) => Value): (name: string) => Value {
  const known = new Map<string, Value>();
  return (name) => {
    let value = known.get(name);
    if (value === undefined) {
      if (known.size >= MOST_REMEMBERED) known.clear();
      value = make(name);
      known.set(name, value);
    }
    return value;
  };
}

/** More than there are names in the library. */
const MOST_REMEMBERED = 500;

function defineDialect(name: DialectName, tokens: { group: string; key: string; vendor: string }): Dialect {
  const below = remembered((subdomain) => remembered((key) => `${subdomain}.${tokens.key}/${key}`));
  return {
    name,
    domain: tokens.key,
    group: (canonical) =>
      canonical.endsWith(CANONICAL_SUFFIX) ? canonical.slice(0, -CANONICAL_SUFFIX.length) + tokens.group : canonical,
    key: remembered((key) => `${tokens.key}/${key}`),
    subkey: (subdomain, key) => below(subdomain)(key),
    systemKey: (key) => `${tokens.group.slice(1)}/${key}`,
    extension: (extension) => `x-${tokens.vendor}-${extension}`,
    mediaType: (type) => `application/vnd.${tokens.vendor}.${type}`,
    definition: (type) => `${tokens.group.slice(1).split('.').reverse().join('.')}.${type}`,
    metric: (metric) => `${tokens.vendor}_${metric}`,
  };
}

/** The specification's own spelling; the default. */
export const orchDialect: Dialect = defineDialect('orch', { group: '.orch.io', key: 'orch.io', vendor: 'orch' });

/** The spelling of unmodified kubectl and client libraries. */
export const kubernetesDialect: Dialect = defineDialect('kubernetes', {
  group: '.k8s.io',
  key: 'kubernetes.io',
  vendor: 'kubernetes',
});

export const dialects: readonly Dialect[] = [orchDialect, kubernetesDialect];

export function dialectNamed(name: DialectName): Dialect {
  if (name === 'orch') return orchDialect;
  if (name === 'kubernetes') return kubernetesDialect;
  throw new TypeError(`orchplane: there is no dialect "${String(name)}"; there are orch and kubernetes`);
}

/** The service's name in running text. It has one spelling in both dialects. */
export const SERVICE_NAME = 'Kubernetes';

/** The name of the Service, and of the range of addresses, that the control plane itself is reached by. */
export const DEFAULT_SERVICE = 'kubernetes';

/** The manager of what the server itself has made. It has one spelling in both dialects. */
export const SERVER_MANAGER = 'kube-apiserver';

/**
 * The finalizer that a namespace's `spec.finalizers` always holds, and the one bare finalizer name beside the two of
 * the garbage collector. It has one spelling in both dialects.
 */
export const NAMESPACE_FINALIZER = 'kubernetes';

/**
 * A type of the expression libraries, as messages print it and expressions name it: `URL` → `kubernetes.URL`. It has
 * one spelling in both dialects.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function expressionType(name: string): string {
  return `kubernetes.${name}`;
}

/** How messages about addresses of custom kinds name the place in the reference server's source, whatever the dialect. */
export const CUSTOM_SCHEME = 'k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:725';

/** The same for definitions, for API services, and for everything else that is built in: each has its own list of types. */
export const DEFINITION_SCHEME = 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55';
export const API_SERVICE_SCHEME = 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28';
export const COMMON_SCHEME = 'pkg/api/legacyscheme/scheme.go:30';

/** The same for the options of deletions. */
export const OPTIONS_SCHEME = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27';
