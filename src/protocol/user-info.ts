/**
 * A user as objects of the API show one: audit events, reviews, certificate signing requests.
 */
import { sortedRecord } from '../util/order.js';
import type { User } from './request.js';

/** What is empty is absent. */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: string[];
  readonly extra?: Record<string, string[]>;
}

/** A copy: nothing in it is shared with the user. Keys of `extra` are in order. */
export function shownUser({ user, uid = '', groups = [], extra = {} }: User): UserInfo {
  const entries = Object.entries(extra).map(([key, values]): [string, string[]] => [key, [...values]]);
  return {
    ...(user === '' ? {} : { username: user }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(entries.length === 0 ? {} : { extra: sortedRecord(entries) }),
  };
}
