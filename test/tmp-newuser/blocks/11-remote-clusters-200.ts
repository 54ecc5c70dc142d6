import assert from 'node:assert/strict';
import { createClient, createCluster, StatusError } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';

const fetch = createFetchHandler(createCluster(), {
  tokens: { root: { user: 'root', groups: ['system:masters'] }, robot: { user: 'robot' } },
});
const clientWith = (token: string) => createClient({ transport: httpTransport({ baseUrl: 'http://cluster', fetch, token }) });
const asAlice = async (token: string) => {
  const alice = clientWith(token).with({ as: { user: 'alice', groups: ['dev'] } });
  const error = await alice.api(ConfigMap).list().catch((error: unknown) => error);
  assert(StatusError.is(error, 'Forbidden'));
  return error.message;
};
assert.match(await asAlice('root'), /^configmaps is forbidden: User "alice" cannot list/);
assert.match(await asAlice('robot'), /^users "alice" is forbidden: User "robot" cannot impersonate/);
export {};
