import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { Deployment, Pod } from 'orchplane/kinds';

const cluster = createCluster();
const pod = await cluster.api(Pod).create({
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'web', image: 'nginx', resources: { requests: { cpu: '0.5' } } }] },
});
assert.equal(pod.spec.restartPolicy, 'Always'); // filled in, and typed as always there
assert.equal(pod.spec.containers[0]?.imagePullPolicy, 'Always'); // because the image has no tag
assert.equal(pod.spec.containers[0]?.resources.requests?.['cpu'], '500m'); // quantities in canonical form
assert.equal(pod.status.phase, 'Pending');

const failure = await cluster
  .api(Deployment)
  .create({
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
    },
  })
  .catch((error: unknown) => error);
assert(StatusError.is(failure, 'Invalid'));
assert.match(failure.message, /spec.template.metadata.labels: Invalid value: .*`selector` does not match template `labels`/);
export {};
