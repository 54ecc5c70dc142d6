/** The steps that scenarios of controllers consist of: requests, and acts of a simulated kubelet. */
export const from = (id, path) => `\${${id}.${path}}`;
export const APPS = '/apis/apps/v1/namespaces/{ns}';
export const CORE = '/api/v1/namespaces/{ns}';
export const BATCH = '/apis/batch/v1/namespaces/{ns}';
export const POLICY = '/apis/policy/v1/namespaces/{ns}';
export const SCALING = '/apis/autoscaling/v2/namespaces/{ns}';
export const MERGE = { 'content-type': 'application/merge-patch+json' };
export const USER = { 'user-agent': 'user' };

export const post = (path, name, body, id) => ({
  method: 'POST',
  path,
  id,
  headers: USER,
  body: { ...body, metadata: { name, ...body.metadata } },
});
export const patch = (path, body) => ({ method: 'PATCH', path, headers: { ...MERGE, ...USER }, body });
export const remove = (path, propagationPolicy) => ({
  method: 'DELETE',
  path,
  headers: USER,
  body: propagationPolicy && { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy },
});
export const kubelet = (act, more) => ({ kubelet: act, ...more });
export const pause = (wait) => ({ wait });

export const container = (image = 'i:1') => ({ name: 'c', image });
export const podSpec = (more) => ({ automountServiceAccountToken: false, containers: [container()], ...more });
export const template = (app, spec, labels) => ({ metadata: { labels: { app, ...labels } }, spec: podSpec(spec) });
export const workload = (app, spec) => ({
  spec: { selector: { matchLabels: { app } }, template: template(app), ...spec },
});
export const newImage = (image) => ({ spec: { template: { spec: { containers: [container(image)] } } } });
export const replicas = (count) => ({ spec: { replicas: count } });
export const deployment = (name, spec) => post(`${APPS}/deployments`, name, workload(name, spec));
export const replicaSet = (name, spec) => post(`${APPS}/replicasets`, name, workload(name, spec));
export const statefulSet = (name, spec) =>
  post(`${APPS}/statefulsets`, name, workload(name, { serviceName: name, ...spec }));
export const daemonSet = (name, spec) => post(`${APPS}/daemonsets`, name, workload(name, spec));
export const jobSpec = (spec, pod) => ({ template: { spec: podSpec({ restartPolicy: 'Never', ...pod }) }, ...spec });
export const job = (name, spec, pod) => post(`${BATCH}/jobs`, name, { spec: jobSpec(spec, pod) });
export const cronJob = (name, spec) =>
  post(`${BATCH}/cronjobs`, name, { spec: { schedule: '* * * * *', jobTemplate: { spec: jobSpec({}) }, ...spec } });
export const pod = (name, labels = {}, spec = {}, metadata = {}) =>
  post(`${CORE}/pods`, name, { metadata: { labels, ...metadata }, spec: podSpec(spec) });
export const service = (name, spec) => post(`${CORE}/services`, name, { spec: { ports: [{ port: 80 }], ...spec } });
export const configMap = (name, metadata, id) => post(`${CORE}/configmaps`, name, { metadata }, id);
export const ownedBy = (id, more) => ({
  ownerReferences: [
    { apiVersion: 'v1', kind: 'ConfigMap', name: `\${${id}.metadata.name}`, uid: `\${${id}.metadata.uid}`, ...more },
  ],
});
export const claim = (name, spec, metadata) => ({
  metadata: { name, ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '', ...spec },
});
export const postClaim = (name, spec, metadata) =>
  post(`${CORE}/persistentvolumeclaims`, name, claim(name, spec, metadata));
export const volume = (name, spec) =>
  post('/api/v1/persistentvolumes', `{ns}-${name}`, {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/tmp/x' },
      storageClassName: '{ns}',
      persistentVolumeReclaimPolicy: 'Retain',
      ...spec,
    },
  });
export const finished = (exitCode, reason) => ({
  containerStatuses: [
    {
      name: 'c',
      image: 'i:1',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: {
        terminated: { exitCode, reason, finishedAt: '2024-01-01T00:00:10Z', startedAt: '2024-01-01T00:00:00Z' },
      },
    },
  ],
});
export const failed = (exitCode, more) => kubelet('failed', { status: finished(exitCode, 'Error'), ...more });
export const succeeded = (more) => kubelet('succeeded', { status: finished(0, 'Completed'), ...more });
export const node = (name, labels, spec) => post('/api/v1/nodes', `{ns}-${name}`, { metadata: { labels }, spec });
