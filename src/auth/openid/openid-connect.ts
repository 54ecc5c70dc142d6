/**
 * Authentication by OpenID Connect: the bearer token is an ID token of a provider. Its claims are the user.
 * upstream: apiserver/plugin/pkg/authenticator/token/oidc/oidc.go
 */
import type { Dialect } from '../../meta/dialect.js';
import { invalid, printFieldError } from '../../meta/field-error.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { parseGoUrl } from '../../text/go/go-url.js';
import { own } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { caBundleProblem } from '../../webhook/ca-bundle.js';
import type { AuthenticatorContext, TokenAuthenticatorFactory, TokenIdentity } from '../authentication.js';
import { jsonType } from '../tokens/claims.js';
import { expandClaim } from './distributed-claims.js';
import {
  type IdTokenClaims,
  type IdTokenRules,
  NotInitializedError,
  untrustedIssuer,
  verifyIdToken,
} from './id-token.js';
import { createIssuerKeys, ID_TOKEN_ALGORITHMS, type IdTokenAlgorithm, sendWith } from './key-set.js';

/** The options of {@link openIdConnect}, as the reference server's flags `--oidc-…`. */
export interface OpenIdConnectOptions {
  /** The `https` URL of the provider, without query; tokens name it in `iss`. */
  readonly issuerUrl: string;
  /** Tokens must name it in `aud`. */
  readonly clientId: string;
  /** The CA certificates (PEM) of the provider. Default: those of the platform. Effective in Node only. */
  readonly ca?: string | undefined;
  /** The claim with the user name; default: `sub`. */
  readonly usernameClaim?: string | undefined;
  /** Default: the issuer and `#`, or nothing for the claim `email`. `-` means no prefix. */
  readonly usernamePrefix?: string | undefined;
  /** The claim with the groups, a string or a list of strings. Default: no groups. */
  readonly groupsClaim?: string | undefined;
  readonly groupsPrefix?: string | undefined;
  /** Claims that must have these values. */
  readonly requiredClaims?: Readonly<Record<string, string>> | undefined;
  /** Default: RS256. */
  readonly signingAlgs?: readonly IdTokenAlgorithm[] | undefined;
}

const OPTIONS = [
  'issuerUrl',
  'clientId',
  'ca',
  'usernameClaim',
  'usernamePrefix',
  'groupsClaim',
  'groupsPrefix',
  'requiredClaims',
  'signingAlgs',
] as const satisfies readonly (keyof OpenIdConnectOptions)[];

/**
 * Authenticates ID tokens of an OpenID provider. The provider is asked for its keys with the first token. Throws a TypeError
 * for invalid options.
 *
 * @example
 * const oidc = openIdConnect({ issuerUrl: 'https://login.example.com', clientId: 'my-cluster', groupsClaim: 'groups' });
 * const cluster = createCluster({ authentication: { authenticators: [oidc] } });
 */
export function openIdConnect(options: OpenIdConnectOptions): TokenAuthenticatorFactory {
  checkOptions(options);
  const settings = { ...options };
  return { createAuthenticator: (context) => createAuthenticator(settings, context) };
}

function checkOptions(options: OpenIdConnectOptions): void {
  refuseUnknownOptions('openIdConnect', options, OPTIONS);
  const { issuerUrl, clientId, ca, signingAlgs = [] } = options;
  if (typeof issuerUrl !== 'string' || issuerUrl === '' || typeof clientId !== 'string' || clientId === '') {
    throw new TypeError('orchplane: openIdConnect needs issuerUrl and clientId');
  }
  const problems = urlProblems(issuerUrl).map((detail) => printFieldError(invalid('issuerUrl', issuerUrl, detail)));
  if (problems.length > 0) throw new TypeError(`orchplane: openIdConnect: ${problems.join('; ')}`);
  const unknown = signingAlgs.find((algorithm) => !ID_TOKEN_ALGORITHMS.includes(algorithm));
  if (unknown !== undefined) throw new TypeError(`orchplane: oidc: unsupported signing alg: ${quote(unknown)}`);
  if (ca !== undefined && caBundleProblem(btoa(ca)) !== undefined) {
    throw new TypeError('orchplane: openIdConnect: ca contains no PEM certificates');
  }
}

function urlProblems(text: string): string[] {
  const { url, problem } = parseGoUrl(text);
  if (url === undefined) return [problem];
  return [
    ...(url.scheme === 'https' ? [] : ['URL scheme must be https']),
    ...(url.user === undefined ? [] : ['URL must not contain a username or password']),
    ...(url.rawQuery === '' ? [] : ['URL must not contain a query']),
    ...(url.fragment === '' ? [] : ['URL must not contain a fragment']),
  ];
}

