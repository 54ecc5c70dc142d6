/**
 * Three kinds of admission: a policy from a manifest, a webhook that is a function in this process, and a plugin. No port,
 * no certificate.
 */
import assert from 'node:assert/strict';
import { createCluster, defaultAdmission, defineAdmission, StatusError } from 'orchplane';
import { MutatingWebhookConfiguration, Pod } from 'orchplane/kinds';

// The plugin: annotates a pod with the user that created it, and rejects the deletion of pods with the label `keep`.
const owners = defineAdmission({
  name: 'Owners',
  on: ['CREATE', 'DELETE'],
  kind: Pod,
  mutate: (draft, request) => {
    draft.metadata.annotations = { ...draft.metadata.annotations, 'example.com/owner': request.user.user };
  },
  validate: (request) => {
    if (request.operation === 'DELETE' && request.oldObject.metadata.labels?.keep === 'true') return 'it is to be kept';
    return undefined;
  },
});

// The webhook: adds a label, as a patch in base64.
function addTeam(review) {
  const { uid, object } = review.request;
  const labels = { team: 'red', ...object.metadata.labels };
  const patch = btoa(JSON.stringify([{ op: 'add', path: '/metadata/labels', value: labels }]));
  return { ...review, response: { uid, allowed: true, patchType: 'JSONPatch', patch } };
}

const cluster = createCluster({
  dialect: 'kubernetes',
  admission: [...defaultAdmission, owners],
  webhooks: { resolve: ({ service }) => (service?.name === 'teams' ? addTeam : undefined) },
});

await cluster.api(MutatingWebhookConfiguration).create({
  metadata: { name: 'teams' },
  webhooks: [
    {
      name: 'teams.example.com',
      clientConfig: { service: { namespace: 'default', name: 'teams' } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
});

// The policy: images need a tag.
await cluster.applyYaml(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: tagged }
spec:
  matchConstraints:
    resourceRules:
    - { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }
  validations:
  - expression: object.spec.containers.all(c, c.image.contains(':'))
    message: images need a tag
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: tagged }
spec: { policyName: tagged, validationActions: [Deny] }
`);

const pods = cluster.api(Pod);
const podWith = (image) => ({
  metadata: { name: 'web', labels: { keep: 'true' } },
  spec: { containers: [{ name: 'web', image }] },
});

const untagged = await pods.create(podWith('nginx')).catch((error) => error);
assert.ok(StatusError.is(untagged, 'Invalid'));
console.log(`the policy: ${untagged.message}`);

const { metadata } = await pods.create(podWith('nginx:1.29'));
assert.deepEqual(metadata.labels, { keep: 'true', team: 'red' });
console.log(`the webhook: team ${metadata.labels.team}`);
assert.equal(metadata.annotations['example.com/owner'], 'system:admin');

const kept = await pods.delete('web').catch((error) => error);
assert.ok(StatusError.is(kept, 'Forbidden'));
console.log(`the plugin: ${kept.message}`);
await cluster.close();
