/**
 * Quotas hold under concurrency: several clients create, change, apply and delete objects of several kinds, plugins before
 * and after the quota plugin delay and reject some writes, and every write is checked when it is stored.
 */

import { type AdmissionPlugin, defaultAdmission, errors, mergePatch, StatusError, strategicPatch } from 'orchplane';
import { ConfigMap, PersistentVolumeClaim, Pod, ResourceQuota, Service, StorageClass } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test, vi } from 'vitest';
import { addAmounts, readAmounts } from '../../src/admission/plugins/pod-amounts.js';
import { increase, toResourceList } from '../../src/admission/quota/arithmetic.js';
import type { EvaluatorContext } from '../../src/admission/quota/evaluator.js';
import type { AdmissionRequest, ClusterView } from '../../src/admission/types.js';
import { featureGates } from '../../src/kinds/feature-gates.js';
import { orchDialect } from '../../src/meta/dialect.js';
import type { ApiObject } from '../../src/meta/object.js';
import { Quantity } from '../../src/meta/quantity.js';
import { recalculate, usageOf } from '../fixtures/recalculate-quota.js';
import fc from './seeded.js';

vi.setConfig({ testTimeout: 120_000 });

const HARD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  objects: { 'count/configmaps': '9', pods: '7', services: '6', persistentvolumeclaims: '5' },
  amounts: {
    'requests.cpu': '5',
    'limits.memory': '3Gi',
    'services.nodeports': '7',
    'services.loadbalancers': '3',
    'requests.storage': '20Gi',
    'gold.storageclass.storage.orch.io/requests.storage': '12Gi',
  },
};

const KINDS = [ConfigMap, Pod, Service, PersistentVolumeClaim] as const;
const resourceOf = ({ names }: { readonly names: { readonly plural: string } }) => ({
  group: '',
  resource: names.plural,
});

interface Step {
  readonly kind: number;
  readonly verb: 'create' | 'generate' | 'dryRun' | 'invalid' | 'change' | 'apply' | 'resize' | 'delete' | 'recount';
  readonly name: string;
  /** The amount: usage is a multiple of it. */
  readonly size: number;
  /** The delay in the plugins in milliseconds; undefined for no delay. */
  readonly before?: number;
  readonly after?: number;
  readonly rejected: boolean;
}

const step: fc.Arbitrary<Step> = fc.record(
  {
    kind: fc.nat(KINDS.length - 1),
    verb: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('create', 'change', 'change', 'delete') },
      { weight: 2, arbitrary: fc.constantFrom('generate', 'dryRun', 'invalid', 'apply', 'resize') },
      { weight: 1, arbitrary: fc.constant('recount') },
    ),
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    size: fc.integer({ min: 1, max: 4 }),
    before: fc.nat(30),
    after: fc.nat(30),
    rejected: fc.constantFrom(false, false, false, false, true),
  },
  { requiredKeys: ['kind', 'verb', 'name', 'size', 'rejected'] },
) as fc.Arbitrary<Step>;

/** Passes the delays and rejections of a write to the plugins in annotations. */
const noteOf = ({ before, after, rejected }: Step): Record<string, string> => ({
  ...(before === undefined ? {} : { before: String(before) }),
  ...(after === undefined ? {} : { after: String(after) }),
  ...(rejected ? { rejected: '' } : {}),
});

function waits(title: 'before' | 'after'): AdmissionPlugin {
  return {
    name: `waits-${title}`,
    async validate({ object }, view) {
      const ms = object?.metadata.annotations?.[title];
      if (ms !== undefined) await new Promise<void>((resolve) => view.clock.after(Number(ms), resolve));
    },
  };
}

const refusesSome: AdmissionPlugin = {
  name: 'refuses-some',
  validate({ object, served, name }) {
    if (object?.metadata.annotations?.['refused'] === undefined) return;
    throw errors.forbidden(served.groupResource, name, 'some are refused');
  },
};

type Sums = Map<string, Quantity>;
const NOTHING: Sums = new Map();

const QUOTAS = { group: '', resource: 'resourcequotas' };

/** Tracks the expected usage, and the part of it that belongs to deleted objects. */
class Ledger {
  #due: Sums = new Map();
  /** Charged for objects that are gone: quotas do not release usage by themselves. */
  idle: Sums = new Map();
  readonly problems: string[] = [];
  #view: ClusterView | undefined;

