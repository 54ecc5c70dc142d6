import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from 'orchplane/kinds';

const cluster = createCluster();
await cluster.api(ValidatingAdmissionPolicy).create({
  metadata: { name: 'few-keys' },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
      ],
    },
    validations: [
      {
        expression: '!has(object.data) || size(object.data) <= 2',
        messageExpression: '"too many keys: " + string(size(object.data))',
      },
    ],
  },
});
await cluster.api(ValidatingAdmissionPolicyBinding).create({
  metadata: { name: 'few-keys' },
  spec: { policyName: 'few-keys', validationActions: ['Deny'] },
});
const data = { a: '1', b: '2', c: '3' };
const refused = await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data }).catch((error: unknown) => error);
assert.ok(StatusError.is(refused, 'Invalid'));
assert.match(refused.message, /with binding 'few-keys' denied request: too many keys: 3/);
export {};
