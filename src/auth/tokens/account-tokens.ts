/**
 * Service account tokens: a cluster signs and verifies them, and publishes its public key. Each cluster has its own key,
 * which is created with the first token.
 */
import type { ObjectReader } from '../../kinds/objects.js';
import type { SignedToken, TokenClaims } from '../../kinds/tokens.js';
import { DEFAULT_SERVICE, type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { parseGoUrl } from '../../text/go/go-url.js';
import { formatTime } from '../../text/time/time.js';
import { encodeBase64Url } from '../../util/base64.js';
import type { Clock } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import { once } from '../../util/once.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { TokenAuthenticator, TokenDiscovery, TokenIdentity } from '../authentication.js';
import { accountGroups, accountUserName } from '../identity.js';
import { type AccountClaims, checkClaims, claimsOf, readClaims } from './claims.js';
import { asciiBytes, type CompactToken, claimedIssuer, readCompact, unsignedCompact } from './compact.js';
import {
  checkKey,
  checkPublicKey,
  createSigningKey,
  createVerificationKey,
  type GivenKey,
  type SigningKey,
  type VerificationKey,
} from './signing-key.js';

export interface AccountTokenOptions {
  /** The issuer URL. */
  readonly issuer?: string | undefined;
  /** Further issuers whose tokens are accepted. */
  readonly acceptedIssuers?: readonly string[] | undefined;
  /** Default audiences of tokens, and the audiences of the server itself. Default: the issuers. */
  readonly audiences?: readonly string[] | undefined;
  /** The signing key: a CryptoKeyPair or a private JWK, elliptic or RSA. Default: a generated key. */
  readonly key?: GivenKey | undefined;
  /** The public keys that verify tokens, as JWKs. Default: the public key of `key`, which is not one of them otherwise. */
  readonly publicKeys?: readonly JsonWebKey[] | undefined;
  /** The maximum lifetime of tokens. */
  readonly maxExpirationSeconds?: number | undefined;
  /** Whether tokens injected into pods are valid for a year. Default: true. */
  readonly extendsExpiration?: boolean | undefined;
}

const OPTIONS = [
  'issuer',
  'acceptedIssuers',
  'audiences',
  'key',
  'publicKeys',
  'maxExpirationSeconds',
  'extendsExpiration',
] as const satisfies readonly (keyof AccountTokenOptions)[];

/** What the tokens need of their cluster. */
export interface AccountTokenContext {
  readonly dialect: Dialect;
  readonly objects: ObjectReader;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface AccountTokens extends TokenDiscovery {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly maxExpirationSeconds: number | undefined;
  readonly extendsExpiration: boolean;
  sign(claims: TokenClaims): Promise<SignedToken>;
  /** Synchronous for cached tokens and for tokens of other issuers. */
  readonly authenticate: TokenAuthenticator;
}

/** Throws a TypeError for invalid options. */
export function createAccountTokens(cluster: AccountTokenContext, options: AccountTokenOptions = {}): AccountTokens {
  checkOptions(options);
  const { dialect, clock, ids } = cluster;
  const issuer = options.issuer ?? `https://${DEFAULT_SERVICE}.default.svc`;
  const issuers = [issuer, ...(options.acceptedIssuers ?? [])];
  const audiences = Object.freeze([...(options.audiences ?? issuers)]);
  let keyPromise: Promise<SigningKey> | undefined;
  const key = (): Promise<SigningKey> => {
    keyPromise ??= createSigningKey(options.key);
    return keyPromise;
  };
  const { publicKeys } = options;
  const givenKeys = publicKeys && once(() => Promise.all(publicKeys.map(createVerificationKey)));
  const verificationKeys = async (): Promise<readonly VerificationKey[]> => givenKeys?.() ?? [await key()];
  return Object.freeze({
    issuer,
    audiences,
    maxExpirationSeconds: options.maxExpirationSeconds,
    extendsExpiration: options.extendsExpiration ?? true,
    authenticate: authenticatorOf(cluster, {
      issuers,
      audiences,
      keys: () =>
        options.key === undefined && keyPromise === undefined && givenKeys === undefined
          ? undefined
          : verificationKeys(),
    }),

    async sign(claims: TokenClaims): Promise<SignedToken> {
      // The time of the request, not of the key's creation.
      const now = Math.floor(clock.now() / 1000);
      const id = ids.uid();
      const { algorithm, id: kid, sign } = await key();
      const tokenAudiences = claims.audiences.length === 0 ? audiences : claims.audiences;
      const payload = claimsOf(claims, { dialect, issuer, id, now, audiences: tokenAudiences });
      const unsigned = unsignedCompact({ alg: algorithm, kid }, payload);
      const signature = encodeBase64Url(await sign(asciiBytes(unsigned)));
      return {
        token: `${unsigned}.${signature}`,
        expirationTimestamp: formatTime((now + (claims.warnAfterSeconds ?? claims.expirationSeconds)) * 1000),
        audiences: tokenAudiences,
        credentialId: credentialId(id),
      };
    },

    async configuration(jwksUri: string) {
      if (!isPublishable(issuer)) return undefined;
      const algorithms = (await verificationKeys()).map(({ algorithm }) => algorithm);
      return {
        issuer,
        jwks_uri: jwksUri,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: [...new Set(algorithms)].sort(),
      };
    },

    async keySet() {
      return { keys: (await verificationKeys()).map(({ publicJwk }) => publicJwk) };
    },
  });
}

function checkOptions(options: AccountTokenOptions): void {
  refuseUnknownOptions('tokens', options, OPTIONS);
  const { issuer, acceptedIssuers, audiences, key, publicKeys, maxExpirationSeconds: maxSeconds } = options;
  if (issuer !== undefined && (typeof issuer !== 'string' || issuer === '')) {
    throw new TypeError('orchplane: the issuer of tokens must be a string, such as https://cluster.example.com');
  }
  if (acceptedIssuers !== undefined && !isTextList(acceptedIssuers)) {
    throw new TypeError('orchplane: the accepted issuers of tokens must be a list of strings');
  }
  if (audiences !== undefined && (!isTextList(audiences) || audiences.length === 0)) {
    throw new TypeError('orchplane: the audiences of tokens must be a non-empty list of strings');
  }
  if (maxSeconds !== undefined && !(Number.isSafeInteger(maxSeconds) && maxSeconds >= 600)) {
    throw new TypeError('orchplane: maxExpirationSeconds must be an integer of at least 600');
  }
  if (key !== undefined) checkKey(key);
  if (publicKeys !== undefined && !(Array.isArray(publicKeys) && publicKeys.length > 0)) {
    throw new TypeError('orchplane: the public keys for tokens must be a list of JWKs');
  }
  publicKeys?.forEach(checkPublicKey);
}

function isTextList(list: readonly string[]): boolean {
  return Array.isArray(list) && list.every((each) => typeof each === 'string' && each !== '');
}

function credentialId(id: string): string {
  return `JTI=${id}`;
}

/** The discovery document is served at the issuer's URL, so it must be an https URL. */
function isPublishable(issuer: string): boolean {
  const parsed = /[?#]/.test(issuer) ? undefined : parseGoUrl(issuer);
  return parsed?.problem === undefined && parsed?.url.scheme === 'https';
}

/** The immutable part of a verified token. */
interface Verified {
  readonly claims: AccountClaims;
  readonly user: User;
}

interface TokenIssuer {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  /** Undefined before the first token is signed: no token can be valid yet, and an unknown client must not create a key. */
  readonly keys: () => Promise<readonly VerificationKey[]> | undefined;
}

function authenticatorOf(cluster: AccountTokenContext, tokenIssuer: TokenIssuer): TokenAuthenticator {
  const { dialect } = cluster;
  const verifiedTokens = new VerifiedTokens<Verified>();
  return (token, audiences) => {
    const seen = verifiedTokens.get(token);
    if (seen !== undefined) return identityOf(seen, { cluster, tokenIssuer, audiences });
    const claimed = claimedIssuer(token);
    if (claimed === undefined || !tokenIssuer.issuers.includes(claimed)) return undefined;
    const compact = readCompact(token);
    if (compact === undefined) return undefined;
    return verify(compact, tokenIssuer).then(() => {
      const claims = readClaims(compact.payload, dialect);
      const verified = { claims, user: userOf(claims, dialect) };
      verifiedTokens.add(token, verified);
      return identityOf(verified, { cluster, tokenIssuer, audiences });
    });
  };
}

/**
 * Rejects with the reference server's message.
 * upstream: pkg/serviceaccount/jwt.go jwtTokenAuthenticator.AuthenticateToken
 */
async function verify(token: CompactToken, { keys: keysOf }: TokenIssuer): Promise<void> {
  const all = (await keysOf()) ?? [];
  const keys = token.keyId === '' ? all : all.filter(({ id }) => id === token.keyId);
  if (keys.length === 0 && token.keyId !== '') throw new Error('invalid signature, no keys found');
  for (const key of keys) {
    // The algorithm comes from the key, never from the token.
    const isPossible = token.algorithm === key.algorithm && !token.isCritical;
    if (isPossible && (await key.verify(token.signed, token.signature))) return;
  }
  throw new Error('go-jose/go-jose: error in cryptographic primitive');
}

function userOf(claims: AccountClaims, dialect: Dialect): User {
  const { namespace, account, pod, node, id } = claims;
  const key = (name: string): string => dialect.subkey('authentication', name);
  const extra: Record<string, readonly string[]> = {
    ...(id === '' ? {} : { [key('credential-id')]: [credentialId(id)] }),
    ...(node === undefined || node.name === '' ? {} : { [key('node-name')]: [node.name] }),
    ...(node === undefined || node.name === '' || node.uid === '' ? {} : { [key('node-uid')]: [node.uid] }),
    ...(pod === undefined || pod.name === '' || pod.uid === ''
      ? {}
      : { [key('pod-name')]: [pod.name], [key('pod-uid')]: [pod.uid] }),
  };
  return {
    user: accountUserName({ namespace, name: account.name }),
    uid: account.uid,
    groups: accountGroups(namespace),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

interface VerificationContext {
  readonly cluster: AccountTokenContext;
  readonly tokenIssuer: TokenIssuer;
  readonly audiences: readonly string[];
}

/** Checks everything that may change between requests. Throws. */
function identityOf({ claims, user }: Verified, context: VerificationContext): TokenIdentity {
  const { cluster, tokenIssuer, audiences } = context;
  if (!tokenIssuer.issuers.includes(claims.issuer)) throw new Error(`token issuer ${quote(claims.issuer)} is invalid`);
  const isLegacy = claims.audiences.length === 0;
  const madeFor = isLegacy ? tokenIssuer.audiences : claims.audiences;
  const valid = new Set(madeFor);
  const accepted = audiences.filter((audience) => valid.has(audience));
  if (accepted.length === 0) {
    throw new Error(`token audiences ${quoted(madeFor)} is invalid for the target audiences ${quoted(audiences)}`);
  }
  const nowMs = cluster.clock.now();
  checkClaims(claims, cluster.objects, nowMs);
  const annotations = annotationsOf(claims, { isLegacy, nowMs, dialect: cluster.dialect });
  return { user, audiences: accepted, ...(annotations === undefined ? {} : { annotations }) };
}

function annotationsOf(
  { subject, warnAfter }: AccountClaims,
  context: { readonly isLegacy: boolean; readonly nowMs: number; readonly dialect: Dialect },
): TokenIdentity['annotations'] {
  const { isLegacy, nowMs, dialect } = context;
  const isStale = warnAfter !== undefined && nowMs > warnAfter * 1000;
  if (!isLegacy && !isStale) return undefined;
  const group = dialect.group(serviceGroup('authentication'));
  const late = Math.floor(nowMs / 1000) - (warnAfter ?? 0);
  return {
    ...(isLegacy ? { [`${group}/legacy-token`]: subject } : {}),
    ...(isStale ? { [`${group}/stale-token`]: `subject: ${subject}, seconds after warning threshold: ${late}` } : {}),
  };
}

/** `["a" "b"]` */
function quoted(texts: readonly string[]): string {
  return `[${texts.map(quote).join(' ')}]`;
}

/** The maximum total length of cached tokens; at about 900 characters each, a thousand tokens. */
const MAX_CHARACTERS = 1_000_000;

/** An LRU cache of tokens whose signature has been verified. */
export class VerifiedTokens<Value> {
  readonly #values = new Map<string, Value>();
  #characters = 0;

  get(token: string): Value | undefined {
    const value = this.#values.get(token);
    if (value !== undefined) {
      // Re-inserting moves the key to the end of the Map's order.
      this.#values.delete(token);
      this.#values.set(token, value);
    }
    return value;
  }

  add(token: string, value: Value): void {
    if (!this.#values.has(token)) this.#characters += token.length;
    this.#values.set(token, value);
    for (const oldest of this.#values.keys()) {
      if (this.#characters <= MAX_CHARACTERS) return;
      this.#values.delete(oldest);
      this.#characters -= oldest.length;
    }
  }

  get size(): number {
    return this.#values.size;
  }
}
