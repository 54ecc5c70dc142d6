/**
 * The target of a request line → a URL. The path is kept as the client wrote it: to resolve `..` or to fold slashes, as
 * URL does, would address something else than the reference server does.
 */

/** Path and query of a target, beginning with a slash; undefined when it addresses nothing on this server. */
export function pathOfTarget(target: string): string | undefined {
  const path = target.startsWith('/') ? target : pathOfAbsolute(target);
  // There are no fragments in requests, so this is a character of the path; in a URL it must not look like one.
  return path?.includes('#') ? path.replaceAll('#', '%23') : path;
}

/** `http://host/path`, which proxies are sent; whom it names does not matter. */
function pathOfAbsolute(target: string): string | undefined {
  const match = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+(.*)$/i.exec(target);
  if (match === null) return undefined;
  const rest = match[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}
