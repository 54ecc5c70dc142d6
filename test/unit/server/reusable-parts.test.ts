/** Reuse of frozen parts of stored objects that a client sends back. The result is the same as for a copy. */
import { describe, expect, test } from 'vitest';
import { type AdmissionPlugin, defaultAdmission, defineAdmission } from '../../../src/index.js';
import {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Pod,
  PodTemplate,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../../../src/kinds/index.js';
import { testCluster } from '../../../src/testing/index.js';

const containers = [
  {
    name: 'web',
    image: 'web:1',
    env: [{ name: 'A', value: 'b' }],
    resources: { limits: { cpu: '1', memory: '64Mi' } },
    readinessProbe: { httpGet: { port: 80 } },
  },
];
const selector = { matchLabels: { app: 'web' } };
const labels = { app: 'web' };

type Template = { metadata: object; spec: object };

/** For each kind with a pod template: how it is created from a template, and where the template is. */
const WORKLOADS = [
  { kind: Deployment, restart: 'Always', spec: (template: Template) => ({ spec: { selector, template } }) },
  { kind: ReplicaSet, restart: 'Always', spec: (template: Template) => ({ spec: { selector, template } }) },
  {
    kind: StatefulSet,
    restart: 'Always',
    spec: (template: Template) => ({ spec: { serviceName: 's', selector, template } }),
  },
  { kind: DaemonSet, restart: 'Always', spec: (template: Template) => ({ spec: { selector, template } }) },
  {
    kind: ReplicationController,
    restart: 'Always',
    spec: (template: Template) => ({ spec: { selector: labels, template } }),
  },
  { kind: Job, restart: 'Never', spec: (template: Template) => ({ spec: { template } }) },
  {
    kind: CronJob,
    restart: 'Never',
    spec: (template: Template) => ({ spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } } }),
  },
  { kind: PodTemplate, restart: 'Always', spec: (template: Template) => ({ template }) },
] as const;

function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** A stored, frozen PodSpec of a cluster. */
async function storedSpec(cluster: ReturnType<typeof testCluster>, restartPolicy: string): Promise<object> {
  const template = { metadata: { labels }, template: { metadata: { labels }, spec: { containers, restartPolicy } } };
  const stored = await cluster
    .api(PodTemplate)
    .create({ ...template, metadata: { name: `from-${restartPolicy.toLowerCase()}` } } as never);
  return (stored as unknown as { template: Template }).template.spec;
}

