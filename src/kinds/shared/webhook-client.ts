/**
 * Where a webhook is called: by URL or through a Service. The rules that admission webhooks and conversion webhooks
 * share, with the reference server's reading of URLs.
 */
import type { FieldError } from '../../meta/field-error.js';
import { childPath, invalid, required } from '../../meta/field-error.js';
import { quote } from '../../meta/go-text.js';
import { dnsSubdomainProblems } from '../../meta/names.js';

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

/** What is wrong with a client configuration at `path`. */
export function webhookClientErrors({ url, service }: WebhookClient, path: string): FieldError[] {
  if (url !== undefined && service === undefined) return webhookUrlErrors(url, childPath(path, 'url'));
  if (service !== undefined && url === undefined) return webhookServiceErrors(service, childPath(path, 'service'));
  return [required(path, 'exactly one of url or service is required')];
}

const FORM = '; desired format: https://host[/path]';

function webhookUrlErrors(url: string, path: string): FieldError[] {
  const parsed = parseUrl(url);
  if (typeof parsed === 'string') {
    return [required(path, `url must be a valid URL: parse ${quote(url)}: ${parsed}${FORM}`)];
  }
  const found: FieldError[] = [];
  const { scheme, host, user, fragment, query } = parsed;
  if (scheme !== 'https') found.push(invalid(path, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (host === '') found.push(invalid(path, host, `host must be specified${FORM}`));
  if (user !== undefined) found.push(invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment !== '') found.push(invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') found.push(invalid(path, query, 'query parameters are not permitted in the URL'));
  return found;
}

interface ParsedUrl {
  readonly scheme: string;
  readonly host: string;
  readonly user?: string;
  readonly query: string;
  readonly fragment: string;
}

/** The parts of a URL, or why it is none. */
function parseUrl(url: string): ParsedUrl | string {
  const [start, fragment] = cut(url, '#');
  if (hasControlCharacter(start)) return 'net/url: invalid control character in URL';
  if (start.startsWith(':')) return 'missing protocol scheme';
  const scheme = /^([a-zA-Z][-a-zA-Z0-9+.]*):/.exec(start)?.[1];
  const afterScheme = scheme === undefined ? start : start.slice(scheme.length + 1);
  const [rest, query] = cut(afterScheme, '?');
  const parts = { scheme: scheme?.toLowerCase() ?? '', query, fragment };
  if (!rest.startsWith('/')) {
    if (scheme !== undefined) return { ...parts, host: '' };
    if (cut(rest, '/')[0].includes(':')) return 'first path segment in URL cannot contain colon';
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== undefined || !rest.startsWith('///'));
  const [authority] = hasAuthority ? cut(rest.slice(2), '/') : [''];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const problem = hostProblem(host) ?? escapeProblem(hasAuthority ? rest.slice(2 + authority.length) : rest);
  if (problem !== undefined) return problem;
  return { ...parts, host, ...(at < 0 ? {} : { user: authority.slice(0, at) }) };
}

function hasControlCharacter(text: string): boolean {
  return [...text].some((character) => character < ' ' || character === '\u007f');
}

function hostProblem(host: string): string | undefined {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    return end < 0 ? "missing ']' in host" : portProblem(host.slice(end + 1));
  }
  const colon = host.indexOf(':');
  if (colon >= 0) return portProblem(host.slice(host.lastIndexOf(':')));
  const bad = /[ "<>^`{|}\\]/.exec(host)?.[0];
  if (bad !== undefined) return `invalid character ${quote(bad)} in host name`;
  return escapeProblem(host);
}

function portProblem(port: string): string | undefined {
  return port === '' || /^:[0-9]*$/.test(port) ? undefined : `invalid port ${quote(port)} after host`;
}

function escapeProblem(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${quote(bad)}`;
}

function cut(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}

const MAX_PORT = 65_535;

function webhookServiceErrors({ namespace, name, path, port = 0 }: WebhookService, at: string): FieldError[] {
  const found: FieldError[] = [];
  // The reference server mixes the two up: a missing namespace is reported as a missing name.
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
  const inner = path.slice(1);
  const steps = (inner.endsWith('/') ? inner.slice(0, -1) : inner).split('/');
  for (const [index, step] of steps.entries()) {
    if (step === '') found.push(invalid(at, path, `segment[${index}] may not be empty`));
    else found.push(...dnsSubdomainProblems(step).map((why) => invalid(at, path, `segment[${index}]: ${why}`)));
  }
  return found;
}
