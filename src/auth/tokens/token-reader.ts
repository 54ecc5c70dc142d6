/**
 * All who know tokens, as one: a table, the service accounts, the user's own functions, asked in this order. The first
 * that knows a token answers; a token that nobody knows is refused with what each of them had to say about it.
 */
import type { User } from '../../protocol/request.js';
import { isPromise, type MaybePromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import type { TokenAuthenticator, TokenIdentity, TokenReader, TokenTable } from '../authentication.js';
import { completeUser } from '../identity.js';

export interface TokenReaderParts {
  /** Who the server is to those who make tokens. */
  readonly audiences: readonly string[];
  readonly table?: TokenTable | undefined;
  /** Of service accounts. */
  readonly accounts?: TokenAuthenticator | undefined;
  readonly authenticators?: readonly TokenAuthenticator[] | undefined;
}

/** Whoever knows the token said that it is for others than those who asked: a mistake of theirs, not of the token. */
export class WrongAudiencesError extends Error {
  override readonly name = 'WrongAudiencesError';

  constructor() {
    super('error validating audiences');
  }
}

/** What the server says of a token as such, before anybody has said more. */
const UNKNOWN = 'invalid bearer token';

/** Throws TypeError for a table with users that have no names. */
export function createTokenReader(parts: TokenReaderParts): TokenReader {
  const { audiences: own, table = {}, accounts, authenticators = [] } = parts;
  const known = identitiesOf(table, own);
  const all = [
    (token: string) => known.get(token)?.bare,
    ...(accounts === undefined ? [] : [accounts]),
    ...authenticators,
  ];
  return Object.freeze({
    authenticate(token: string, asked: readonly string[]) {
      const audiences = asked.length === 0 ? own : asked;
      // What most requests come with: nothing is to be made or asked.
      const listed = audiences === own ? known.get(token)?.settled : undefined;
      return listed ?? tryFrom(0, { all, token, audiences, own, refusals: [] });
    },
  });
}

interface Listed {
  readonly bare: TokenIdentity;
  /** For the server itself. */
  readonly settled: TokenIdentity;
}

function identitiesOf(table: TokenTable, own: readonly string[]): ReadonlyMap<string, Listed> {
  return new Map(
    Object.entries(table).map(([token, user]) => {
      const bare = { user: checkedUser(user) };
      return [token, { bare, settled: Object.freeze({ user: completeUser(user), audiences: own }) }];
    }),
  );
}

function checkedUser(user: User): User {
  if (isNamed(user)) return user;
  throw new TypeError('orchplane: tokens has users by token, like { "a-token": { user: "alice", groups: ["dev"] } }');
}

/** A user without a name could do what nobody granted. */
function isNamed(user: unknown): boolean {
  return (
    typeof user === 'object' && user !== null && 'user' in user && typeof user.user === 'string' && user.user !== ''
  );
}

interface Attempt {
  readonly all: readonly TokenAuthenticator[];
  readonly token: string;
  readonly audiences: readonly string[];
  readonly own: readonly string[];
  /** What those who were asked had to say; grows. */
  readonly refusals: string[];
}

/** The answer of the first that has one, from the given one on; waits only for those who make it wait. */
function tryFrom(first: number, attempt: Attempt): MaybePromise<TokenIdentity> {
  const { all, token, audiences, refusals } = attempt;
  for (let index = first; index < all.length; index++) {
    try {
      const answer = all[index]?.(token, audiences);
      if (isPromise(answer)) {
        return answer
          .then((identity) => settled(identity, attempt))
          .catch((error: unknown) => noted(error, refusals))
          .then((identity) => identity ?? tryFrom(index + 1, attempt));
      }
      const identity = settled(answer, attempt);
      if (identity !== undefined) return identity;
    } catch (error) {
      noted(error, refusals);
    }
  }
  throw new Error(aggregate([UNKNOWN, ...refusals]));
}

/** Undefined: go on to the next. */
function noted(error: unknown, refusals: string[]): undefined {
  if (error instanceof WrongAudiencesError) throw error;
  refusals.push(messageOf(error));
}

/** With groups and audiences; undefined when the token is for somebody else, or nobody's. */
function settled(identity: TokenIdentity | undefined, { audiences, own }: Attempt): TokenIdentity | undefined {
  if (identity === undefined || identity === null) return undefined;
  if (!isNamed(identity.user)) throw new Error('orchplane: a token must stand for { user: { user: "name" } }');
  const { audiences: madeFor = [] } = identity;
  const knowsAudiences = madeFor.length > 0;
  const accepted = audiences.filter((audience) => (knowsAudiences ? madeFor : own).includes(audience));
  if (accepted.length === 0) {
    if (knowsAudiences) throw new WrongAudiencesError();
    return undefined;
  }
  return { ...identity, user: completeUser(identity.user), audiences: accepted };
}

/** Several messages in one; what is said twice is said once. */
function aggregate(messages: readonly string[]): string {
  const different = [...new Set(messages)];
  return different.length === 1 ? (different[0] as string) : `[${different.join(', ')}]`;
}
