/** Users with megabytes of groups and names. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { flowServer, requestDigest } from './server.js';

test('users with long names and groups do not stay in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const { flow } = flowServer();
  const heapAfter = async (count: number): Promise<number> => {
    for (let at = 0; at < count; at++) {
      const digest = requestDigest(`${at}`.padEnd(500_000, 'u'));
      const groups = [...(digest.user.groups ?? []), `${at}`.padEnd(500_000, 'g')];
      (await flow.admit({ ...digest, user: { ...digest.user, groups } })).done();
    }
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(2);
  expect((await heapAfter(100)) - before).toBeLessThan(20_000_000);
});
