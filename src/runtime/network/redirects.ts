/**
 * Redirects, as the platform's `fetch` follows them.
 */

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const MAX_REDIRECTS = 20;

export interface RedirectRules {
  readonly maxRedirects?: number;
  /** Whether a redirect is followed; otherwise it is the response. Absent: all are. */
  readonly follows?: (url: URL) => boolean;
}

/** Sends a request, and the requests that redirects ask for. Rejects with TypeError as the request's `redirect` demands. */
export async function followRedirects(
  request: Request,
  send: (request: Request) => Promise<Response>,
  { maxRedirects = MAX_REDIRECTS, follows = () => true }: RedirectRules = {},
): Promise<Response> {
  let next = request;
  for (let count = 0; ; count++) {
    const response = await send(next);
    // Not all platforms have `body` of requests.
    const hasBody = next.bodyUsed || next.body != null;
    const location = response.headers.get('location');
    if (!REDIRECTS.includes(response.status) || location === null || next.redirect === 'manual') return response;
    const url = new URL(location, next.url);
    if (!follows(url)) return response;
    await response.body?.cancel();
    if (next.redirect === 'error') throw failed('unexpected redirect');
    if (count === maxRedirects) throw failed('redirect count exceeded');
    next = redirected(next, url, { status: response.status, hasBody });
  }
}

function redirected(
  request: Request,
  url: URL,
  { status, hasBody }: { readonly status: number; readonly hasBody: boolean },
): Request {
  const isPost = request.method === 'POST';
  const becomesGet = status === 303 ? request.method !== 'HEAD' : isPost && status < 303;
  // The first request has consumed the stream.
  if (hasBody && !becomesGet) throw failed('a redirect needs the body again');
  const headers = new Headers(request.headers);
  if (becomesGet) for (const name of CONTENT_HEADERS) headers.delete(name);
  if (new URL(request.url).origin !== url.origin) for (const name of CREDENTIALS) headers.delete(name);
  const { redirect, signal } = request;
  return new Request(url, { method: becomesGet ? 'GET' : request.method, headers, redirect, signal });
}

const CONTENT_HEADERS = ['content-encoding', 'content-language', 'content-length', 'content-location', 'content-type'];
const CREDENTIALS = ['authorization', 'cookie', 'host', 'proxy-authorization'];

function failed(reason: string): TypeError {
  return new TypeError('fetch failed', { cause: new Error(reason) });
}
