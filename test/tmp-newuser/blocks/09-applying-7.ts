import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { Deployment } from 'orchplane/kinds';

const cluster = createCluster();
const ci = cluster.with({ fieldManager: 'ci' }).api(Deployment); // who applies is a property of the client
const autoscaler = cluster.with({ fieldManager: 'autoscaler' }).api(Deployment);

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
const web = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } };

// Creates the object if need be.
await ci.apply({ ...web, spec: { ...web.spec, replicas: 3 } });

// Somebody else wants another number: the field is taken.
const refused = autoscaler.apply({ metadata: { name: 'web' }, spec: { replicas: 5 } });
await assert.rejects(refused, (error) => {
  assert.ok(StatusError.is(error, 'Conflict'));
  const [cause] = error.status.details?.causes ?? [];
  assert.equal(cause?.field, '.spec.replicas');
  assert.equal(cause?.message, 'conflict with "ci"');
  return true;
});

// CI leaves the number to others: it applies without it. Nobody holds it then, so it goes back to its default.
const left = await ci.apply(web);
assert.equal(left.spec.replicas, 1);
const scaled = await autoscaler.apply({ metadata: { name: 'web' }, spec: { replicas: 5 } });
assert.equal(scaled.spec.replicas, 5);
assert.equal(scaled.spec.template.spec.containers[0]?.image, 'web:1');
export {};
