/**
 * Checks for a request URI: an absolute URI, or a path from the root. Only the host and the escapes are checked; a
 * fragment counts as part of the path. (As Go's url.ParseRequestURI.)
 */

const SCHEME = /^[a-zA-Z][-a-zA-Z0-9+.]*:/;
/** Everything but control characters. */
const VISIBLE = /^[ -~\u0080-\uffff]+$/;
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/;

export function isRequestUri(text: string): boolean {
  if (!VISIBLE.test(text) || text.startsWith(':')) return false;
  if (text === '*') return true;
  const [scheme = ''] = SCHEME.exec(text) ?? [];
  const [rest = ''] = text.slice(scheme.length).split('?', 1);
  if (!rest.startsWith('/')) return scheme !== '';
  if (scheme === '' || !rest.startsWith('//')) return !BAD_ESCAPE.test(rest);
  const end = rest.indexOf('/', 2);
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end);
  const path = end < 0 ? '' : rest.slice(end);
  return isAuthority(authority) && !BAD_ESCAPE.test(path);
}

const USER = /^[-A-Za-z0-9._:~!$&'()*+,;=%@]*$/;
const PORT = /^(:[0-9]*)?$/;
/** Characters allowed in a host, including all beyond ASCII. */
const HOST = /^[-A-Za-z0-9._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]*$/;

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : authority.slice(0, at);
  return isHost(authority.slice(at + 1)) && USER.test(user) && !BAD_ESCAPE.test(user);
}

function isHost(host: string): boolean {
  if (!host.startsWith('[')) {
    const colon = host.lastIndexOf(':');
    return (colon < 0 || PORT.test(host.slice(colon))) && isHostText(host);
  }
  const close = host.lastIndexOf(']');
  if (close < 0 || !PORT.test(host.slice(close + 1))) return false;
  const zone = host.slice(0, close).indexOf('%25');
  if (zone < 0) return isHostText(host);
  return isHostText(host.slice(0, zone)) && isZone(host.slice(zone, close)) && isHostText(host.slice(close));
}

/** In a host only the percent sign and characters beyond ASCII may be escaped. */
function isHostText(text: string): boolean {
  return HOST.test(text) && !BAD_ESCAPE.test(text) && !/%(?!25)[0-7]/.test(text);
}

/** In a zone (`%25eth0`) spaces and characters that need no escape may be escaped too. */
function isZone(text: string): boolean {
  if (!HOST.test(text) || BAD_ESCAPE.test(text)) return false;
  return [...text.matchAll(/%(..)/g)].every(([, hex = '']) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return hex === '25' || character === ' ' || /^[-A-Za-z0-9._~!$&'()*+,;=:[\]<>"]$/.test(character);
  });
}
