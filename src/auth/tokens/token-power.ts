/**
 * What kinds may do with tokens: have one signed, and ask about one. See `kinds/tokens.ts`.
 */
import type { TokenAnswer, TokenPower } from '../../kinds/tokens.js';
import { errors } from '../../meta/errors.js';
import { chain, rescue } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import type { TokenReader } from '../authentication.js';
import { STRANGER } from '../identity.js';
import type { AccountTokens } from './account-tokens.js';
import { WrongAudiencesError } from './token-reader.js';

type SigningPart = Pick<AccountTokens, 'audiences' | 'maxExpirationSeconds' | 'extendsExpiration' | 'sign'>;

export function createTokenPower(tokens: SigningPart, reader: TokenReader): TokenPower {
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