  /** Runs after the quota plugin, so that the charge is already done when an object is stored. */
  readonly plugin: AdmissionPlugin = {
    name: 'ledger',
    validate: (request, view) => {
      this.#view = view;
      if (KINDS.some(({ kind }) => kind === request.served.gvk.kind))
        request.beforeCommit(() => this.#enter(request, view));
    },
  };

  #enter(request: AdmissionRequest, view: ClusterView): void {
    const { object, oldObject, served, operation, namespace, name } = request;
    // An object with finalizers is only marked for deletion and still counts.
    if (object === undefined && oldObject?.metadata.finalizers !== undefined) return;
    const now = object === undefined ? NOTHING : usageOf(object, served.gvr, view);
    const before = oldObject === undefined ? NOTHING : usageOf(oldObject, served.gvr, view);
    addAmounts(this.#due, increase(now, before));
    addAmounts(this.idle, increase(before, now));
    // Not stored because the name is taken, but the quota was charged.
    const isTaken = operation === 'CREATE' && view.get({ ...resourceOf(served.kind), namespace, name }) !== undefined;
    if (isTaken) addAmounts(this.idle, now);
    this.#check(view, `${operation} ${served.gvr.resource} ${name}`);
  }

  #check(view: ClusterView, when: string): void {
    for (const quota of view.list(QUOTAS, 'default')) {
      const { status } = quota as unknown as { status: Record<'hard' | 'used', Record<string, string>> };
      const hard = readAmounts(status.hard);
      for (const [name, used] of readAmounts(status.used)) {
        const due = this.#due.get(name) ?? Quantity.zero;
        if (!used.equals(due)) this.problems.push(`${when}: ${name} is ${used}, and should be ${due}`);
        if (used.cmp(hard.get(name) ?? used) > 0) this.problems.push(`${when}: ${name}: ${used} is too much`);
      }
    }
  }

