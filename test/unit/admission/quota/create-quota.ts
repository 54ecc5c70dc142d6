/** Creates quotas whose status has the limits of their spec, as the quota controller would set it. */
import { mergePatch } from 'orchplane';
import { ResourceQuota, type ResourceQuotaInput } from 'orchplane/kinds';
import type { TestCluster } from 'orchplane/testing';

export type Amounts = Record<string, string>;

export interface QuotaOptions {
  readonly used?: Amounts;
  readonly spec?: Omit<NonNullable<ResourceQuotaInput['spec']>, 'hard'>;
  readonly namespace?: string;
}

/** Zero by default. */
export async function makeQuota(cluster: TestCluster, name: string, hard: Amounts, options: QuotaOptions = {}) {
  const api = cluster.api(ResourceQuota, options.namespace ?? 'default');
  await api.create({ metadata: { name }, spec: { ...options.spec, hard } });
  const used = options.used ?? Object.fromEntries(Object.keys(hard).map((each) => [each, '0']));
  return await api.status.patch(name, mergePatch({ status: { hard, used } }));
}

export async function usedOf(cluster: TestCluster, name: string, namespace = 'default'): Promise<Amounts | undefined> {
  const { status } = await cluster.api(ResourceQuota, namespace).get(name);
  return status.used;
}

/** The expected rejection, for `rejects.toMatchObject`. */
export const forbidden = (what: string, why: string) => ({ code: 403, message: `${what} is forbidden: ${why}` });
