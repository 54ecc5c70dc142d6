/** Helpers of the webhook tests: a cluster whose services are functions, and webhook configurations for them. */
import type { Client } from 'orchplane';
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from 'orchplane/kinds';
import { type TestCluster, type TestClusterOptions, testCluster } from 'orchplane/testing';
import type { WebhookFunction } from '../../../../src/kinds/reconciler.js';

// biome-ignore lint/suspicious/noExplicitAny: tests read reviews field by field.
export type Review = any;

/** Answers a review; the result is returned together with the uid. */
export type ReviewResult = (review: Review) => object | Promise<object>;

export interface HookCluster {
  readonly cluster: TestCluster;
  /** Every review that was sent, with its service. */
  readonly calls: { readonly service: string; readonly review: Review }[];
}

/** Services by name. Functions in `raw` return the whole review. */
export function hookCluster(
  services: Readonly<Record<string, ReviewResult>>,
  raw: Readonly<Record<string, WebhookFunction>> = {},
  options: TestClusterOptions = {},
): HookCluster {
  const calls: HookCluster['calls'] = [];
  const webhooks = {
    resolve({ service }: { readonly service?: { readonly name: string } }) {
      const name = service?.name ?? '';
      const whole = raw[name];
      const result = services[name];
      if (whole === undefined && result === undefined) return undefined;
      return async (review: Review) => {
        calls.push({ service: name, review: structuredClone(review) });
        if (whole !== undefined) return whole(review);
        const { kind, apiVersion, request } = review;
        return { kind, apiVersion, response: { uid: request.uid, ...(await result?.(review)) } };
      };
    },
  };
  const cluster = testCluster({
    dialect: 'kubernetes',
    ...options,
    webhooks: webhooks as never,
  });
  return { cluster, calls };
}

export interface HookWish {
  readonly service: string;
  readonly name?: string;
  readonly [field: string]: unknown;
}

export const PODS = rule('', 'v1', 'pods');
export const CONFIG_MAPS = rule('', 'v1', 'configmaps');

export function rule(group: string, version: string, resource: string, operations = ['*']): object {
  return { apiGroups: [group], apiVersions: [version], resources: [resource], operations };
}

export function hook({ service, name = `${service}.example.com`, ...more }: HookWish): never {
  return {
    name,
    clientConfig: { service: { namespace: 'hooks', name: service, path: `/${service}` } },
    rules: [CONFIG_MAPS],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  } as never;
}

export async function mutateWith(cluster: Client, name: string, ...hooks: readonly HookWish[]): Promise<void> {
  await cluster.api(MutatingWebhookConfiguration).create({ metadata: { name }, webhooks: hooks.map(hook) });
}

export async function validateWith(cluster: Client, name: string, ...hooks: readonly HookWish[]): Promise<void> {
  await cluster.api(ValidatingWebhookConfiguration).create({ metadata: { name }, webhooks: hooks.map(hook) });
}

/** A response that patches the object. */
export function patching(...operations: readonly object[]): ReviewResult {
  return () => ({ allowed: true, patchType: 'JSONPatch', patch: btoa(JSON.stringify(operations)) });
}

export const allow: ReviewResult = () => ({ allowed: true });
