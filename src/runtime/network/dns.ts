/**
 * Cluster DNS: the records of Services, their endpoints and pods, with the search domains and host aliases of the pod that
 * asks. Answers are the ones that CoreDNS gives with the usual configuration (`pods insecure`).
 */
import type { SharedInformer } from '../../controllers/runtime/shared-informer.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import type { Namespace } from '../../kinds/core/v1/namespace.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import { parseIp, printIp } from '../../meta/ip.js';
import type { ServiceEndpoints, SliceEndpoint, StoredService } from './endpoints.js';

/** The addresses of a name, or the name outside of the cluster that it leads to. */
export type Lookup = { readonly addresses: readonly string[] } | { readonly external: string };

export interface DnsZone {
  /** `cluster.local` */
  readonly domain: string;
  readonly services: SharedInformer<typeof Service>;
  readonly namespaces: SharedInformer<typeof Namespace>;
  readonly endpoints: ServiceEndpoints;
}

/** A name is completed with the search domains first if it has fewer dots. */
const CLUSTER_NDOTS = 5;
const DEFAULT_NDOTS = 1;
/** An ExternalName may lead to another one. */
const MAX_CNAMES = 8;
const LOOPBACK: Lookup = { addresses: ['127.0.0.1'] };

interface ResolverConfig {
  /** False: only names outside of the cluster are found, as with the resolver of a node. */
  readonly isCluster: boolean;
  readonly searches: readonly string[];
  readonly ndots: number;
}

/** Looks up a name or an address for a pod; without one, for the control plane. Undefined: the name is not in the cluster. */
export function lookUp(zone: DnsZone, host: string, pod: StoredPod | undefined): Lookup | undefined {
  const ip = parseIp(host.replace(/^\[(.*)\]$/, '$1'));
  if (ip !== undefined) return { addresses: [printIp(ip)] };
  const name = host.toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK;
  const fromHosts = pod === undefined ? undefined : hostsFileEntry(zone, name, pod);
  if (fromHosts !== undefined) return fromHosts;
  const config = resolverConfig(zone, pod);
  if (!config.isCluster) return undefined;
  for (const candidate of candidates(name, config)) {
    const found = recordOf(zone, candidate, 0);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The hosts file of a pod: its host aliases and its own name. */
function hostsFileEntry({ domain }: DnsZone, name: string, pod: StoredPod): Lookup | undefined {
  const aliases = (pod.spec.hostAliases ?? []).filter(({ hostnames = [] }) => hostnames.includes(name));
  if (aliases.length > 0) return { addresses: aliases.map(({ ip }) => ip) };
  const { hostNetwork = false, hostname = pod.metadata.name, subdomain } = pod.spec;
  const ips = (pod.status.podIPs ?? []).map(({ ip }) => ip);
  if (hostNetwork || ips.length === 0) return undefined;
  const full = subdomain === undefined ? undefined : `${hostname}.${subdomain}.${pod.metadata.namespace}.svc.${domain}`;
  return name === hostname || name === full ? { addresses: ips } : undefined;
}

/** upstream: pkg/kubelet/network/dns/dns.go GetPodDNS */
function resolverConfig({ domain }: DnsZone, pod: StoredPod | undefined): ResolverConfig {
  const searches = [`svc.${domain}`, domain];
  if (pod === undefined) return { isCluster: true, searches, ndots: CLUSTER_NDOTS };
  const { dnsPolicy, dnsConfig, hostNetwork = false } = pod.spec;
  const own = dnsConfig?.searches ?? [];
  // Of a repeated option, the last one counts.
  const option = dnsConfig?.options?.findLast(({ name }) => name === 'ndots')?.value;
  const ndots = option === undefined ? undefined : Number(option);
  // Its name servers are those of the cluster: there are no others.
  if (dnsPolicy === 'None') return { isCluster: true, searches: own, ndots: ndots ?? DEFAULT_NDOTS };
  const isCluster = dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
  const namespace = `${pod.metadata.namespace}.svc.${domain}`;
  return { isCluster, searches: [namespace, ...searches, ...own], ndots: ndots ?? CLUSTER_NDOTS };
}

/** The complete names to try, in order. */
function candidates(name: string, { searches, ndots }: ResolverConfig): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = searches.map((domain) => `${name}.${domain.toLowerCase().replace(/\.$/, '')}`);
  return name.split('.').length - 1 >= ndots ? [name, ...searched] : [...searched, name];
}

/** The record of a complete name. */
function recordOf(zone: DnsZone, name: string, depth: number): Lookup | undefined {
  const suffix = `.${zone.domain}`;
  if (!name.endsWith(suffix) || depth > MAX_CNAMES) return undefined;
  const labels = name.slice(0, -suffix.length).split('.');
  const [type, namespace = '', service = '', endpoint, ...rest] = labels.reverse();
  if (rest.length > 0) return undefined;
  if (type === 'pod') return endpoint === undefined ? podRecord(zone, namespace, service) : undefined;
  const found = type === 'svc' ? zone.services.get(service, namespace) : undefined;
  if (found === undefined) return undefined;
  return endpoint === undefined ? serviceRecord(zone, found, depth) : endpointRecord(zone, found, endpoint);
}

function serviceRecord(zone: DnsZone, service: StoredService, depth: number): Lookup | undefined {
  const { type, externalName = '', clusterIP, clusterIPs = [] } = service.spec;
  if (type === 'ExternalName') {
    const target = externalName.toLowerCase().replace(/\.$/, '');
    const isInside = target.endsWith(`.${zone.domain}`);
    return isInside ? recordOf(zone, target, depth + 1) : { external: target };
  }
  if (clusterIP !== 'None') return clusterIPs.length === 0 ? undefined : { addresses: clusterIPs };
  // Endpoints that are published before they are ready have the condition too.
  return addressesOf(zone.endpoints.ready(service));
}

/** The endpoints with a hostname; those without are named after their address: `10-1-2-3`. */
function endpointRecord(zone: DnsZone, service: StoredService, name: string): Lookup | undefined {
  return addressesOf(
    zone.endpoints
      .ready(service)
      .filter(({ hostname, addresses: [address = ''] }) => (hostname ?? address.replace(/[.:]/g, '-')) === name),
  );
}

function addressesOf(endpoints: readonly SliceEndpoint[]): Lookup | undefined {
  const addresses = [...new Set(endpoints.flatMap((endpoint) => endpoint.addresses.slice(0, 1)))];
  return addresses.length === 0 ? undefined : { addresses };
}

/** `10-1-2-3.team.pod`: any address, in a namespace that exists. */
function podRecord({ namespaces }: DnsZone, namespace: string, dashed: string): Lookup | undefined {
  const ip = parseIp(dashed.replaceAll('-', '.')) ?? parseIp(dashed.replaceAll('-', ':'));
  return ip === undefined || namespaces.get(namespace) === undefined ? undefined : { addresses: [printIp(ip)] };
}
