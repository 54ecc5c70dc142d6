/**
 * A large list in pieces: page after page, following the server's token. All pages show the collection at the version
 * of the first one. spec: Chunked lists
 */
import type { ApiList } from '../meta/object.js';
import type { RequestOptions } from '../protocol/request.js';
import type { Endpoint } from './endpoint.js';
import type { PagesOptions } from './options.js';
import { listOptions, selectOptions } from './request-options.js';

const PAGE_SIZE = 500;

/** The pages, each requested when it is asked for. Ends quietly on abort; throws Expired when the token is too old. */
export async function* pagesOf<Object>(
  endpoint: Endpoint,
  options: PagesOptions = {},
): AsyncGenerator<ApiList<Object>, undefined> {
  const { signal, pageSize: limit = PAGE_SIZE } = options;
  const aborted = () => signal?.aborted === true;
  let query: RequestOptions = { ...listOptions(options), limit };
  while (!aborted()) {
    let page: ApiList<Object>;
    try {
      page = await endpoint.send<ApiList<Object>>(endpoint.request('list', query, signal));
    } catch (error) {
      if (aborted()) return;
      throw error;
    }
    yield page;
    const token = page.metadata.continue;
    if (token === undefined || token === '') return;
    // No version here: the token holds it, and the server refuses a request that names it twice.
    query = { ...selectOptions(options), limit, continue: token };
  }
}

/** The items of all pages, one by one. */
export async function* itemsOf<Object>(
  endpoint: Endpoint,
  options: PagesOptions = {},
): AsyncGenerator<Object, undefined> {
  for await (const page of pagesOf<Object>(endpoint, options)) {
    for (const item of page.items) {
      if (options.signal?.aborted === true) return;
      yield item;
    }
  }
}
