/**
 * Combines all token authenticators: the static table, service account tokens and custom functions, in this order. The
 * first that recognizes a token wins; an unrecognized token is rejected with the errors of all.
 */
import { aggregateText } from '../../meta/field-error.js';
import type { User } from '../../protocol/request.js';
import { isPromise, type MaybePromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import type { TokenAuthenticator, TokenCaller, TokenIdentity, TokenReader, TokenTable } from '../authentication.js';
import { completeUser } from '../identity.js';

export interface TokenReaderParts {
  /** The audiences of the server itself. */
  readonly audiences: readonly string[];
  readonly table?: TokenTable | undefined;
  /** The authenticator of service account tokens. */
  readonly accounts?: TokenAuthenticator | undefined;
  readonly authenticators?: readonly TokenAuthenticator[] | undefined;
}

/** An authenticator returned audiences that were not requested: an error of the authenticator, not of the token. */
export class WrongAudiencesError extends Error {
  override readonly name = 'WrongAudiencesError';

  constructor() {
    super('error validating audiences');
  }
}

/**
 * The reference server's first error for any unrecognized token.
 * upstream: apiserver/pkg/authentication/request/bearertoken/bearertoken.go invalidToken
 */
const UNKNOWN = 'invalid bearer token';

/** Throws a TypeError for a table with unnamed users. */
export function createTokenReader(parts: TokenReaderParts): TokenReader {
  const { audiences: serverAudiences, table = {}, accounts, authenticators = [] } = parts;
  const staticTokens = identitiesOf(table, serverAudiences);
  const all = [
    (token: string) => staticTokens.get(token)?.bare,
    ...(accounts === undefined ? [] : [accounts]),
    ...authenticators,
  ];
  return Object.freeze({
    authenticate(token: string, requested: readonly string[], caller?: TokenCaller) {
      const audiences = requested.length === 0 ? serverAudiences : requested;
      // The fast path of static tokens: no allocation, no calls.
      const listed = audiences === serverAudiences ? staticTokens.get(token)?.completed : undefined;
      return listed ?? authenticateFrom(0, { all, token, audiences, serverAudiences, caller, messages: [] });
    },
  });
}

interface StaticIdentity {
  readonly bare: TokenIdentity;
  /** Completed, with the server's audiences. */
  readonly completed: TokenIdentity;
}

function identitiesOf(table: TokenTable, serverAudiences: readonly string[]): ReadonlyMap<string, StaticIdentity> {
  return new Map(
    Object.entries(table).map(([token, user]) => {
      const bare = { user: checkedUser(user) };
      return [token, { bare, completed: Object.freeze({ user: completeUser(user), audiences: serverAudiences }) }];
    }),
  );
}

function checkedUser(user: User): User {
  if (isNamed(user)) return user;
  throw new TypeError(
    'orchplane: tokens must map tokens to users, like { "a-token": { user: "alice", groups: ["dev"] } }',
  );
}

/** A user without a name would match no rule as intended. */
function isNamed(user: unknown): boolean {
  return (
    typeof user === 'object' && user !== null && 'user' in user && typeof user.user === 'string' && user.user !== ''
  );
}

interface Attempt {
  readonly all: readonly TokenAuthenticator[];
  readonly token: string;
  readonly audiences: readonly string[];
  readonly serverAudiences: readonly string[];
  readonly caller: TokenCaller | undefined;
  /** Messages of the authenticators tried so far. */
  readonly messages: string[];
}

/** Tries the authenticators from the given index on; synchronous unless one of them returns a promise. */
function authenticateFrom(first: number, attempt: Attempt): MaybePromise<TokenIdentity> {
  const { all, token, audiences, caller, messages } = attempt;
  for (let index = first; index < all.length; index++) {
    try {
      const answer = all[index]?.(token, audiences, caller);
      if (isPromise(answer)) {
        return answer
          .then((identity) => completeIdentity(identity, attempt))
          .catch((error: unknown) => recordError(error, messages))
          .then((identity) => identity ?? authenticateFrom(index + 1, attempt));
      }
      const identity = completeIdentity(answer, attempt);
      if (identity !== undefined) return identity;
    } catch (error) {
      recordError(error, messages);
    }
  }
  throw new Error(aggregateText([UNKNOWN, ...messages]));
}

/** Returns undefined to continue with the next authenticator. */
function recordError(error: unknown, messages: string[]): undefined {
  if (error instanceof WrongAudiencesError) throw error;
  messages.push(messageOf(error));
}

/** Adds groups and audiences; undefined if the token is unknown or for other audiences. */
function completeIdentity(
  identity: TokenIdentity | undefined,
  { audiences, serverAudiences }: Attempt,
): TokenIdentity | undefined {
  if (identity === undefined || identity === null) return undefined;
  if (!isNamed(identity.user))
    throw new Error('orchplane: a token authenticator must return { user: { user: "name" } }');
  const { audiences: madeFor = [] } = identity;
  const knowsAudiences = madeFor.length > 0;
  const valid = new Set(knowsAudiences ? madeFor : serverAudiences);
  const accepted = audiences.filter((audience) => valid.has(audience));
  if (accepted.length === 0) {
    if (knowsAudiences) throw new WrongAudiencesError();
    return undefined;
  }
  return { ...identity, user: completeUser(identity.user), audiences: accepted };
}
