/**
 * The manifest that the editor shows at first.
 */
import type { Session } from './session.js';

const EXAMPLE = `# A cluster runs in this page. Apply this, and watch.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: nginx:1.29
        ports:
        - containerPort: 80
---
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
  - port: 80
`;

export function openWithExample(session: Session): boolean {
  session.setText(EXAMPLE);
  return true;
}
