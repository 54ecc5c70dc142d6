/** The manifests of the kubectl tests. */

export const POD = `
apiVersion: v1
kind: Pod
metadata:
  name: alone
  labels: { app: web, tier: front }
spec:
  containers:
  - { name: main, image: "nginx:1.25" }
`;

/** A Deployment and its Service. */
export function webApp({ replicas = '2', image = 'nginx:1.25' } = {}): string {
  return `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: { app: web }
spec:
  ${replicas === '' ? '' : `replicas: ${replicas}`}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
      - name: web
        image: ${image}
        ports: [{ containerPort: 80 }]
---
apiVersion: v1
kind: Service
metadata:
  name: web
  labels: { app: web }
spec:
  clusterIP: None
  selector: { app: web }
  ports: [{ port: 80 }]
`;
}

export function configMap(name: string, data: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
}

export function nodeManifest(name: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { test: name } } });
}

/** An event about a pod in the namespace of the test; kubectl sets only the namespace of the event itself. */
export function eventManifest(pod: string, namespace: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'first' },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name: pod, namespace },
    reason: 'Started',
    message: 'It runs.',
    type: 'Normal',
  });
}
