import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { Deployment } from 'orchplane/kinds';

const cluster = createCluster({ dialect: 'kubernetes' });
await cluster.applyYaml(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: replicas }
spec:
  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConstraints:
    resourceRules:
    - { apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments] }
  validations:
  - { expression: object.spec.replicas <= int(params.data.max), messageExpression: "'at most ' + params.data.max" }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: replicas }
spec:
  policyName: replicas
  validationActions: [Warn]
  paramRef: { name: limits, namespace: default, parameterNotFoundAction: Deny }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: limits, namespace: default }
data: { max: "3" }
`);
const warnings: string[] = [];
const client = cluster.with({ onWarning: (warning) => warnings.push(warning) });
await client.api(Deployment).create({
  metadata: { name: 'web' },
  spec: {
    replicas: 5,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
  },
});
assert.deepEqual(warnings, ["Validation failed for ValidatingAdmissionPolicy 'replicas' with binding 'replicas': at most 3"]);
export {};
