/**
 * Converts users to the UserInfo type of reviews.
 */
import type { User } from '../../../protocol/request.js';
import type { UserInfo } from '../../generated/authentication-v1.js';

/** The UserInfo of a request's user. */
export function userInfoOf({ user, uid, groups, extra }: User): UserInfo {
  return {
    username: user,
    ...(uid ? { uid } : {}),
    ...(groups === undefined || groups.length === 0 ? {} : { groups: [...groups] }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra: copyExtra(extra) }),
  };
}

function copyExtra(extra: NonNullable<User['extra']>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
}