describe('a stored template', () => {
  for (const { kind, restart, spec } of WORKLOADS) {
    test(`creates the same ${kind.kind} from a stored template as from a copy of it`, async () => {
      const cluster = testCluster();
      const known = await storedSpec(cluster, restart);
      expect(Object.isFrozen(known)).toBe(true);
      const before = cluster.fork();
      const api = cluster.api(kind as typeof Deployment);
      const made = await api.create({
        metadata: { name: 'x', labels },
        ...spec({ metadata: { labels }, spec: known }),
      } as never);
      const other = before.api(kind as typeof Deployment);
      const fromCopy = await other.create({
        metadata: { name: 'x', labels },
        ...spec({ metadata: { labels }, spec: copy(known) }),
      } as never);
      const ignoringIds = (object: unknown) =>
        JSON.stringify(object).replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'uid');
      expect(ignoringIds(made)).toBe(ignoringIds(fromCopy));
      expect(JSON.stringify(made)).toContain(JSON.stringify(known).slice(1, -1));
    });

    test(`reuses a stored template in an update of a ${kind.kind} and of its status`, async () => {
      const cluster = testCluster();
      const known = await storedSpec(cluster, restart);
      const api = cluster.api(kind as typeof Deployment);
      const made = await api.create({
        metadata: { name: 'x', labels },
        ...spec({ metadata: { labels }, spec: known }),
      } as never);
      const updated = await api.update({ ...made, metadata: { ...made.metadata, annotations: { a: 'b' } } });
      expect(updated.metadata.annotations).toMatchObject({ a: 'b' });
      expect(updated.spec).toEqual(made.spec);
      if ((kind as { kind: string }).kind === 'PodTemplate') return;
      const written = await api.status.update('x', { ...updated });
      expect(written.spec).toEqual(made.spec);
      const again = await api.status.update('x', copy({ ...written }));
      expect(again.spec).toEqual(made.spec);
    });
  }

  test('does not copy a stored template', async () => {
    const cluster = testCluster();
    const known = await storedSpec(cluster, 'Never');
    const job = await cluster
      .api(Job)
      .create({ metadata: { name: 'x' }, spec: { template: { spec: known } } } as never);
    expect(job.spec.template.spec).toBe(known);
    const ended = await cluster.api(Job).status.update('x', { ...job, status: { ready: 0, succeeded: 1 } });
    expect(ended.status.succeeded).toBe(1);
    expect(ended.spec).toBe(job.spec);
  });

  test('does not change a stored template when plugins change the new object', async () => {
    const requireOther = defineAdmission({
      name: 'OtherImage',
      on: ['CREATE'],
      kind: Job,
      mutate: (draft) => {
        const [first] = draft.spec.template.spec.containers;
        if (first !== undefined) first.image = 'web:2';
      },
    });
    const cluster = testCluster({ admission: [...defaultAdmission, requireOther] });
    const known = await storedSpec(cluster, 'Never');
    const job = await cluster
      .api(Job)
      .create({ metadata: { name: 'x' }, spec: { template: { spec: known } } } as never);
    expect(job.spec.template.spec.containers[0]?.image).toBe('web:2');
    expect((known as Pod['spec']).containers[0]?.image).toBe('web:1');
  });

  test('does not change a stored template when a plugin whose mayBeAsynchronous returns false changes the new object', async () => {
    const plugin: AdmissionPlugin = {
      name: 'Hasty',
      mayBeAsynchronous: () => false,
      mutate: ({ object }) => {
        if (object?.kind === 'Job') (object as unknown as Job).spec.template.spec.hostname = 'h';
      },
    };
    const cluster = testCluster({ admission: [...defaultAdmission, plugin] });
    const known = await storedSpec(cluster, 'Never');
    const job = await cluster
      .api(Job)
      .create({ metadata: { name: 'x' }, spec: { template: { spec: known } } } as never);
    expect(job.spec.template.spec.hostname).toBe('h');
    expect(known).not.toHaveProperty('hostname');
  });

  test('decodes a template of another cluster again, so that disabled fields are dropped', async () => {
    const open = testCluster({ featureGates: { InPlacePodVerticalScaling: true } });
    const closed = testCluster({ featureGates: { InPlacePodVerticalScaling: false } });
    const resizable = [{ ...containers[0], resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }];
    const template = { metadata: { labels }, spec: { containers: resizable } };
    const there = await open.api(Deployment).create({ metadata: { name: 'x' }, spec: { selector, template } } as never);
    expect(there.spec.template.spec.containers[0]?.resizePolicy).toHaveLength(1);
    const here = await closed
      .api(Deployment)
      .create({ metadata: { name: 'x' }, spec: { selector, template: there.spec.template } } as never);
    expect(here.spec.template.spec.containers[0]).not.toHaveProperty('resizePolicy');
  });

  test('rejects a stored template in the place of another type, as it rejects a copy', async () => {
    const cluster = testCluster();
    const known = await storedSpec(cluster, 'Never');
    const attempt = (spec: unknown) =>
      cluster
        .api(CronJob)
        .create({ metadata: { name: 'x' }, spec: { schedule: '* * * * *', jobTemplate: { spec } } } as never)
        .then(
          () => 'created',
          (error: Error) => error.message,
        );
    const refusal = await attempt(known);
    expect(refusal).toBe(await attempt(copy(known)));
    expect(refusal).toContain('spec.jobTemplate.spec.template.spec.containers: Required value');
  });

  test('validates a stored template by the rules of its new place', async () => {
    const cluster = testCluster();
    const known = await storedSpec(cluster, 'Always');
    const made = cluster.api(Job).create({ metadata: { name: 'x' }, spec: { template: { spec: known } } } as never);
    await expect(made).rejects.toThrow('spec.template.spec.restartPolicy');
  });

  test('adds the defaults of pods when a pod is created from a stored template', async () => {
    const cluster = testCluster();
    const known = await storedSpec(cluster, 'Always');
    const pod = await cluster.api(Pod).create({ metadata: { name: 'x' }, spec: known } as never);
    expect(pod.spec.enableServiceLinks).toBe(true);
    expect(pod.spec.containers[0]?.resources.requests).toEqual({ cpu: '1', memory: '64Mi' });
    expect(known).not.toHaveProperty('enableServiceLinks');
    const second = await cluster.api(Pod).create({ metadata: { name: 'y' }, spec: pod.spec } as never);
    expect(second.spec).toEqual(pod.spec);
  });
});

