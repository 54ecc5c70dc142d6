/**
 * The built-in signers and their checks of a request. The messages are the reference server's.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { SigningRequest } from './request.js';

/** Returns why a request cannot be signed; undefined if it can. */
export type Check = (request: SigningRequest, usages: readonly string[]) => string | undefined;

/** The checks by signer name. Requests to other signers are ignored. */
export function signers({ key }: Dialect): ReadonlyMap<string, Check> {
  return new Map<string, Check>([
    [key('kube-apiserver-client'), clientProblem],
    [key('kube-apiserver-client-kubelet'), kubeletClientProblem],
    [key('kubelet-serving'), kubeletServingProblem],
    [key('legacy-unknown'), () => undefined],
  ]);
}

const NODES = 'system:nodes';
const NODE_PREFIX = 'system:node:';

/** Sorted, as in messages. `key encipherment` is optional, because not all keys can encipher. */
const CLIENT_USAGES = ['client auth', 'digital signature', 'key encipherment'];
const SERVING_USAGES = ['digital signature', 'key encipherment', 'server auth'];
const OPTIONAL_USAGE = 'key encipherment';

function clientProblem(_request: SigningRequest, usages: readonly string[]): string | undefined {
  const invalid = usages.find((usage) => !CLIENT_USAGES.includes(usage));
  if (invalid !== undefined) return `invalid usage for client certificate: ${invalid}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}

export function kubeletClientProblem(request: SigningRequest, usages: readonly string[]): string | undefined {
  if (!isForNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return nameProblem(request) ?? usageProblem(usages, CLIENT_USAGES);
}

function kubeletServingProblem(request: SigningRequest, usages: readonly string[]): string | undefined {
  if (!isForNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames.length === 0 && request.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return usageProblem(usages, SERVING_USAGES) ?? nameProblem(request);
}

function isForNodes({ organizations }: SigningRequest): boolean {
  return organizations.length === 1 && organizations[0] === NODES;
}

function nameProblem({ commonName }: SigningRequest): string | undefined {
  return commonName.startsWith(NODE_PREFIX) ? undefined : 'subject common name does not begin with system:node:';
}

function usageProblem(usages: readonly string[], wanted: readonly string[]): string | undefined {
  const given = new Set(usages);
  const isEnough = wanted.every((usage) => given.has(usage) || usage === OPTIONAL_USAGE);
  const isMore = [...given].some((usage) => !wanted.includes(usage));
  return isEnough && !isMore ? undefined : `usages did not match [${wanted.join(' ')}]`;
}
