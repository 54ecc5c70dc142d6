import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const readOnly = createCluster({
  authorizer: () => ({
    decide: (_user, attributes) => ['get', 'list', 'watch'].includes(attributes.verb),
  }),
});
const guest = readOnly.with({ as: { user: 'guest' } });
assert.deepEqual((await guest.api(ConfigMap).list()).items, []);
const refused = await guest.api(ConfigMap).create({ metadata: { name: 'a' } }).catch((error: unknown) => error);
assert.ok(StatusError.is(refused, 'Forbidden'));
export {};
