/**
 * All identifiers that contain the name of the service, in both dialects (orch and kubernetes).
 *
 * Kinds are defined once, with canonical names: the group `coordination` is `serviceGroup('coordination')`, the label
 * `metadata.name` is `dialect.key('metadata.name')`. No other module contains such a literal.
 */

import { type DialectRules, KUBERNETES_RULES, ORCH_RULES } from './dialect-rules.js';

export type DialectName = 'orch' | 'kubernetes';

export interface Dialect {
  readonly name: DialectName;
  /** The domain of the service's keys: `orch.io`. Service account tokens use it as the name of their private claim. */
  readonly domain: string;
  /** What this dialect accepts and returns differently from the other. */
  readonly rules: DialectRules;
  /** The name of a canonical group in this dialect. Other groups are returned unchanged. */
  group(canonical: string): string;
  /** A label, annotation, finalizer or type of the service: `metadata.name` → `orch.io/metadata.name`. */
  key(name: string): string;
  /** A key under a subdomain of the service: (`pod-security`, `enforce`) → `pod-security.orch.io/enforce`. */
  subkey(subdomain: string, name: string): string;
  /** An annotation under the group suffix: `initial-events-end`. */
  systemKey(name: string): string;
  /** A schema extension: `list-type` → `x-orch-list-type`. */
  extension(name: string): string;
  /** A vendor media type: `protobuf` → `application/vnd.orch.protobuf`. */
  mediaType(name: string): string;
  /** The name of a type in published schemas: `api.core.v1.Pod` → `io.orch.api.core.v1.Pod`. */
  definition(type: string): string;
  /** A metric with the service's prefix: `build_info` → `orch_build_info`. */
  metric(name: string): string;
}

const CANONICAL_SUFFIX = '.orch.io';

/**
 * The canonical name of a group of the service.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function serviceGroup(name: string): string {
  return `${name}${CANONICAL_SUFFIX}`;
}

/** Memoizes a function. Property lookups are faster with a string that is reused than with one that was just built. */
function memoized<Value>(make: (name: string) => Value): (name: string) => Value {
  const cache = new Map<string, Value>();
  return (name) => {
    let value = cache.get(name);
    if (value === undefined) {
      if (cache.size >= MAX_CACHED) cache.clear();
      value = make(name);
      cache.set(name, value);
    }
    return value;
  };
}

/** More than there are names in the library. */
const MAX_CACHED = 500;

interface DialectTokens {
  readonly group: string;
  readonly key: string;
  readonly vendor: string;
  readonly rules: DialectRules;
}

function defineDialect(name: DialectName, tokens: DialectTokens): Dialect {
  const subdomainKeys = memoized((subdomain) => memoized((key) => `${subdomain}.${tokens.key}/${key}`));
  return {
    name,
    domain: tokens.key,
    rules: tokens.rules,
    group: (canonical) =>
      canonical.endsWith(CANONICAL_SUFFIX) ? canonical.slice(0, -CANONICAL_SUFFIX.length) + tokens.group : canonical,
    key: memoized((key) => `${tokens.key}/${key}`),
    subkey: (subdomain, key) => subdomainKeys(subdomain)(key),
    systemKey: (key) => `${tokens.group.slice(1)}/${key}`,
    extension: (extension) => `x-${tokens.vendor}-${extension}`,
    mediaType: (type) => `application/vnd.${tokens.vendor}.${type}`,
    definition: (type) => `${tokens.group.slice(1).split('.').reverse().join('.')}.${type}`,
    metric: (metric) => `${tokens.vendor}_${metric}`,
  };
}

/** The names of the specification; the default. */
export const orchDialect: Dialect = defineDialect('orch', {
  group: '.orch.io',
  key: 'orch.io',
  vendor: 'orch',
  rules: ORCH_RULES,
});

/** The names that unmodified kubectl and client libraries use. */
export const kubernetesDialect: Dialect = defineDialect('kubernetes', {
  group: '.k8s.io',
  key: 'kubernetes.io',
  vendor: 'kubernetes',
  rules: KUBERNETES_RULES,
});

export const dialects: readonly Dialect[] = [orchDialect, kubernetesDialect];

export function dialectNamed(name: DialectName): Dialect {
  if (name === 'orch') return orchDialect;
  if (name === 'kubernetes') return kubernetesDialect;
  throw new TypeError(`orchplane: there is no dialect "${String(name)}"; there are orch and kubernetes`);
}

/** The name of the service in messages; the same in both dialects. */
export const SERVICE_NAME = 'Kubernetes';

/** The name of the control plane's Service and of the default ServiceCIDR. */
export const DEFAULT_SERVICE = 'kubernetes';

/** The field manager of objects that the server creates; the same in both dialects. */
export const SERVER_MANAGER = 'kube-apiserver';

/**
 * The finalizer in every namespace's `spec.finalizers`. Besides the two of the garbage collector it is the only finalizer
 * name without a domain. The same in both dialects.
 */
export const NAMESPACE_FINALIZER = 'kubernetes';

/**
 * The name of a CEL library type in expressions and messages: `URL` → `kubernetes.URL`. The same in both dialects.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function expressionType(name: string): string {
  return `kubernetes.${name}`;
}

/** The scheme name in messages about custom resources: a source location of the reference server. */
export const CUSTOM_SCHEME = 'k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:725';

/** The scheme names in messages about CRDs, APIServices and all other built-in kinds. */
export const DEFINITION_SCHEME = 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55';
export const API_SERVICE_SCHEME = 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28';
export const COMMON_SCHEME = 'pkg/api/legacyscheme/scheme.go:30';

/** The scheme name in messages about DeleteOptions. */
export const OPTIONS_SCHEME = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27';
