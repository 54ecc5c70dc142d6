/**
 * `url`, `isURL` and the parts of a URL.
 */
import { expressionType } from '../../meta/dialect.js';
import { type GoUrl, parseGoUrl, requestUrlProblem } from '../../text/go/go-url.js';
import { ArrayList, EntryMap } from '../evaluate/views.js';
import type { Library } from '../library.js';
import { BOOL, listOf, mapOf, objectType, STRING } from '../types.js';
import { CelError, type CelMap, CelOpaque, type CelValue } from '../values.js';
import { declare, global, instanceOf, member, textOf } from './declare.js';

export const URL_TYPE = objectType(expressionType('URL'));

export class CelUrl extends CelOpaque {
  readonly type = URL_TYPE;
  override readonly referenceClass = 'cel.URL';
  #text: string | undefined;
  #query: CelMap | undefined;
  constructor(readonly url: GoUrl) {
    super();
  }
  /** Made once: what is asked for at the price of one step may be long. */
  get text(): string {
    this.#text ??= this.url.toString();
    return this.#text;
  }
  get query(): CelMap {
    this.#query ??= toMap(this.url.query());
    return this.#query;
  }
  equals(other: CelValue): boolean {
    return instanceOf(CelUrl, other).text === this.text;
  }
}

export const URLS: Library = {
  name: 'urls',
  functions: [
    declare(
      'url',
      global('string_to_url', [STRING], URL_TYPE, (text) => toUrl(textOf(text))),
    ),
    declare(
      'isURL',
      global('is_url_string', [STRING], BOOL, (text) => requestUrlProblem(textOf(text)) === undefined),
    ),
    textPart('getScheme', 'url_get_scheme', (url) => url.scheme),
    textPart('getHost', 'url_get_host', (url) => url.host),
    textPart('getHostname', 'url_get_hostname', (url) => url.hostname),
    textPart('getPort', 'url_get_port', (url) => url.port),
    textPart('getEscapedPath', 'url_get_escaped_path', (url) => url.escapedPath),
    declare(
      'getQuery',
      member('url_get_query', [URL_TYPE], mapOf(STRING, listOf(STRING)), (url) => instanceOf(CelUrl, url).query),
    ),
  ],
};

function textPart(name: string, id: string, part: (url: GoUrl) => string) {
  const call = (url?: CelValue) => part(instanceOf(CelUrl, url).url);
  return declare(name, member(id, [URL_TYPE], STRING, call));
}

/** Only absolute URLs and paths are taken; read again, because a fragment is part of the path to a request. */
function toUrl(text: string): CelUrl {
  const problem = requestUrlProblem(text);
  const parsed = problem === undefined ? parseGoUrl(text) : { problem };
  if (parsed.problem !== undefined) {
    throw new CelError(`URL parse error during conversion from string: ${parsed.problem}`);
  }
  return new CelUrl(parsed.url);
}

function toMap(query: ReadonlyMap<string, readonly string[]>): EntryMap {
  return new EntryMap([...query].map(([key, values]) => [key, new ArrayList(values)]));
}
