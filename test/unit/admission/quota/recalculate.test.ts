/** Calculation of the status of a quota from the existing objects. */
import { ConfigMap, Pod, ResourceQuota } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, expect, test } from 'vitest';
import type { EvaluatorContext } from '../../../../src/admission/quota/evaluator.js';
import { limitedNames, limitsResource } from '../../../../src/admission/quota/evaluators.js';
import { featureGates } from '../../../../src/kinds/feature-gates.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import type { ApiObject } from '../../../../src/meta/object.js';
import { recalculate, usageOf } from '../../../fixtures/recalculate-quota.js';
import { type Amounts, makeQuota, type QuotaOptions } from './create-quota.js';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster();
});

const PODS = { group: '', resource: 'pods' };
const MAPS = { group: '', resource: 'configmaps' };
const terms = (): EvaluatorContext => ({ dialect: orchDialect, features: featureGates(), clock: cluster.clock });

const pod = (name: string, cpu: string, more: object = {}) =>
  cluster.api(Pod).create({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...more },
  } as never);

async function statusOf(hard: Amounts, options?: QuotaOptions) {
  await makeQuota(cluster, 'q', hard, options);
  const quota = await cluster.api(ResourceQuota).get('q');
  const counted = [
    { resource: PODS, objects: (await cluster.api(Pod).list()).items as unknown as ApiObject[] },
    { resource: MAPS, objects: (await cluster.api(ConfigMap).list()).items as unknown as ApiObject[] },
  ];
  return recalculate(quota as never, counted, terms());
}

test('adds up usage under every resource name of the quota', async () => {
  await pod('a', '250m');
  await pod('b', '1750m');
  await cluster.api(ConfigMap).create({ metadata: { name: 'c' } });
  const { used } = await statusOf({ cpu: '9', 'requests.cpu': '9', pods: '9', configmaps: '9', 'limits.cpu': '9' });
  expect(used).toEqual({ configmaps: '1', cpu: '2', 'limits.cpu': '0', pods: '2', 'requests.cpu': '2' });
});

test('copies the limits of the spec, and keeps usage that is not measured', async () => {
  const { hard, used } = await statusOf({ services: '5', pods: '2k' }, { used: { services: '3', pods: '7' } });
  expect(hard).toEqual({ pods: '2k', services: '5' });
  expect(used).toEqual({ pods: '0', services: '3' });
});

test('ignores objects outside of the scopes', async () => {
  await pod('stays', '1');
  await pod('ends', '2', { activeDeadlineSeconds: 5 });
  const { used } = await statusOf({ pods: '9', cpu: '9' }, { spec: { scopes: ['Terminating'] } });
  expect(used).toEqual({ cpu: '2', pods: '1' });
});

test('matches no object if the scope selector is invalid', async () => {
  await pod('a', '1');
  const matchExpressions = [{ scopeName: 'PriorityClass' as const, operator: 'NotIn' as const, values: ['a b'] }];
  const quota = { spec: { hard: { pods: '9' }, scopeSelector: { matchExpressions } }, status: {} };
  const objects = (await cluster.api(Pod).list()).items as unknown as ApiObject[];
  expect(recalculate(quota as never, [{ resource: PODS, objects }], terms()).used).toEqual({ pods: '0' });
});

test('counts a terminated pod only as an object', async () => {
  const made = await pod('a', '1');
  const names = (object: object) => [...usageOf(object as ApiObject, PODS, terms()).keys()].sort();
  expect(names(made)).toEqual(['count/pods', 'cpu', 'pods', 'requests.cpu']);
  expect(names({ ...made, status: { phase: 'Succeeded' } })).toEqual(['count/pods']);
  const metadata = { ...made.metadata, deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
  expect(names({ ...made, metadata })).toContain('cpu');
  await cluster.clock.advance(30_001);
  expect(names({ ...made, metadata })).toEqual(['count/pods']);
});

test('derives the limited resources from the spec', async () => {
  await makeQuota(cluster, 'q', { 'requests.x.io/gpu': '1' });
  const quota = await cluster.api(ResourceQuota).get('q');
  expect(limitsResource(quota as never, PODS, terms())).toBe(true);
  expect(limitsResource(quota as never, MAPS, terms())).toBe(false);
});

test('lists the limits of a stored quota once', async () => {
  await makeQuota(cluster, 'q', { pods: '1' });
  const { hard } = (await cluster.api(ResourceQuota).get('q')).spec;
  const names = limitedNames(hard);
  expect(names).toEqual(['pods']);
  expect(limitedNames(hard)).toBe(names);
  // An object that can still change is listed each time.
  const draft: Record<string, string> = { pods: '1' };
  limitedNames(draft);
  draft['secrets'] = '2';
  expect(limitedNames(draft)).toEqual(['pods', 'secrets']);
});