function createAuthenticator(options: OpenIdConnectOptions, { dialect, clock }: AuthenticatorContext) {
  const { issuerUrl, clientId, groupsClaim, signingAlgs = [] } = options;
  const send = sendWith(options.ca);
  const rules: IdTokenRules = {
    issuer: issuerUrl,
    audience: clientId,
    algorithms: signingAlgs.length === 0 ? ['RS256'] : signingAlgs,
    keys: createIssuerKeys(issuerUrl, send),
    now: () => clock.now(),
  };
  const expand = groupsClaim === undefined || groupsClaim === '' ? undefined : expandClaim(groupsClaim, rules, send);
  return async (token: string): Promise<TokenIdentity | undefined> => {
    if (untrustedIssuer(token) !== issuerUrl) return undefined;
    const claims = await verifyIdToken(token, rules).catch((error: unknown) => {
      if (error instanceof NotInitializedError) throw error;
      throw new Error(`oidc: verify token: ${messageOf(error)}`, { cause: error });
    });
    const expanded = expand === undefined ? claims : await expand(claims);
    return { user: userOf(expanded, options, dialect) };
  };
}

function userOf(claims: IdTokenClaims, options: OpenIdConnectOptions, dialect: Dialect): User {
  const user = userNameOf(claims, options);
  const groups = groupsOf(claims, options);
  const id = own(claims, 'jti');
  for (const [claim, value] of Object.entries(options.requiredClaims ?? {})) checkRequired(claims, claim, value);
  return {
    user,
    ...(groups === undefined ? {} : { groups }),
    ...(typeof id === 'string' && id !== ''
      ? { extra: { [dialect.subkey('authentication', 'credential-id')]: [`JTI=${id}`] } }
      : {}),
  };
}

function userNameOf(claims: IdTokenClaims, options: OpenIdConnectOptions): string {
  const { usernameClaim = 'sub', usernamePrefix = '', issuerUrl } = options;
  const name = withContext(`oidc: parse username claims ${quote(usernameClaim)}`, () => textOf(claims, usernameClaim));
  if (usernameClaim === 'email' && Object.hasOwn(claims, 'email_verified')) {
    const isVerified = own(claims, 'email_verified') ?? false;
    if (typeof isVerified !== 'boolean') {
      throw new Error(`oidc: parse 'email_verified' claim: ${wrongType(isVerified, 'bool')}`);
    }
    if (!isVerified) throw new Error('oidc: email not verified');
  }
  if (usernamePrefix === '-') return name;
  // Without a prefix, users of different providers could have the same name.
  if (usernamePrefix === '' && usernameClaim !== 'email') return `${issuerUrl}#${name}`;
  return `${usernamePrefix}${name}`;
}

function groupsOf(claims: IdTokenClaims, options: OpenIdConnectOptions): string[] | undefined {
  const { groupsClaim = '', groupsPrefix = '' } = options;
  if (groupsClaim === '' || !Object.hasOwn(claims, groupsClaim)) return undefined;
  const value = own(claims, groupsClaim) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((group) => {
    if (typeof group === 'string') return `${groupsPrefix}${group}`;
    // The reference server reports a list with other values as a value that is not a string.
    const reported = Array.isArray(value) ? value : group;
    throw new Error(`oidc: parse groups claim ${quote(groupsClaim)}: ${wrongType(reported, 'string')}`);
  });
}

function checkRequired(claims: IdTokenClaims, claim: string, value: string): void {
  if (!Object.hasOwn(claims, claim)) throw new Error(`oidc: required claim ${claim} not present in ID token`);
  const found = withContext(`oidc: parse claim ${claim}`, () => textOf(claims, claim));
  if (found === value) return;
  throw new Error(`oidc: required claim ${claim} value does not match. Got = ${found}, want = ${value}`);
}

function textOf(claims: IdTokenClaims, claim: string): string {
  if (!Object.hasOwn(claims, claim)) throw new Error('claim not present');
  const value = own(claims, claim) ?? '';
  if (typeof value !== 'string') throw new Error(wrongType(value, 'string'));
  return value;
}

function withContext<Value>(prefix: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    throw new Error(`${prefix}: ${messageOf(error)}`, { cause: error });
  }
}

/** Go's message for a JSON value of another type. */
function wrongType(value: unknown, type: string): string {
  return `json: cannot unmarshal ${jsonType(value)} into Go value of type ${type}`;
}
