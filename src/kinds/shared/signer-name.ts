/**
 * Validation of certificate signer names and ClusterTrustBundle names. CertificateSigningRequests, ClusterTrustBundles
 * and projected volumes share these rules.
 */

import { type FieldError, invalid, required, tooLong } from '../../meta/field-error.js';
import { byteLength, dnsLabelProblems, dnsSubdomainProblems } from '../../meta/names.js';
import { quote } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';

const MAX_DOMAIN = 253;
/** A domain, a slash, a label, a dot and a subdomain. */
const MAX_NAME = MAX_DOMAIN + 1 + 63 + 1 + 253;

/** Validates a name of the form `example.com/signer-name`. */
export function signerNameProblems(path: string, name: string): FieldError[] {
  if (name === '') return [required(path)];
  const [domain = '', rest, ...more] = name.split('/');
  if (rest === undefined || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(path, name, detail)];
  }
  const found = byteLength(domain) > MAX_DOMAIN ? [tooLong(path, MAX_DOMAIN)] : [];
  const labels = domain.split('.');
  append(found, firstBadLabel(path, labels, dnsLabelProblems));
  if (labels.length < 2) {
    found.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'));
  }
  append(found, firstBadLabel(path, rest.split('.'), dnsSubdomainProblems));
  if (byteLength(name) > MAX_NAME) found.push(tooLong(path, MAX_NAME));
  return found;
}

/** The problems of the first invalid label. Only one label is reported, as in the reference server. */
function firstBadLabel(
  path: string,
  labels: readonly string[],
  rule: (label: string) => readonly string[],
): FieldError[] {
  const bad = labels.find((label) => rule(label).length > 0);
  if (bad === undefined) return [];
  return rule(bad).map((problem) => invalid(path, labels.join('.'), `validating label ${quote(bad)}: ${problem}`));
}

/** Validates the name of a bundle: a bundle with a signer has the signer's name as prefix. An empty `signerName` means no signer. */
export function trustBundleNameProblems(name: string, signerName: string): readonly string[] {
  if (signerName === '') {
    if (name.includes(':')) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
    return dnsSubdomainProblems(name);
  }
  const prefix = `${signerName.replaceAll('/', ':')}:`;
  if (!name.startsWith(prefix)) {
    return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
  }
  return dnsSubdomainProblems(name.slice(prefix.length));
}
