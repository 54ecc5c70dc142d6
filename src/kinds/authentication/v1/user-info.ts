/**
 * Who somebody is.
 */
import * as z from 'zod';
import type { User } from '../../../protocol/request.js';
import { hint, optional } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';

const userInfoShape = () => ({
  username: optional(z.string()),
  uid: optional(z.string()),
  groups: optional(z.array(z.string())),
  extra: optional(z.record(z.string(), hint(z.array(z.string()), { goType: 'v1.ExtraValue' }))),
});
export interface UserInfo extends Output<typeof userInfoShape> {}
export interface UserInfoInput extends Input<typeof userInfoShape> {}
export const userInfo: Type<UserInfo, UserInfoInput> = type('UserInfo', userInfoShape);

/** A user of a request as reviews show one. */
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
