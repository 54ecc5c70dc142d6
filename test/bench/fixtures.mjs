/**
 * The objects of all benchmarks: ConfigMaps with 500 bytes of JSON, each with different strings.
 */

export const OBJECT_BYTES = 500;

/** Ten values of one label, so that a selector for one of them matches every tenth object. */
export const APPS = 10;

/** The input of the object with this number. Its strings are new and flat, like those of a parsed request. */
export function configMapInput(index) {
  const name = configMapName(index);
  const draft = {
    metadata: { name, labels: { app: `app-${index % APPS}`, tier: index % 2 === 0 ? 'front' : 'back' } },
    data: {
      'app.properties': filler(index, 120),
      colour: `colour-${index}`,
      'log.level': `level-${index}`,
      'server.yaml': '',
    },
  };
  const padding = OBJECT_BYTES - JSON.stringify(draft).length;
  draft.data['server.yaml'] = filler(index + 7, padding);
  return JSON.parse(JSON.stringify(draft));
}

export function configMapName(index) {
  return `config-${String(index).padStart(6, '0')}`;
}

export function configMapInputs(count) {
  return Array.from({ length: count }, (_, index) => configMapInput(index));
}

/** The plain object that a Map contains instead of a stored object, with the same fields and strings. */
export function bareObject(input, namespace, revision) {
  return {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name: input.metadata.name,
      namespace,
      uid: crypto.randomUUID(),
      resourceVersion: String(revision),
      creationTimestamp: new Date().toISOString(),
      labels: { ...input.metadata.labels },
    },
    data: { ...input.data },
  };
}

/** A Map of plain objects by `namespace/name`. */
export function bareMap(inputs, namespace = 'default') {
  return new Map(
    inputs.map((input, index) => [`${namespace}/${input.metadata.name}`, bareObject(input, namespace, index + 1)]),
  );
}

/** A cluster that contains all inputs. */
export async function fill(api, inputs) {
  for (const input of inputs) await api.create(input);
  return api;
}

function filler(seed, length) {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  let text = '';
  while (text.length < length) {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

/** A typical Deployment with one container. */
export function deploymentInput(name, revision = 0) {
  return {
    metadata: { name, labels: { app: 'web', revision: `r${revision}` } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'registry.example.com/web:1',
              ports: [{ containerPort: 8080 }],
              env: [{ name: 'LEVEL', value: 'info' }],
              resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
              readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
            },
          ],
        },
      },
    },
  };
}
