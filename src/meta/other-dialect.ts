/**
 * Names of the service in the spelling of the other dialect. They are valid names, but nothing here gives them a meaning:
 * a namespace with `pod-security.kubernetes.io/enforce` accepts privileged pods in a cluster of the dialect orch.
 */
import { type Dialect, dialects } from './dialect.js';

/** The names that the server or a controller interprets below the domain itself: `kubernetes.io/tls`. */
const KEYS: ReadonlySet<string> = new Set([
  'arch',
  'basic-auth',
  'bootstrapping',
  'config.mirror',
  'description',
  'dockercfg',
  'dockerconfigjson',
  'enforce-mountable-secrets',
  'hostname',
  'ingress.class',
  'initial-events-list-blueprint',
  'job-controller',
  'kube-apiserver-client',
  'kube-apiserver-client-kubelet',
  'kubelet-serving',
  'legacy-token-invalid-since',
  'legacy-token-last-used',
  'legacy-unknown',
  'limit-ranger',
  'metadata.name',
  'os',
  'pv-protection',
  'pvc-protection',
  'service-account-token',
  'service-account.name',
  'service-account.uid',
  'service-name',
  'serviceaccount',
  'ssh-auth',
  'tls',
]);

/**
 * Subdomains whose names the server or a controller interprets: `pod-security.kubernetes.io/enforce`. Names below `app` are
 * conventions of users.
 */
const SUBDOMAINS: ReadonlySet<string> = new Set([
  'apf',
  'api-approved',
  'apps',
  'authentication',
  'autoscaling.alpha',
  'batch',
  'beta',
  'bootstrap',
  'container.apparmor.security.beta',
  'container.seccomp.security.alpha',
  'control-plane.alpha',
  'controller',
  'deployment',
  'endpoints',
  'endpointslice',
  'failure-domain.beta',
  'ingressclass',
  'ipaddress',
  'kube-aggregator',
  'kubectl',
  'node',
  'node-restriction',
  'node-role',
  'node.alpha',
  'non-convertible',
  'pdb',
  'pod-security',
  'pv',
  'rbac.authorization',
  'resource',
  'scheduler.alpha',
  'seccomp.security.alpha',
  'security.alpha',
  'service',
  'service.beta',
  'statefulset',
  'storageclass',
  'storageclass.beta',
  'topology',
  'volume',
  'volume.alpha',
  'volume.beta',
  'volumes',
]);

/** Longer texts are no names: 253 characters of a domain, a slash, 63 of a name. */
const MAX_LENGTH = 317;

/**
 * Returns a function that gives the spelling in a dialect of a name in the other one; undefined for all other texts.
 * `groups` are canonical names of groups.
 */
export function translatorTo(dialect: Dialect, groups: Iterable<string>): (text: string) => string | undefined {
  const other = dialects.find((each) => each !== dialect) ?? dialect;
  const groupNames = new Map<string, string>();
  for (const group of groups) {
    if (other.group(group) !== dialect.group(group)) groupNames.set(other.group(group), dialect.group(group));
  }
  const suffix = `.${other.domain}`;
  return (text) => {
    if (text.length > MAX_LENGTH || !text.includes('.io')) return undefined;
    const slash = text.indexOf('/');
    const domain = slash < 0 ? text : text.slice(0, slash);
    const rest = slash < 0 ? '' : text.slice(slash);
    const name = rest.slice(1);
    if (domain === other.domain) return KEYS.has(name) ? dialect.key(name) : undefined;
    if (domain.endsWith(suffix)) {
      const subdomain = domain.slice(0, -suffix.length);
      if (SUBDOMAINS.has(subdomain)) return `${subdomain}.${dialect.domain}${rest}`;
    }
    const group = groupNames.get(domain);
    return group === undefined ? undefined : group + rest;
  };
}
