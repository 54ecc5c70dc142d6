/**
 * The field manager of requests that name none. spec: Parameters, Server-side apply
 */
import { MAX_MANAGER_BYTES } from '../kinds/shared/metadata-errors.js';
import { byteLength } from '../meta/names.js';
import type { ApiRequest } from '../protocol/request.js';
import { isPrintable } from '../text/go/go-text.js';
import { copyText } from '../util/copy-text.js';

/** The manager of requests in process that name none. */
const IN_PROCESS = 'orchplane';

export function managerOf({ options, userAgent }: ApiRequest): string {
  // The manager is stored, and must not keep the URL in memory.
  if (options.fieldManager) return copyText(options.fieldManager);
  return (userAgent === undefined ? IN_PROCESS : programOf(userAgent)) || 'unknown';
}

/** The first part of a User-Agent, cut to printable characters and the maximum length. */
function programOf(userAgent: string): string {
  const end = userAgent.indexOf('/');
  const program = end < 0 ? userAgent : userAgent.slice(0, end);
  let name = '';
  let bytes = 0;
  for (const character of program) {
    if (!isPrintable(character)) continue;
    bytes += byteLength(character);
    if (bytes > MAX_MANAGER_BYTES) break;
    name += character;
  }
  return name;
}