  /** Releases the usage of deleted objects, so that there is space again. */
  recount(): void {
    const view = this.#view;
    if (view === undefined) return;
    const counted = KINDS.map((kind) => ({
      resource: resourceOf(kind),
      objects: view.list(resourceOf(kind), 'default'),
    }));
    this.#due = new Map();
    this.idle = new Map();
    for (const quota of view.list(QUOTAS, 'default')) {
      const status = recalculate(quota as never, counted, view);
      addAmounts(this.#due, readAmounts(status.used));
      view.change({ ...QUOTAS, namespace: 'default', name: quota.metadata.name }, (draft) => {
        draft['status'] = status;
      });
    }
  }
}

async function setUp(ledger: Ledger): Promise<TestCluster> {
  const admission = [waits('before'), ...defaultAdmission, waits('after'), refusesSome, ledger.plugin];
  const cluster = testCluster({ admission });
  const gold = { metadata: { name: 'gold' }, provisioner: 'example.com/disk', allowVolumeExpansion: true };
  await cluster.api(StorageClass).create(gold);
  for (const [name, hard] of Object.entries(HARD)) {
    await cluster.api(ResourceQuota).create({ metadata: { name }, spec: { hard } });
    const used = Object.fromEntries(Object.keys(hard).map((each) => [each, '0']));
    await cluster.api(ResourceQuota).status.patch(name, mergePatch({ status: { hard, used } }));
  }
  return cluster;
}

const resources = (size: number) => ({
  requests: { cpu: `${size * 150}m` },
  limits: { cpu: '1', memory: `${size * 128}Mi` },
});

/** The body of an object of a kind; `size` determines its usage. */
function bodyOf(kind: (typeof KINDS)[number], size: number): object {
  switch (kind) {
    case Pod:
      return { spec: { containers: [{ name: 'c', image: 'i', resources: resources(size) }] } };
    case Service: {
      const ports = Array.from({ length: size }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
      return { spec: { type: ['ClusterIP', 'NodePort', 'LoadBalancer'][size % 3], ports } };
    }
    case PersistentVolumeClaim: {
      const storageClassName = size % 2 === 0 ? 'gold' : '';
      const wanted = { requests: { storage: `${size}Gi` } };
      return { spec: { accessModes: ['ReadWriteOnce'], resources: wanted, storageClassName } };
    }
    default:
      return { data: { size: String(size) } };
  }
}

/** The mutable part of an object; the rest of a claim or pod is immutable. */
function changeOf(kind: (typeof KINDS)[number], size: number): object {
  if (kind === Pod) return { spec: { activeDeadlineSeconds: size } };
  if (kind !== PersistentVolumeClaim) return bodyOf(kind, size);
  return { spec: { resources: { requests: { storage: `${size}Gi` } } } };
}

/** Performs one write. */
async function perform(cluster: TestCluster, each: Step, ledger: Ledger): Promise<void> {
  const kind = KINDS[each.kind] ?? ConfigMap;
  const api = cluster.api(kind as typeof ConfigMap);
  const { name, verb } = each;
  const annotations = noteOf(each);
  const object = { metadata: { name, annotations }, ...bodyOf(kind, each.size) };
  switch (verb) {
    case 'create':
      await api.create(object as never);
      if (kind === PersistentVolumeClaim) await bind(cluster, name);
      return;
    case 'generate':
      await api.create({ ...object, metadata: { generateName: `${name}-`, annotations } } as never);
      return;
    case 'dryRun':
      await api.create({ ...object, metadata: { generateName: 'dry-', annotations } } as never, { dryRun: true });
      return;
    case 'invalid':
      await api.create({ ...object, metadata: { name: 'Not A Name' } } as never);
      return;
    case 'change':
      await api.patch(name, mergePatch({ metadata: { annotations }, ...changeOf(kind, each.size) } as never));
      return;
    case 'apply':
      await api.apply(object as never, { force: true });
      return;
    case 'resize': {
      const containers = [{ name: 'c', resources: resources(each.size) }];
      await cluster
        .api(Pod)
        .subresource('resize')
        .patch(name, strategicPatch({ spec: { containers } } as never));
      return;
    }
    case 'delete':
      await api.delete(name, { gracePeriodSeconds: 0 });
      return;
    case 'recount':
      ledger.recount();
  }
}

/** Only bound claims can grow. */
async function bind(cluster: TestCluster, name: string): Promise<void> {
  await cluster.api(PersistentVolumeClaim).status.patch(name, mergePatch({ status: { phase: 'Bound' } }));
}

const FEATURES = featureGates();
const terms = ({ clock }: TestCluster): EvaluatorContext => ({ dialect: orchDialect, features: FEATURES, clock });

/** The results of the writes. */
interface Outcomes {
  done: number;
  exceeded: number;
  rejected: number;
}

/** Runs the steps of one client in sequence. */
async function runClient(cluster: TestCluster, steps: readonly Step[], about: { ledger: Ledger; outcomes: Outcomes }) {
  const { ledger, outcomes } = about;
  for (const each of steps) {
    try {
      await perform(cluster, each, ledger);
      outcomes.done++;
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      if (error.message.includes('exceeded quota')) outcomes.exceeded++;
      else outcomes.rejected++;
    }
  }
}

/** Runs all clients concurrently until all are done. */
async function runAll(cluster: TestCluster, clients: readonly Promise<void>[]): Promise<void> {
  let isDone = false;
  const all = Promise.all(clients).finally(() => {
    isDone = true;
  });
  while (!isDone) await cluster.clock.advance(7);
  await all;
}

async function expectBalance(cluster: TestCluster, { idle }: Ledger): Promise<void> {
  const counted = [];
  for (const kind of KINDS) {
    const { items } = await cluster.api(kind as typeof ConfigMap).list();
    counted.push({ resource: resourceOf(kind), objects: items as unknown as ApiObject[] });
  }
  for (const quota of (await cluster.api(ResourceQuota).list()).items) {
    const { hard, used } = recalculate(quota as never, counted, terms(cluster));
    const expected: Sums = readAmounts(used);
    for (const [name, amount] of idle) if (expected.has(name)) addAmounts(expected, new Map([[name, amount]]));
    expect(quota.status.used).toEqual(toResourceList(expected));
    expect(quota.status.hard).toEqual(hard);
  }
}

test('never exceeds quotas and leaks no usage under a thousand interleaved writes', async () => {
  const outcomes: Outcomes = { done: 0, exceeded: 0, rejected: 0 };
  const clients = fc.array(fc.array(step, { minLength: 125, maxLength: 125 }), { minLength: 8, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(clients, async (scripts) => {
      const ledger = new Ledger();
      const cluster = await setUp(ledger);
      const running = scripts.map((steps, index) => {
        const client = Object.assign(cluster.with({ fieldManager: `client-${index}` }), { clock: cluster.clock });
        return runClient(client as TestCluster, steps, { ledger, outcomes });
      });
      await runAll(cluster, running);
      expect(ledger.problems).toEqual([]);
      await expectBalance(cluster, ledger);
      await cluster.close();
    }),
    { numRuns: 2, endOnFailure: true },
  );
  // The limits are wide enough for many writes and too narrow for many others.
  for (const count of Object.values(outcomes)) expect(count).toBeGreaterThan(100);
});
