/**
 * Secrets with bootstrap tokens, as `kubeadm token create` makes them.
 */
import type { Secret } from '../../kinds/core/v1/secret.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { readInstant } from '../../text/time/time.js';
import { decodeBase64Text } from '../../util/base64.js';

export type StoredSecret = ObjectOf<typeof Secret>;

/** The namespace of the Secrets. */
export const TOKEN_NAMESPACE = 'kube-system';
const SECRET_NAME = /^bootstrap-token-([a-z0-9]{6})$/;

export function isTokenSecret({ type, metadata }: StoredSecret, dialect: Dialect): boolean {
  return metadata.namespace === TOKEN_NAMESPACE && type === dialect.subkey('bootstrap', 'token');
}

/** The time until the token expires in milliseconds; 0 or less: it has expired. `Infinity`: it never does. */
export function msUntilExpiration(secret: StoredSecret, nowMs: number): number {
  const expiration = dataOf(secret, 'expiration');
  if (expiration === '') return Infinity;
  const instant = readInstant(expiration);
  // An invalid time counts as expired.
  return instant === undefined ? 0 : instant.seconds * 1_000 + instant.nanos / 1e6 - nowMs;
}

export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

/** The token of a Secret, if it may be used to sign. */
export function signingToken(secret: StoredSecret, nowMs: number): BootstrapToken | undefined {
  const id = SECRET_NAME.exec(secret.metadata.name)?.[1];
  if (id === undefined || id !== dataOf(secret, 'token-id')) return undefined;
  const token = dataOf(secret, 'token-secret');
  const mayBeUsed = msUntilExpiration(secret, nowMs) > 0 && dataOf(secret, 'usage-bootstrap-signing') === 'true';
  return token !== '' && mayBeUsed ? { id, secret: token } : undefined;
}

/** Empty if absent. */
function dataOf({ data = {} }: StoredSecret, key: string): string {
  return decodeBase64Text(data[key] ?? '');
}
