/**
 * Who asks, by bearer token. Anything that is not a bearer token is no credential at all: such a request is anonymous,
 * and only a token nobody knows is refused.
 */
import { errors } from '../meta/errors.js';
import type { User } from '../protocol/request.js';

/** A table of tokens and the users they stand for. */
export type Tokens = Readonly<Record<string, User>>;

export interface Identity {
  /** Absent: the administrator, because nobody is asked for credentials. */
  readonly user?: User;
  /** What the client should be told about its header. */
  readonly warnings: readonly string[];
}

const NO_WARNINGS: readonly string[] = [];
const ADMINISTRATOR: Identity = { warnings: NO_WARNINGS };
const ANONYMOUS_USER: User = { user: 'system:anonymous', groups: ['system:unauthenticated'] };
const ANONYMOUS: Identity = { user: ANONYMOUS_USER, warnings: NO_WARNINGS };
const IGNORED: Identity = {
  ...ANONYMOUS,
  warnings: ['the provided Authorization header contains extra space before the bearer token, and is ignored'],
};

/** Every user who showed a token is in this group. */
const AUTHENTICATED = 'system:authenticated';

/** Reads Authorization headers by a table of tokens; without a table everybody is the administrator. */
export function bearerIdentities(tokens: Tokens | undefined): (authorization: string) => Identity {
  if (tokens === undefined) return () => ADMINISTRATOR;
  const known = new Map(Object.entries(tokens).map(([token, user]) => [token, identityOf(checked(user))]));
  return (authorization) => {
    const [scheme = '', token, ...rest] = authorization.trim().split(' ');
    if (token === undefined || scheme.toLowerCase() !== 'bearer') return ANONYMOUS;
    if (token === '') return rest.length > 0 ? IGNORED : ANONYMOUS;
    const identity = known.get(token);
    if (identity === undefined) throw errors.unauthorized('Unauthorized');
    return identity;
  };
}

/** A user without a name could do what nobody granted. */
function checked(user: User): User {
  if (typeof user === 'object' && user !== null && typeof user.user === 'string' && user.user !== '') return user;
  throw new TypeError('orchplane: tokens has users by token, like { "a-token": { user: "alice", groups: ["dev"] } }');
}

/** Whether nobody in particular asks. */
export function isAnonymous(user: User): boolean {
  return user === ANONYMOUS_USER;
}

function identityOf(user: User): Identity {
  const groups = user.groups ?? [];
  const all = groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED];
  return { user: { ...user, groups: all }, warnings: NO_WARNINGS };
}
