/**
 * What a listener tells the cluster about itself: the address in the endpoints of the API server's Service, and the CA of
 * client certificates for aggregated API servers.
 */
import { X509Certificate } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { RequestHeaderOptions } from '../auth/request-header.js';
import type { ConfigData, ServerListener } from '../kinds/reconciler.js';
import { IN_PROCESS } from '../kinds/shared/control-plane/endpoints.js';
import { specialIpProblems } from '../meta/ip.js';
import { readCertificate } from '../text/x509/certificate.js';
import { pemBlocks } from '../text/x509/pem.js';
import { recoverFrom } from '../util/catch-error.js';
import { systemClock } from '../util/clock.js';

/** How a listener authenticates clients with certificates. */
export interface Trust {
  /** The CA certificates of users, in PEM format. */
  readonly clientCa?: string | undefined;
  /** The authenticating proxies. */
  readonly requestHeader?: RequestHeaderOptions | undefined;
}

export function advertisedListener(host: string, port: number, trust: Trust): ServerListener {
  const isEmpty = trust.clientCa === undefined && trust.requestHeader === undefined;
  const authenticationData = (present: ConfigData): ConfigData => withTrust(present, trust);
  return { address: advertisedAddress(host), port, ...(isEmpty ? {} : { authenticationData }) };
}

/**
 * An endpoint cannot be a loopback or a wildcard address. As the reference server, it is then an address of this machine,
 * of the same family if there is one. upstream: apimachinery/pkg/util/net/interface.go ResolveBindAddress
 */
function advertisedAddress(host: string): string {
  if (isIP(host) !== 0 && isAllowed(host)) return host;
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, address }) => !internal && isAllowed(address));
  const family = isIPv6(host) ? 'IPv6' : 'IPv4';
  return (own.find((one) => one.family === family) ?? own[0])?.address ?? IN_PROCESS.address;
}

function isAllowed(address: string): boolean {
  return specialIpProblems(address).length === 0;
}

const CLIENT_CA = 'client-ca-file';
const PROXY_CA = 'requestheader-client-ca-file';

/** The lists of the proxies, in the order of the reference server. Only that of UIDs is omitted when it is empty. */
const PROXY_LISTS = {
  'requestheader-allowed-names': 'allowedNames',
  'requestheader-extra-headers-prefix': 'extraHeadersPrefix',
  'requestheader-group-headers': 'groupHeaders',
  'requestheader-uid-headers': 'uidHeaders',
  'requestheader-username-headers': 'usernameHeaders',
} as const satisfies Record<string, keyof RequestHeaderOptions>;
const UID_LIST = 'requestheader-uid-headers';

/**
 * Adds the certificates and names to those of other servers. Present data that is unreadable stays as it is, as in the
 * reference server.
 */
function withTrust(present: ConfigData, { clientCa, requestHeader }: Trust): ConfigData {
  const client = bundleOf(present[CLIENT_CA], clientCa);
  const proxy = bundleOf(present[PROXY_CA], requestHeader?.ca);
  const lists = Object.entries(PROXY_LISTS).map(([key, option]) => {
    const before = namesIn(present[key]);
    return [key, before && [...new Set([...before, ...(requestHeader?.[option] ?? [])])]] as const;
  });
  if (client === undefined || proxy === undefined || lists.some(([, names]) => names === undefined)) return present;
  const proxyData = lists
    .filter(([key, names]) => key !== UID_LIST || names?.length !== 0)
    .map(([key, names]) => [key, JSON.stringify(names)]);
  return {
    ...(client === '' ? {} : { [CLIENT_CA]: client }),
    ...(proxy === '' ? {} : { ...Object.fromEntries(proxyData), [PROXY_CA]: proxy }),
  };
}

/** The certificates of both that have not expired, each once; undefined if one is unreadable. */
function bundleOf(present = '', more = ''): string | undefined {
  const texts = [present, more].filter((text) => text !== '').map(certificateBlocks);
  if (texts.some((blocks) => blocks.length === 0 || blocks.some((bytes) => readCertificate(bytes) === undefined))) {
    return undefined;
  }
  const certificates = texts.flat().map((bytes) => new X509Certificate(bytes));
  const valid = certificates.filter(({ validTo }) => Date.parse(validTo) >= systemClock.now());
  return [...new Set(valid.map((certificate) => certificate.toString()))].join('');
}

function certificateBlocks(text: string): readonly Uint8Array[] {
  return pemBlocks(text)
    .filter(({ type, headers }) => type === 'CERTIFICATE' && headers.size === 0)
    .map(({ bytes }) => bytes);
}

/** The names in a JSON list; undefined if it is none. */
function namesIn(text = ''): readonly string[] | undefined {
  if (text === '') return [];
  const read = (): unknown => JSON.parse(text);
  const value = recoverFrom(SyntaxError, read, () => undefined);
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : undefined;
}
