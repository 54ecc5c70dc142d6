/** Legacy token cleaner: unused service account tokens in Secrets. */
import { type LegacyTokenCleanerOptions, legacyTokenCleaner } from 'orchplane/controllers';
import { ConfigMap, Pod, Secret, ServiceAccount } from 'orchplane/kinds';
import { afterEach, describe, expect, test } from 'vitest';
import { WorkloadWorld } from '../workload-fixture.js';

let world: WorkloadWorld;
afterEach(async () => {
  expect(world.complaints).toEqual([]);
  await world.close();
});

const DAYS = 86_400;
const INVALID = 'orch.io/legacy-token-invalid-since';

function start(options: LegacyTokenCleanerOptions = { cleanUpPeriodMs: 10 * DAYS * 1_000 }) {
  world = new WorkloadWorld([legacyTokenCleaner(options)]);
}

async function makeToken({
  labels = {},
  isListed = true,
}: {
  labels?: Record<string, string>;
  isListed?: boolean;
} = {}) {
  const { metadata } = await world.cluster
    .api(ServiceAccount)
    .create({ metadata: { name: 'builder' }, ...(isListed ? { secrets: [{ name: 't' }] } : {}) });
  await world.cluster.api(Secret).create({
    metadata: {
      name: 't',
      labels,
      annotations: { 'orch.io/service-account.name': 'builder', 'orch.io/service-account.uid': metadata.uid },
    },
    type: 'orch.io/service-account-token',
  });
}

async function track(since: string) {
  const name = 'kube-apiserver-legacy-service-account-token-tracking';
  await world.cluster.api(ConfigMap, 'kube-system').create({ metadata: { name }, data: { since } });
}

/** The label of the token; undefined if the token was deleted. */
async function invalidSince() {
  await world.cluster.settle();
  const secret = await world.cluster.api(Secret).find('t');
  return secret === undefined ? undefined : (secret.metadata.labels?.[INVALID] ?? 'valid');
}

describe('tokens that are not used', () => {
  test('are labelled after the period and deleted after another one', async () => {
    start();
    await track('2029-06-01');
    await makeToken();
    await world.advance(10 * DAYS);
    expect(await invalidSince()).toBe('valid');
    await world.advance(DAYS);
    expect(await invalidSince()).toBe('2030-01-12');
    await world.advance(10 * DAYS);
    expect(await invalidSince()).toBe('2030-01-12');
    await world.advance(DAYS);
    expect(await invalidSince()).toBeUndefined();
  });

  test('are kept without the ConfigMap that says since when use is recorded', async () => {
    start();
    await makeToken();
    await world.advance(30 * DAYS);
    expect(await invalidSince()).toBe('valid');
    await track('2030-01-25');
    // 10 days after the end of the day on which recording began.
    await world.advance(4 * DAYS);
    expect(await invalidSince()).toBe('valid');
    await world.advance(DAYS);
    expect(await invalidSince()).toBe('2030-02-05');
  });
});

describe('tokens that are kept', () => {
  test.each([
    ['was used recently', { labels: { 'orch.io/legacy-token-last-used': '2030-01-25' } }],
    ['has an invalid date of its last use', { labels: { 'orch.io/legacy-token-last-used': 'x' } }],
    ['is not listed by its account', { isListed: false }],
  ])('a token that %s', async (_what, options) => {
    start();
    await track('2029-06-01');
    await makeToken(options);
    await world.advance(30 * DAYS);
    expect(await invalidSince()).toBe('valid');
  });

  test('a token that a pod mounts', async () => {
    start();
    await track('2029-06-01');
    await makeToken();
    await world.cluster.api(Pod).create({
      metadata: { name: 'p' },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', secret: { secretName: 't' } }],
      },
    });
    await world.advance(30 * DAYS);
    expect(await invalidSince()).toBe('valid');
  });

  test('a token that is used again after it was labelled', async () => {
    start();
    await track('2029-06-01');
    await makeToken();
    await world.advance(12 * DAYS);
    const labels = { 'orch.io/legacy-token-last-used': '2030-01-14' };
    await world.cluster.api(Secret).patch('t', { type: 'merge', merge: { metadata: { labels } } });
    await world.advance(11 * DAYS);
    expect(await invalidSince()).toBe('2030-01-12');
  });
});

test('rejects a period that is not positive', () => {
  start();
  expect(() => legacyTokenCleaner({ cleanUpPeriodMs: 0 })).toThrow('cleanUpPeriodMs is a positive number, not 0');
});