describe('metadata in a status update', () => {
  const make = async () => {
    const cluster = testCluster();
    const metadata = { name: 'p', labels, annotations: { a: 'b' }, finalizers: ['x.io/y'] };
    const pod = await cluster.api(Pod).create({ metadata, spec: { containers } } as never);
    return { pods: cluster.api(Pod), pod };
  };

  test.each(['as it was read', 'as a copy'] as const)(
    'stores the same object in a status update with metadata %s',
    async (form) => {
      const { pods, pod } = await make();
      const metadata = form === 'as it was read' ? pod.metadata : structuredClone(pod.metadata);
      const written = await pods.status.update('p', { ...pod, metadata, status: { phase: 'Running' } });
      const { resourceVersion: _version, managedFields: entries = [], ...rest } = written.metadata;
      const { resourceVersion: _before, managedFields: _entries, ...before } = pod.metadata;
      expect(rest).toEqual(before);
      expect(entries.map(({ subresource }) => subresource)).toEqual([undefined, 'status']);
      expect([
        written.status.phase,
        Object.isFrozen(written.metadata),
        Object.isFrozen(written.metadata.labels),
      ]).toEqual(['Running', true, true]);
      expect(pod.metadata.managedFields).toHaveLength(1);
    },
  );

  test('rejects stored metadata in the place of another type', async () => {
    const { pods, pod } = await make();
    const body = { ...pod, status: { message: 'x', ...pod.metadata } as never };
    await expect(pods.status.update('p', body, { fieldValidation: 'Strict' })).rejects.toMatchObject({
      status: { code: 400 },
    });
    await expect(
      pods.status.update('p', { ...pod, status: { conditions: [pod.metadata] } as never }),
    ).rejects.toMatchObject({
      status: { code: 422 },
    });
    const { status } = await pods.status.update('p', { ...pod, status: pod.metadata as never });
    expect(Object.keys(status)).not.toContain('name');
  });

  test('responds with a conflict to a status update with a stale resourceVersion', async () => {
    const { pods, pod } = await make();
    await pods.status.update('p', { ...pod, status: { phase: 'Running' } });
    await expect(pods.status.update('p', { ...pod, status: { phase: 'Failed' } })).rejects.toMatchObject({
      status: { reason: 'Conflict' },
    });
  });
});

describe('a stored spec', () => {
  const template = { metadata: { labels }, spec: { containers, restartPolicy: 'Never' } };
  const jobTemplate = { metadata: { labels }, spec: { template, backoffLimit: 2 } };

  test('creates the same Jobs from a stored spec as from copies of it, and leaves it unchanged', async () => {
    const jobsOf = async (form: <Value>(spec: Value) => Value) => {
      const cluster = testCluster();
      const cronJob = await cluster
        .api(CronJob)
        .create({ metadata: { name: 'source' }, spec: { schedule: '* * * * *', jobTemplate } } as never);
      const { spec } = cronJob.spec.jobTemplate;
      const asItWas = copy(spec);
      const jobs = [];
      for (const name of ['a', 'b']) jobs.push(await cluster.api(Job).create({ metadata: { name }, spec: form(spec) }));
      expect(spec).toStrictEqual(asItWas);
      return { spec, jobs };
    };
    const { spec, jobs } = await jobsOf((known) => known);
    expect(jobs).toStrictEqual((await jobsOf(copy)).jobs);
    for (const job of jobs) {
      expect(job.spec).not.toBe(spec);
      // The pod template is unchanged.
      expect(job.spec.template.spec).toBe(spec.template.spec);
    }
  });

  test('stores the same object in an update with a stored spec as with a copy of it', async () => {
    const cluster = testCluster();
    const input = { metadata: { name: 'web' }, spec: { selector, template: { ...template, spec: { containers } } } };
    const made = await cluster.api(Deployment).create(input as never);
    const other = cluster.fork();
    const changed = { ...made, metadata: { ...made.metadata, labels }, spec: made.spec };
    expect(await cluster.api(Deployment).update(changed)).toStrictEqual(
      await other.api(Deployment).update(copy(changed) as never),
    );
    const scaled = { ...made, metadata: { name: 'web' }, spec: { ...made.spec, replicas: 3 } };
    expect(await cluster.api(Deployment).update(scaled as never)).toStrictEqual(
      await other.api(Deployment).update(copy(scaled) as never),
    );
  });
});
