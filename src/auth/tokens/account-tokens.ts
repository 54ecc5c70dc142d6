/**
 * Tokens of service accounts: a cluster signs them, knows them again, and publishes the key by which others may check
 * them. Every cluster has a key of its own, made when the first token is signed.
 */
import type { ObjectReader } from '../../kinds/objects.js';
import type { SignedToken, TokenClaims } from '../../kinds/tokens.js';
import { DEFAULT_SERVICE, type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { parseGoUrl } from '../../text/go/go-url.js';
import { formatTime } from '../../text/time/time.js';
import type { Clock } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { TokenAuthenticator, TokenDiscovery, TokenIdentity } from '../authentication.js';
import { accountGroups, accountUserName } from '../identity.js';
import { type AccountClaims, checkClaims, claimsOf, readClaims } from './claims.js';
import {
  asciiBytes,
  type CompactToken,
  claimedIssuer,
  encodeBase64Url,
  readCompact,
  unsignedCompact,
} from './compact.js';
import { checkKey, createSigningKey, type GivenKey, type SigningKey } from './signing-key.js';

/** As much text as is kept, in characters. At some 900 for a token, a thousand of them. */
const MOST_CHARACTERS = 1_000_000;

export class VerifiedTokens<Value> {
  readonly #values = new Map<string, Value>();
  #characters = 0;

  get(token: string): Value | undefined {
    const value = this.#values.get(token);
    if (value !== undefined) {
      // A Map is in the order in which keys came.
      this.#values.delete(token);
      this.#values.set(token, value);
    }
    return value;
  }

  add(token: string, value: Value): void {
    if (!this.#values.has(token)) this.#characters += token.length;
    this.#values.set(token, value);
    for (const oldest of this.#values.keys()) {
      if (this.#characters <= MOST_CHARACTERS) return;
      this.#values.delete(oldest);
      this.#characters -= oldest.length;
    }
  }

  get size(): number {
    return this.#values.size;
  }
}

export interface AccountTokenOptions {
  /** Whose tokens these are, by an address. */
  readonly issuer?: string | undefined;
  /** For whom tokens are made when nobody says, and who the server is to those who ask; the issuer unless said otherwise. */
  readonly audiences?: readonly string[] | undefined;
  /** To sign with: a CryptoKeyPair or a private JWK, elliptic or RSA. Absent: one that nobody else has. */
  readonly key?: GivenKey | undefined;
  /** No token lasts longer than this. */
  readonly maxExpirationSeconds?: number | undefined;
  /** Tokens that pods get by themselves last a year. Unless said otherwise: yes. */
  readonly extendsExpiration?: boolean | undefined;
}

const OPTIONS = [
  'issuer',
  'audiences',
  'key',
  'maxExpirationSeconds',
  'extendsExpiration',
] as const satisfies readonly (keyof AccountTokenOptions)[];

/** What they need to know of their cluster. */
export interface AccountTokenSetting {
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
  /** Answers at once about a token that it has seen before, and about any that is not its own. */
  readonly authenticate: TokenAuthenticator;
}

/** Throws TypeError for options that it does not know or cannot use. */
export function createAccountTokens(setting: AccountTokenSetting, options: AccountTokenOptions = {}): AccountTokens {
  checkOptions(options);
  const { dialect, clock, ids } = setting;
  const issuer = options.issuer ?? `https://${DEFAULT_SERVICE}.default.svc`;
  const audiences = Object.freeze([...(options.audiences ?? [issuer])]);
  let making: Promise<SigningKey> | undefined;
  const key = (): Promise<SigningKey> => {
    making ??= createSigningKey(options.key);
    return making;
  };
  return Object.freeze({
    issuer,
    audiences,
    maxExpirationSeconds: options.maxExpirationSeconds,
    extendsExpiration: options.extendsExpiration ?? true,
    authenticate: authenticatorOf(setting, {
      issuer,
      audiences,
      key: () => (options.key === undefined ? making : key()),
    }),

    async sign(claims: TokenClaims): Promise<SignedToken> {
      // The time of the request, not that at which the key is ready.
      const now = Math.floor(clock.now() / 1000);
      const id = ids.uid();
      const { algorithm, id: kid, sign } = await key();
      const made = claims.audiences.length === 0 ? audiences : claims.audiences;
      const said = claimsOf(claims, { dialect, issuer, id, now, audiences: made });
      const unsigned = unsignedCompact({ alg: algorithm, kid }, said);
      const signature = encodeBase64Url(await sign(asciiBytes(unsigned)));
      return {
        token: `${unsigned}.${signature}`,
        expirationTimestamp: formatTime((now + (claims.warnAfterSeconds ?? claims.expirationSeconds)) * 1000),
        audiences: made,
        credentialId: credentialId(id),
      };
    },

    async configuration(jwksUri: string) {
      if (!isPublishable(issuer)) return undefined;
      const { algorithm } = await key();
      return {
        issuer,
        jwks_uri: jwksUri,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: [algorithm],
      };
    },

    async keySet() {
      return { keys: [(await key()).publicJwk] };
    },
  });
}

function checkOptions(options: AccountTokenOptions): void {
  refuseUnknownOptions('tokens', options, OPTIONS);
  const { issuer, audiences, key, maxExpirationSeconds: most } = options;
  if (issuer !== undefined && (typeof issuer !== 'string' || issuer === '')) {
    throw new TypeError('orchplane: the issuer of tokens is a text, such as https://cluster.example.com');
  }
  const isList = Array.isArray(audiences) && audiences.every((each) => typeof each === 'string' && each !== '');
  if (audiences !== undefined && (!isList || audiences.length === 0)) {
    throw new TypeError('orchplane: audiences of tokens are a list of texts, with one at least');
  }
  if (most !== undefined && !(Number.isSafeInteger(most) && most >= 600)) {
    throw new TypeError('orchplane: maxExpirationSeconds is a whole number of seconds, 600 at least');
  }
  if (key !== undefined) checkKey(key);
}

function credentialId(id: string): string {
  return `JTI=${id}`;
}

/** What is published about an issuer stands at its address, so it must have one. */
function isPublishable(issuer: string): boolean {
  const parsed = /[?#]/.test(issuer) ? undefined : parseGoUrl(issuer);
  return parsed?.problem === undefined && parsed?.url.scheme === 'https';
}

/** What is known of a token for good. */
interface Verified {
  readonly claims: AccountClaims;
  readonly user: User;
}

interface Recognition {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Undefined as long as there is none: then no token can be good, and no stranger makes us make one. */
  readonly key: () => Promise<SigningKey> | undefined;
}

function authenticatorOf(setting: AccountTokenSetting, recognition: Recognition): TokenAuthenticator {
  const { dialect } = setting;
  const known = new VerifiedTokens<Verified>();
  return (token, audiences) => {
    const seen = known.get(token);
    if (seen !== undefined) return identityOf(seen, { setting, recognition, audiences });
    if (claimedIssuer(token) !== recognition.issuer) return undefined;
    const compact = readCompact(token);
    if (compact === undefined) return undefined;
    return verify(compact, recognition).then(() => {
      const claims = readClaims(compact.payload, dialect);
      const verified = { claims, user: userOf(claims, dialect) };
      known.add(token, verified);
      return identityOf(verified, { setting, recognition, audiences });
    });
  };
}

/** Rejects with the words of the reference server. */
async function verify(token: CompactToken, { key: keyOf }: Recognition): Promise<void> {
  const key = await keyOf();
  if (token.keyId !== '' && token.keyId !== key?.id) throw new Error('invalid signature, no keys found');
  // The key says how it is used, never the token.
  const isPossible = key !== undefined && token.algorithm === key.algorithm && !token.isCritical;
  const isGood = isPossible && (await key.verify(token.signed, token.signature));
  if (!isGood) throw new Error('go-jose/go-jose: error in cryptographic primitive');
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

interface Circumstances {
  readonly setting: AccountTokenSetting;
  readonly recognition: Recognition;
  readonly audiences: readonly string[];
}

/** What may have changed since the last time. Throws. */
function identityOf({ claims, user }: Verified, circumstances: Circumstances): TokenIdentity {
  const { setting, recognition, audiences } = circumstances;
  if (claims.issuer !== recognition.issuer) throw new Error(`token issuer ${quote(claims.issuer)} is invalid`);
  const isLegacy = claims.audiences.length === 0;
  const madeFor = isLegacy ? recognition.audiences : claims.audiences;
  const accepted = audiences.filter((audience) => madeFor.includes(audience));
  if (accepted.length === 0) {
    throw new Error(`token audiences ${quoted(madeFor)} is invalid for the target audiences ${quoted(audiences)}`);
  }
  const nowMs = setting.clock.now();
  checkClaims(claims, setting.objects, nowMs);
  const annotations = annotationsOf(claims, { isLegacy, nowMs, dialect: setting.dialect });
  return { user, audiences: accepted, ...(annotations === undefined ? {} : { annotations }) };
}

function annotationsOf(
  { subject, warnAfter }: AccountClaims,
  about: { readonly isLegacy: boolean; readonly nowMs: number; readonly dialect: Dialect },
): TokenIdentity['annotations'] {
  const { isLegacy, nowMs, dialect } = about;
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
