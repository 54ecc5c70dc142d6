import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { CronJob } from 'orchplane/kinds';

const old = createCluster({ release: '1.24' });
const [applied] = await old.applyYaml(`
apiVersion: batch/v1beta1
kind: CronJob
metadata: { name: nightly, namespace: default }
spec:
  schedule: 0 3 * * *
  jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: backup }] } } } }
`);
assert.deepEqual(applied?.warnings, [
  'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob',
]);
assert.equal((await old.api(CronJob).get('nightly')).spec.schedule, '0 3 * * *'); // the same object in batch/v1
export {};
