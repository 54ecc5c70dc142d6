import assert from 'node:assert/strict';
import { type AdmissionPlugin, createCluster, defaultAdmission, errors, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const requireTeam: AdmissionPlugin = {
  name: 'RequireTeam',
  validate({ operation, served, object, name }) {
    if (operation !== 'CREATE' || object?.metadata.labels?.['team'] !== undefined) return;
    throw errors.forbidden(served.groupResource, name, 'it must have a label "team"');
  },
};
const cluster = createCluster({ admission: [...defaultAdmission, requireTeam] });
await assert.rejects(cluster.api(ConfigMap).create({ metadata: { name: 'web' } }), (error) =>
  StatusError.is(error, 'Forbidden'),
);
export {};
