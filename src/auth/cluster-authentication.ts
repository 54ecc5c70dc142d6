/**
 * What a cluster knows about those who ask: static tokens, tokens of service accounts, and whatever its owner brings.
 */
import type { TokenAnswer, TokenPower } from '../kinds/tokens.js';
import { errors } from '../meta/errors.js';
import { chain, rescue } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { TokenAuthenticator, TokenDiscovery, TokenReader, TokenTable } from './authentication.js';
import { STRANGER } from './identity.js';
import type { AccountTokenOptions, AccountTokenSetting, AccountTokens } from './tokens/account-tokens.js';
import { createTokenReader, WrongAudiencesError } from './tokens/token-reader.js';

export interface AuthenticationOptions {
  /** Bearer tokens and whom they stand for. */
  readonly tokens?: TokenTable | undefined;
  /** How tokens of service accounts are made. */
  readonly serviceAccounts?: AccountTokenOptions | undefined;
  /** Tried in order, after the table and the tokens of service accounts. */
  readonly authenticators?: readonly TokenAuthenticator[] | undefined;
}

const OPTIONS = [
  'tokens',
  'serviceAccounts',
  'authenticators',
] as const satisfies readonly (keyof AuthenticationOptions)[];

/** Makes the tokens of service accounts; clusters that count bytes do without. */
export type AccountTokensFactory = (setting: AccountTokenSetting, options: AccountTokenOptions) => AccountTokens;

export interface ClusterAuthentication extends TokenReader {
  /** Whether the cluster itself knows credentials: then whoever shows none is nobody in particular. */
  readonly isAsked: boolean;
  /** The same for a handler that brings tokens along: they open that handler alone, and reviews know them too. */
  withTokens(tokens: TokenTable): TokenReader;
  readonly tokens: TokenPower;
  /** What others need to check the tokens of service accounts; absent where there are none. */
  readonly discovery?: TokenDiscovery;
}

export function authenticationOf(
  options: AuthenticationOptions,
  setting: AccountTokenSetting,
  accountTokens: AccountTokensFactory | undefined,
): ClusterAuthentication {
  refuseUnknownOptions('authentication', options, OPTIONS);
  const { tokens: table, serviceAccounts, authenticators } = options;
  if (serviceAccounts !== undefined && accountTokens === undefined) throw new TypeError(NO_ACCOUNT_TOKENS);
  const accounts = accountTokens?.(setting, serviceAccounts ?? {});
  const audiences = accounts?.audiences ?? NO_AUDIENCES;
  const broughtAlong = new Set<TokenReader>();
  const ofCluster = { audiences, table, accounts: accounts?.authenticate, authenticators };
  const reader = createTokenReader(ofCluster);
  const reviewer = createTokenReader({
    ...ofCluster,
    authenticators: [...(authenticators ?? []), (token, asked) => firstOf(broughtAlong, token, asked)],
  });
  return Object.freeze({
    authenticate: reader.authenticate,
    isAsked: table !== undefined || (authenticators?.length ?? 0) > 0,
    withTokens(tokens: TokenTable) {
      broughtAlong.add(createTokenReader({ audiences, table: tokens }));
      return createTokenReader({ ...ofCluster, table: { ...table, ...tokens } });
    },
    tokens: createTokenPower(accounts ?? NO_ACCOUNTS, reviewer),
    ...(accounts === undefined ? {} : { discovery: accounts }),
  });
}

function firstOf(readers: ReadonlySet<TokenReader>, token: string, audiences: readonly string[]) {
  for (const reader of readers) {
    try {
      return reader.authenticate(token, audiences);
    } catch (error) {
      // A table that does not know it; the next one may.
      if (!(error instanceof Error)) throw error;
    }
  }
  return undefined;
}

const NO_AUDIENCES: readonly string[] = ['orchplane'];

const NO_ACCOUNT_TOKENS =
  'orchplane: clusters of orchplane/core sign no tokens of service accounts; createCluster of orchplane does';

const NO_ACCOUNTS: Pick<AccountTokens, 'audiences' | 'maxExpirationSeconds' | 'extendsExpiration' | 'sign'> = {
  audiences: NO_AUDIENCES,
  maxExpirationSeconds: undefined,
  extendsExpiration: false,
  sign: () => Promise.reject(errors.internal(NO_ACCOUNT_TOKENS)),
};

type SigningPart = Pick<AccountTokens, 'audiences' | 'maxExpirationSeconds' | 'extendsExpiration' | 'sign'>;

function createTokenPower(tokens: SigningPart, reader: TokenReader): TokenPower {
  const { audiences: apiAudiences, maxExpirationSeconds, extendsExpiration, sign } = tokens;
  return Object.freeze({
    apiAudiences,
    ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }),
    extendsExpiration,
    sign,
    review(token: string, audiences: readonly string[]) {
      // The server puts the text into a header and reads it again, so a token ends with the first space.
      const [shown = ''] = token.trimEnd().split(' ', 1);
      const asked = audiences.length === 0 ? apiAudiences : audiences;
      if (shown === '') return { type: 'known', user: STRANGER, audiences: asked } satisfies TokenAnswer;
      return rescue<TokenAnswer>(
        () =>
          chain(reader.authenticate(shown, asked), (identity) => ({
            type: 'known',
            user: identity.user,
            audiences: identity.audiences ?? asked,
          })),
        (error) => {
          if (error instanceof WrongAudiencesError) throw errors.internal(error.message);
          return { type: 'unknown', error: messageOf(error) };
        },
      );
    },
  });
}
