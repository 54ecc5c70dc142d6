/**
 * The files that kubelet writes for every container: names and addresses.
 * upstream: pkg/kubelet/kubelet_pods.go ensureHostsFile, pkg/kubelet/network/dns/dns.go
 */
import type { StoredPod } from '../../controllers/workloads/pod-state.js';

/** The domain of cluster DNS. */
export const CLUSTER_DOMAIN = 'cluster.local';
/** The address of cluster DNS in `/etc/resolv.conf`; nothing answers there, because names are resolved by the runtime. */
const DNS_ADDRESS = '10.0.0.10';

export function systemFilesOf(pod: StoredPod, podIP: string): Readonly<Record<string, Uint8Array>> {
  const hostname = hostnameOf(pod);
  const encoder = new TextEncoder();
  return {
    '/etc/hostname': encoder.encode(`${hostname}\n`),
    '/etc/hosts': encoder.encode(hostsFile(pod, podIP, hostname)),
    '/etc/resolv.conf': encoder.encode(resolvFile(pod)),
  };
}

/** The hostname of a pod: at most 63 characters. */
export function hostnameOf({ metadata, spec }: StoredPod): string {
  let name = (spec.hostname ?? metadata.name).slice(0, 63);
  while (name.endsWith('-') || name.endsWith('.')) name = name.slice(0, -1);
  return name;
}

function hostsFile({ metadata, spec }: StoredPod, podIP: string, hostname: string): string {
  const { subdomain = '', hostAliases = [], hostNetwork = false } = spec;
  const fullName = subdomain === '' ? '' : `${hostname}.${subdomain}.${metadata.namespace}.svc.${CLUSTER_DOMAIN}\t`;
  const lines = [
    hostNetwork ? '# Kubernetes-managed hosts file (host network).' : '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    `${podIP}\t${fullName}${hostname}`,
  ];
  if (hostAliases.length > 0) lines.push('', '# Entries added by HostAliases.');
  for (const { ip, hostnames = [] } of hostAliases) lines.push(`${ip}\t${hostnames.join('\t')}`);
  return `${lines.join('\n')}\n`;
}

function resolvFile({ metadata, spec }: StoredPod): string {
  const { dnsPolicy = 'ClusterFirst', dnsConfig = {} } = spec;
  const isCluster = dnsPolicy.startsWith('ClusterFirst');
  const zones = [`${metadata.namespace}.svc.${CLUSTER_DOMAIN}`, `svc.${CLUSTER_DOMAIN}`, CLUSTER_DOMAIN];
  const searches = [...(isCluster ? zones : []), ...(dnsConfig.searches ?? [])];
  const servers = [...(isCluster ? [DNS_ADDRESS] : []), ...(dnsConfig.nameservers ?? [])];
  const given = (dnsConfig.options ?? []).map(({ name = '', value }) =>
    value === undefined ? name : `${name}:${value}`,
  );
  const hasNdots = given.some((option) => option.startsWith('ndots:'));
  const options = [...(isCluster && !hasNdots ? ['ndots:5'] : []), ...given];
  const lines = [
    ...(searches.length === 0 ? [] : [`search ${searches.join(' ')}`]),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length === 0 ? [] : [`options ${options.join(' ')}`]),
  ];
  return `${lines.join('\n')}\n`;
}
