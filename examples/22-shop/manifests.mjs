/** The objects of the shop, as for any other cluster. */

/** A Deployment of one container that requests 100m, and its Service. */
const service = (name, { container = '', pod = '', port = 80, targetPort = 8080 } = {}) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      containers:
        - name: ${name}
          image: shop/${name}:1.0
          resources: { requests: { cpu: 100m } }
          ${container}
      ${pod}
---
apiVersion: v1
kind: Service
metadata: { name: ${name} }
spec:
  selector: { app: ${name} }
  ports: [{ port: ${port}, targetPort: ${targetPort} }]
`;

/** Three Services. The web server is ready when it answers, and the stock reads its initial amounts from a file. */
export const SERVICES = [
  `
apiVersion: v1
kind: ConfigMap
metadata: { name: stock }
data:
  items.json: '{ "tea": 500, "cup": 2 }'
`,
  service('stock', {
    container: 'volumeMounts: [{ name: items, mountPath: /etc/stock }]',
    pod: 'volumes: [{ name: items, configMap: { name: stock } }]',
  }),
  service('orders'),
  service('web', { container: 'readinessProbe: { httpGet: { port: 8080, path: /healthz } }' }),
].join('---');

/** The report at midnight. Its service account may create ConfigMaps and do nothing else. */
export const REPORT = `
apiVersion: batch/v1
kind: CronJob
metadata: { name: report }
spec:
  schedule: '0 0 * * *'
  jobTemplate:
    spec:
      template:
        spec:
          serviceAccountName: reporter
          restartPolicy: Never
          containers: [{ name: report, image: shop/report }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: reporter }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: reporter }
rules:
  - { apiGroups: [''], resources: [configmaps], verbs: [create] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: reporter }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: reporter }
subjects: [{ kind: ServiceAccount, name: reporter, namespace: default }]
`;

/** Between one and five web servers, so that each uses half of the CPU that it requests. */
export const AUTOSCALER = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  minReplicas: 1
  maxReplicas: 5
  metrics:
    - type: Resource
      resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } }
`;

/** The webhook is a Service of the cluster like the others. */
export const WEBHOOK = service('policy', { port: 443, targetPort: 8443 });

/** Applied when the webhook runs: from then on, every Deployment needs its answer. */
export const POLICY = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: policy }
webhooks:
  - name: policy.shop.example.com
    clientConfig: { service: { namespace: default, name: policy } }
    rules:
      - { apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE] }
    sideEffects: None
    admissionReviewVersions: [v1]
`;
