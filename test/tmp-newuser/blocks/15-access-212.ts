import assert from 'node:assert/strict';
import { auditLog, createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const audit = auditLog({
  policy: {
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', verbs: ['create', 'delete'] }, { level: 'None' }],
  },
});
const cluster = createCluster({ audit });
await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
await cluster.api(ConfigMap).list();
const [event] = audit.events;
assert.equal(audit.events.length, 1);
assert.equal(event?.verb, 'create');
assert.equal(event?.user.username, 'system:admin');
assert.equal(event?.objectRef?.resource, 'configmaps');
assert.equal(event?.responseStatus?.code, 201);
export {};
