import assert from 'node:assert/strict';
import { createCluster, defaultAdmission, defineAdmission, fieldError, StatusError } from 'orchplane';
import { Pod } from 'orchplane/kinds';

const requireTeam = defineAdmission({
  name: 'RequireTeam',
  on: ['CREATE', 'UPDATE'],
  kind: Pod,
  mutate: (draft, request) => {
    (draft.metadata.annotations ??= {})['created-by'] = request.user.user;
  },
  validate: (request) =>
    request.object.metadata.labels?.['team'] ? [] : [fieldError('required', 'metadata.labels[team]')],
});

const cluster = createCluster({ admission: [...defaultAdmission, requireTeam] });
const spec = { containers: [{ name: 'c', image: 'nginx' }] };
const refused = await cluster.api(Pod).create({ metadata: { name: 'a' }, spec }).catch((error: unknown) => error);
assert.ok(StatusError.is(refused, 'Invalid'));
const pod = await cluster.api(Pod).create({ metadata: { name: 'a', labels: { team: 'red' } }, spec });
assert.equal(pod.metadata.annotations?.['created-by'], 'system:admin');
export {};
