/**
 * The authentication of a cluster: static tokens, service account tokens, and custom authenticators.
 */
import type { TokenReviewResult, TokenService } from '../kinds/tokens.js';
import { errors } from '../meta/errors.js';
import { chain, rescue } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import { refuseUnknownOptions } from '../util/options.js';
import type {
  AuthenticatorContext,
  TokenAuthenticator,
  TokenAuthenticatorFactory,
  TokenDiscovery,
  TokenReader,
  TokenTable,
} from './authentication.js';
import { ANONYMOUS_USER } from './identity.js';
import type { AccountTokenContext, AccountTokenOptions, AccountTokens } from './tokens/account-tokens.js';
import { createTokenReader, WrongAudiencesError } from './tokens/token-reader.js';

export interface AuthenticationOptions {
  /** Users by bearer token. */
  readonly tokens?: TokenTable | undefined;
  /** Options of service account tokens. */
  readonly serviceAccounts?: AccountTokenOptions | undefined;
  /** Tried in order, after static and service account tokens. */
  readonly authenticators?: readonly (TokenAuthenticator | TokenAuthenticatorFactory)[] | undefined;
  /** False: requests without credentials are rejected with 401. Default: their user is `system:anonymous`. */
  readonly anonymous?: boolean | undefined;
}

const OPTIONS = [
  'tokens',
  'serviceAccounts',
  'authenticators',
  'anonymous',
] as const satisfies readonly (keyof AuthenticationOptions)[];

/** Creates the service account tokens; the `core` entry point omits them to save code size. */
export type AccountTokensFactory = (setting: AccountTokenContext, options: AccountTokenOptions) => AccountTokens;

export interface ClusterAuthentication extends TokenReader {
  /** Whether the cluster has credentials of its own; if so, requests without any are anonymous. */
  readonly hasCredentials: boolean;
  /** Whether requests without credentials are anonymous. */
  readonly allowsAnonymous: boolean;
  /** A reader with additional tokens of one handler; TokenReviews accept these tokens as well. */
  withTokens(tokens: TokenTable): TokenReader;
  readonly tokens: TokenService;
  /** Discovery documents of service account tokens; absent if there are none. */
  readonly discovery?: TokenDiscovery;
}

export function createAuthentication(
  options: AuthenticationOptions,
  setting: AccountTokenContext,
  accountTokens: AccountTokensFactory | undefined,
): ClusterAuthentication {
  refuseUnknownOptions('authentication', options, OPTIONS);
  const { tokens: table, serviceAccounts } = options;
  if (serviceAccounts !== undefined && accountTokens === undefined) throw new TypeError(NO_ACCOUNT_TOKENS);
  const accounts = accountTokens?.(setting, serviceAccounts ?? {});
  const audiences = accounts?.audiences ?? NO_AUDIENCES;
  const authenticators = authenticatorsOf(options, { dialect: setting.dialect, clock: setting.clock, audiences });
  const handlerReaders = new Set<TokenReader>();
  const clusterSources = { audiences, table, accounts: accounts?.authenticate, authenticators };
  const reader = createTokenReader(clusterSources);
  const reviewer = createTokenReader({
    ...clusterSources,
    authenticators: [...authenticators, (token, requested) => firstRecognized(handlerReaders, token, requested)],
  });
  return Object.freeze({
    authenticate: reader.authenticate,
    hasCredentials: table !== undefined || authenticators.length > 0 || options.anonymous === false,
    allowsAnonymous: options.anonymous ?? true,
    withTokens(tokens: TokenTable) {
      handlerReaders.add(createTokenReader({ audiences, table: tokens }));
      return createTokenReader({ ...clusterSources, table: { ...table, ...tokens } });
    },
    tokens: createTokenService(accounts ?? NO_ACCOUNTS, reviewer),
    ...(accounts === undefined ? {} : { discovery: accounts }),
  });
}

function authenticatorsOf(
  { authenticators = [] }: AuthenticationOptions,
  context: AuthenticatorContext,
): readonly TokenAuthenticator[] {
  return authenticators.map((each) => {
    if (typeof each === 'function') return each;
    if (typeof each?.createAuthenticator === 'function') return each.createAuthenticator(context);
    throw new TypeError('orchplane: a token authenticator is a function, or a result of openIdConnect or tokenWebhook');
  });
}

function firstRecognized(readers: ReadonlySet<TokenReader>, token: string, audiences: readonly string[]) {
  for (const reader of readers) {
    try {
      return reader.authenticate(token, audiences);
    } catch (error) {
      // The table does not contain the token; try the next one.
      if (!(error instanceof Error)) throw error;
    }
  }
  return undefined;
}

const NO_AUDIENCES: readonly string[] = ['orchplane'];

const NO_ACCOUNT_TOKENS =
  'orchplane: orchplane/core does not sign service account tokens; use createCluster of orchplane';

const NO_ACCOUNTS: Pick<AccountTokens, 'audiences' | 'maxExpirationSeconds' | 'extendsExpiration' | 'sign'> = {
  audiences: NO_AUDIENCES,
  maxExpirationSeconds: undefined,
  extendsExpiration: false,
  sign: () => Promise.reject(errors.internal(NO_ACCOUNT_TOKENS)),
};

type TokenSigner = Pick<AccountTokens, 'audiences' | 'maxExpirationSeconds' | 'extendsExpiration' | 'sign'>;

function createTokenService(tokens: TokenSigner, reader: TokenReader): TokenService {
  const { audiences: apiAudiences, maxExpirationSeconds, extendsExpiration, sign } = tokens;
  return Object.freeze({
    apiAudiences,
    ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }),
    extendsExpiration,
    sign,
    review(token: string, audiences: readonly string[]) {
      // The reference server passes the token through a header, so it ends at the first space.
      // upstream: pkg/registry/authentication/tokenreview/storage.go REST.Create
      const [sent = ''] = token.trimEnd().split(' ', 1);
      const requested = audiences.length === 0 ? apiAudiences : audiences;
      if (sent === '') return { type: 'known', user: ANONYMOUS_USER, audiences: requested } satisfies TokenReviewResult;
      return rescue<TokenReviewResult>(
        () =>
          chain(reader.authenticate(sent, requested), (identity) => ({
            type: 'known',
            user: identity.user,
            audiences: identity.audiences ?? requested,
          })),
        (error) => {
          if (error instanceof WrongAudiencesError) throw errors.internal(error.message);
          return { type: 'unknown', error: messageOf(error) };
        },
      );
    },
  });
}
