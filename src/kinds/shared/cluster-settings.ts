/**
 * Settings of the server that kinds depend on. The reference server has flags for them.
 */
import { type Cidr, cidrSize, type IpFamily, parseCidrSloppy, printCidr, printIp } from '../../meta/ip.js';

export interface ClusterSettings {
  /** The ranges of cluster IPs, one for each family; the first family is the default. */
  readonly serviceCidrs: readonly string[];
  /** The families of the ranges. */
  readonly serviceFamilies: readonly IpFamily[];
  /** The cluster IP of the control plane's Service: the first address of the first range. */
  readonly controlPlaneIP: string;
  /** Whether containers may be privileged. */
  readonly allowPrivileged: boolean;
}

/** The options of a cluster that are settings. */
export interface SettingsOptions {
  readonly serviceCidrs?: readonly string[] | undefined;
  readonly allowPrivileged?: boolean | undefined;
}

export const DEFAULT_SETTINGS: ClusterSettings = Object.freeze({
  serviceCidrs: Object.freeze(['10.0.0.0/16']),
  serviceFamilies: Object.freeze(['IPv4'] as const),
  controlPlaneIP: '10.0.0.1',
  allowPrivileged: true,
});

/** Throws a TypeError for invalid options. */
export function clusterSettings({ serviceCidrs, allowPrivileged = true }: SettingsOptions): ClusterSettings {
  if (serviceCidrs === undefined) return allowPrivileged ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, allowPrivileged };
  const ranges = parseRanges(serviceCidrs);
  const [{ network }] = ranges;
  return Object.freeze({
    serviceCidrs: Object.freeze(ranges.map(printCidr)),
    serviceFamilies: Object.freeze(ranges.map((range) => range.network.family)),
    controlPlaneIP: printIp({ ...network, value: network.value + 1n }),
    allowPrivileged,
  });
}

/** The limit of the reference server. */
const MIN_ADDRESSES = 8n;

function parseRanges(texts: readonly string[]): readonly [Cidr, ...Cidr[]] {
  const ranges = texts.map((text): Cidr => {
    const range = typeof text === 'string' ? parseCidrSloppy(text.trim()) : undefined;
    if (range === undefined) throw new TypeError(`orchplane: serviceCidrs: "${String(text)}" is not a CIDR`);
    if (cidrSize(range) < MIN_ADDRESSES) {
      throw new TypeError(`orchplane: serviceCidrs: ${text} must have at least ${MIN_ADDRESSES} IP addresses`);
    }
    if (range.network.family === 'IPv6' && range.prefix < 64) {
      throw new TypeError(`orchplane: serviceCidrs: the prefix of ${text} must have at least 64 bits`);
    }
    return range;
  });
  const [first, second, ...others] = ranges;
  if (first === undefined || others.length > 0) {
    throw new TypeError('orchplane: serviceCidrs takes one or two CIDRs');
  }
  if (second !== undefined && second.network.family === first.network.family) {
    throw new TypeError('orchplane: serviceCidrs: two CIDRs must be of different IP families');
  }
  return [first, ...ranges.slice(1)];
}
