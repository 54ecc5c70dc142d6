/**
 * WebhookClientConfig: the fields and the validation that admission webhooks and conversion webhooks share. A webhook is
 * called by URL or through a Service.
 */

import { childPath, type FieldError, invalid, keyPath, required } from '../../meta/field-error.js';
import { dns1035LabelProblems, dnsSubdomainProblems } from '../../meta/names.js';
import { stringSlice } from '../../text/go/go-text.js';
import { parseGoUrl } from '../../text/go/go-url.js';
import { append } from '../../util/arrays.js';

interface WebhookClient {
  readonly url?: string;
  readonly service?: WebhookService;
}

interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}

/** Validates a client configuration at `path`. */
export function webhookClientErrors({ url, service }: WebhookClient, path: string): FieldError[] {
  if (url !== undefined && service === undefined) return webhookUrlErrors(url, childPath(path, 'url'));
  if (service !== undefined && url === undefined) return webhookServiceErrors(service, childPath(path, 'service'));
  return [required(path, 'exactly one of url or service is required')];
}

const URL_FORMAT = '; desired format: https://host[/path]';

function webhookUrlErrors(url: string, path: string): FieldError[] {
  const { url: parsed, problem } = parseGoUrl(url);
  if (problem !== undefined) return [required(path, `url must be a valid URL: ${problem}${URL_FORMAT}`)];
  const found: FieldError[] = [];
  const { scheme, host, user, fragment, rawQuery } = parsed;
  if (scheme !== 'https') found.push(invalid(path, scheme, `'https' is the only allowed URL scheme${URL_FORMAT}`));
  if (host === '') found.push(invalid(path, host, `host must be specified${URL_FORMAT}`));
  if (user !== undefined) found.push(invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment !== '') found.push(invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (rawQuery !== '') found.push(invalid(path, rawQuery, 'query parameters are not permitted in the URL'));
  return found;
}

const MAX_PORT = 65_535;

function webhookServiceErrors({ namespace, name, path, port = 0 }: WebhookService, at: string): FieldError[] {
  const found: FieldError[] = [];
  // The reference server swaps the two: a missing namespace is reported as a missing name.
  if (namespace === '') found.push(required(`${at}.name`, 'service name is required'));
  if (name === '') found.push(required(`${at}.namespace`, 'service namespace is required'));
  if (port < 1 || port > MAX_PORT) {
    found.push(invalid(`${at}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  return path === undefined ? found : [...found, ...servicePathErrors(path, `${at}.path`)];
}

function servicePathErrors(path: string, at: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalid(at, path, 'segment[0] may not be empty')];
  const found = path.startsWith('/') ? [] : [invalid(at, path, "must start with a '/'")];
  // The reference server skips the first byte. A character of several bytes leaves an invalid segment.
  const inner = path.charCodeAt(0) < 0x80 ? path.slice(1) : path;
  const segments = (inner.endsWith('/') ? inner.slice(0, -1) : inner).split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '') found.push(invalid(at, path, `segment[${index}] may not be empty`));
    else
      append(
        found,
        dnsSubdomainProblems(segment).map((problem) => invalid(at, path, `segment[${index}]: ${problem}`)),
      );
  }
  return found;
}

/** The AdmissionReview and ConversionReview versions that the server can send. */
export const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/** Validates the review versions of a webhook. The caller has already checked that the list is not empty. */
export function reviewVersionErrors(versions: readonly string[], path: string): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    const at = keyPath(path, index);
    if (seen.has(version)) found.push(invalid(at, version, 'duplicate version'));
    else
      append(
        found,
        dns1035LabelProblems(version).map((detail) => invalid(at, version, detail)),
      );
    seen.add(version);
  }
  if (!REVIEW_VERSIONS.some((version) => seen.has(version))) {
    found.push(invalid(path, stringSlice(versions), `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return found;
}
