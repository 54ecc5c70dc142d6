/**
 * Responses of webhooks, compared with recordings of the reference server's plugins. The responses are delivered
 * through `fetch`.
 */
import { readFileSync } from 'node:fs';
import { ConfigMap, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { CONFIG_MAPS, hook } from './hooks.js';

interface Case {
  readonly name: string;
  readonly type: 'mutating' | 'validating';
  readonly version: string;
  readonly code?: number;
  readonly contentType?: string;
  readonly body: string;
  readonly operation?: 'DELETE';
  readonly ignore?: boolean;
  /** The message of a failure without the common prefix of its type. */
  readonly internal?: string;
  readonly status?: object;
  readonly plain?: string;
  readonly object?: object;
  readonly warnings?: readonly string[];
}

const cases = JSON.parse(readFileSync(new URL('./responses.json', import.meta.url), 'utf8')) as Case[];

let current: Case;
let uid = '';

/** The response of the current case. */
async function result(_url: unknown, init: { readonly body: string }): Promise<Response> {
  uid = JSON.parse(init.body).request.uid;
  const { body, code = 200, contentType = 'application/json' } = current;
  // A string body would get a content type by default.
  const bytes = new TextEncoder().encode(body.replaceAll('REVIEW-ID', uid));
  const headers: Record<string, string> = contentType === '' ? {} : { 'content-type': contentType };
  return new Response(code === 204 ? null : bytes, { status: code, headers });
}

const clusters = new Map<string, Promise<TestCluster>>();

/** One cluster per type of webhook; it stores only the webhook and one object. */
function clusterFor({ type, version, ignore = false }: Case): Promise<TestCluster> {
  const key = `${type} ${version} ${ignore}`;
  let made = clusters.get(key);
  if (made === undefined) {
    made = prepare(type, version, ignore ? 'Ignore' : 'Fail');
    clusters.set(key, made);
  }
  return made;
}

async function prepare(type: Case['type'], version: string, failurePolicy: string): Promise<TestCluster> {
  const webhooks = { resolve: () => undefined, fetch: result };
  const cluster = testCluster({ dialect: 'kubernetes', webhooks: webhooks as never });
  await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'old' }, data: { k: 'v' } });
  const configuration = {
    metadata: { name: 'one' },
    webhooks: [
      hook({
        service: 'x',
        rules: [CONFIG_MAPS],
        failurePolicy,
        admissionReviewVersions: [version],
        clientConfig: { url: 'https://hooks.example.com/x' },
      }),
    ],
  };
  if (type === 'mutating') await cluster.api(MutatingWebhookConfiguration).create(configuration);
  else await cluster.api(ValidatingWebhookConfiguration).create(configuration);
  return cluster;
}

describe.each(['mutating v1', 'mutating v1beta1', 'validating v1', 'validating v1beta1'])(
  'responses of %s webhooks',
  (group) => {
    test.each(cases.filter(({ type, version }) => `${type} ${version}` === group))(
      'handles a webhook response as the reference server does: $name',
      async (one) => {
        const cluster = await clusterFor(one);
        current = one;
        let warnings: readonly string[] = [];
        using _recorder = cluster.use(async (_request, next) => {
          const response = await next();
          if ('warnings' in response) warnings = response.warnings;
          return response;
        });
        const maps = cluster.api(ConfigMap, 'default');
        const dryRun = true;
        const done =
          one.operation === 'DELETE'
            ? maps.delete('old', { dryRun })
            : maps.create({ metadata: { name: 'a' }, data: { k: 'v' } }, { dryRun });
        const outcome: unknown = await done.catch((error: unknown) => error);
        const { code, message, status } = outcome as { code?: number; message?: string; status?: { kind?: string } };
        if (one.internal !== undefined) {
          expect(message?.replaceAll(uid, 'REVIEW-ID')).toBe(`Internal error occurred: ${one.internal}`);
          expect(code).toBe(500);
        } else if (one.status !== undefined) {
          expect(status).toEqual({ kind: 'Status', apiVersion: 'v1', ...one.status });
        } else if (one.plain !== undefined) {
          expect(message).toBe(one.plain);
        } else {
          expect(outcome).not.toBeInstanceOf(Error);
          if (one.object !== undefined) expect(outcome).toMatchObject(one.object);
          expect(warnings).toEqual((one.warnings ?? []).filter((text) => text !== ''));
        }
      },
    );
  },
);
