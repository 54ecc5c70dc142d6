/**
 * Where a request came from: what proxies on the way have written down, and whoever the connection is with.
 */
import { type Ip, parseIpSloppy, printIp } from '../meta/ip.js';

export interface RequestOrigin {
  /** The header X-Forwarded-For. Anybody can write anything in it, so only its addresses are taken. */
  readonly forwardedFor?: string | null;
  /** The header X-Real-Ip. */
  readonly realIp?: string | null;
  /** The other end of the connection, with its port or without; absent where there is no connection. */
  readonly remote?: string | undefined;
}

/** Addresses from the client on. The last one alone cannot be made up by the client. */
export function sourceIPs({ forwardedFor, realIp, remote }: RequestOrigin): string[] {
  const found: string[] = [];
  for (const part of forwardedFor?.split(',') ?? []) {
    const ip = parseIpSloppy(part.trim());
    if (ip !== undefined) found.push(printIp(ip));
  }
  const real = realIp ? parseIpSloppy(realIp) : undefined;
  if (real !== undefined && !found.includes(printIp(real))) found.push(printIp(real));
  const other = remote === undefined ? undefined : remoteIp(remote);
  if (other !== undefined && found.at(-1) !== printIp(other)) found.push(printIp(other));
  return found;
}

/** `10.0.0.1:4711`, `[::1]:4711`, or the address alone. */
function remoteIp(remote: string): Ip | undefined {
  const [, inBrackets, plain] = /^(?:\[([^\]]*)\]|([^:]*)):[^:]*$/.exec(remote) ?? [];
  return parseIpSloppy(inBrackets ?? plain ?? remote) ?? parseIpSloppy(remote);
}
