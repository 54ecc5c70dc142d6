/** `url`, `isURL` and the parts of a URL. */
import { expressionType } from '../../meta/dialect.js';
import { type GoUrl, parseGoUrl, requestUrlProblem } from '../../text/go/go-url.js';
import { ArrayList, EntryMap } from '../evaluate/views.js';
import type { Library } from '../library.js';
import { BOOL, listOf, mapOf, objectType, STRING } from '../types.js';
import { CelError, type CelMap, CelOpaque, type CelValue } from '../values.js';
import { asInstance, globalFunction, memberFunction } from './declare.js';

export const URL_TYPE = objectType<CelUrl>(expressionType('URL'));

export class CelUrl extends CelOpaque {
  readonly type = URL_TYPE;
  override readonly goTypeName = 'cel.URL';
  #text: string | undefined;
  #query: CelMap | undefined;
  constructor(readonly url: GoUrl) {
    super();
  }
  /** Cached: the text may be long, but reading it costs only one step. */
  get text(): string {
    this.#text ??= this.url.toString();
    return this.#text;
  }
  get query(): CelMap {
    this.#query ??= toMap(this.url.query());
    return this.#query;
  }
  equals(other: CelValue): boolean {
    return asInstance(CelUrl, other).text === this.text;
  }
}

export const URLS: Library = {
  name: 'urls',
  functions: [
    globalFunction('url', 'string_to_url', [STRING], URL_TYPE, toUrl),
    globalFunction('isURL', 'is_url_string', [STRING], BOOL, (text) => requestUrlProblem(text) === undefined),
    textPart('getScheme', 'url_get_scheme', (url) => url.scheme),
    textPart('getHost', 'url_get_host', (url) => url.host),
    textPart('getHostname', 'url_get_hostname', (url) => url.hostname),
    textPart('getPort', 'url_get_port', (url) => url.port),
    textPart('getEscapedPath', 'url_get_escaped_path', (url) => url.escapedPath),
    memberFunction('getQuery', 'url_get_query', [URL_TYPE], mapOf(STRING, listOf(STRING)), ({ query }) => query),
  ],
};

function textPart(name: string, id: string, part: (url: GoUrl) => string) {
  return memberFunction(name, id, [URL_TYPE], STRING, ({ url }) => part(url));
}

/**
 * Accepts only absolute URLs and paths. Parses the text again because Go's ParseRequestURI treats a fragment as part of
 * the path.
 */
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
