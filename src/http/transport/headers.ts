/**
 * The headers of a request: what is sent and wanted, who sends it, and on whose behalf.
 */
import { errors } from '../../meta/errors.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { toBytes } from '../header-bytes.js';

export interface HeaderParts {
  /** The platform's own fetch sends repeated headers as one, and nobody could tell several groups from one. */
  readonly joinsHeaders?: boolean;
  /** Of the transport's options; what a request itself has to say goes before them. */
  readonly fixed: Headers;
  readonly userAgent: string;
  readonly token: string | undefined;
  readonly contentType: string | undefined;
  readonly user: User | undefined;
}

/** Throws BadRequest for a user whose name no header can carry. */
export function headersOf({ fixed, userAgent, token, contentType, user, joinsHeaders }: HeaderParts): Headers {
  const headers = new Headers(fixed);
  headers.set('Accept', 'application/json');
  headers.set('User-Agent', userAgent);
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  if (contentType !== undefined) headers.set('Content-Type', contentType);
  if (user !== undefined) {
    if (joinsHeaders === true) requireSingle(user);
    impersonate(headers, user);
  }
  return headers;
}

/** The server acts as somebody else, if it lets the sender do so. */
function impersonate(headers: Headers, { user, uid, groups = [], extra = {} }: User): void {
  append(headers, 'Impersonate-User', user);
  if (uid !== undefined) append(headers, 'Impersonate-Uid', uid);
  for (const group of groups) append(headers, 'Impersonate-Group', group);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) append(headers, `Impersonate-Extra-${escapeKey(key)}`, value);
  }
}

function requireSingle({ groups = [], extra = {} }: User): void {
  if (groups.length <= 1 && Object.values(extra).every((values) => values.length <= 1)) return;
  throw errors.badRequest(
    'fetch of this platform cannot send more than one group, or more than one value of an extra, to be acted as: use kubeconfigTransport of orchplane/node, or one group',
  );
}

function append(headers: Headers, name: string, value: string): void {
  if (/\p{Cc}/u.test(value)) throw errors.badRequest(`no header ${name} can carry ${quote(value)}`);
  headers.append(name, toBytes(value));
}

/** What a header's name cannot hold, and the sign of the escape itself, as escapes. */
function escapeKey(key: string): string {
  return toBytes(key).replace(
    /[^!#$&'*+\-.^_`|~0-9A-Za-z]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
