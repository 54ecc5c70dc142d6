/**
 * The pod security checks and the plugin, compared with recordings of the reference implementation on random pods and
 * requests. Most results are recorded as digests only; some are recorded in full.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { evaluatePod, printDetails, printReasons } from '../../../../src/admission/pod-security/evaluate.js';
import { podSecurity, podSecurityWith } from '../../../../src/admission/pod-security/pod-security.js';
import type { ReviewedPod } from '../../../../src/admission/pod-security/review.js';
import { Deployment } from '../../../../src/kinds/apps/v1/deployment.js';
import { CronJob } from '../../../../src/kinds/batch/v1/cron-job.js';
import { Namespace } from '../../../../src/kinds/core/v1/namespace.js';
import { Pod } from '../../../../src/kinds/core/v1/pod/pod.js';
import { PodTemplate } from '../../../../src/kinds/core/v1/pod-template.js';
import { ReplicationController } from '../../../../src/kinds/core/v1/replication-controller.js';
import type { Kind } from '../../../../src/kinds/kind.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { StatusError } from '../../../../src/meta/errors.js';
import { fakeRequest, fakeView, finished, type Sketch } from '../fake-cluster.js';
import { DEFAULTS, EXEMPTIONS, type RandomPod, type RandomRequest, randomPods, randomRequests } from './random-pods.js';

interface Fixture {
  readonly pods: { readonly digests: string; readonly whole: readonly (readonly string[])[] };
  readonly requests: { readonly digests: string; readonly whole: readonly unknown[] };
}

const fixture = JSON.parse(readFileSync(new URL('./reference-results.json', import.meta.url), 'utf8')) as Fixture;
const DIGEST = 8;
const digestAt = (digests: string, index: number) => digests.slice(index * DIGEST, (index + 1) * DIGEST);
const digestOf = (result: unknown) =>
  createHash('sha256').update(JSON.stringify(result)).digest('hex').slice(0, DIGEST);

const VERSIONS = [...Array.from({ length: 34 }, (_, minor) => `v1.${minor}`), 'latest'];

/** The violations for each level and version; an entry is recorded only where it differs from the previous one. */
function answersTo({ annotations, spec }: RandomPod, trustsUserNamespaces: boolean): string[] {
  const pod = { annotations, spec, dialect: kubernetesDialect, trustsUserNamespaces } as unknown as ReviewedPod;
  return (['baseline', 'restricted'] as const).flatMap((level) => {
    let last: string | undefined;
    return VERSIONS.flatMap((version) => {
      const violations = evaluatePod({ level, version }, pod);
      const text = `${printReasons(violations)} | ${printDetails(violations)}`;
      if (text === last) return [];
      last = text;
      return [`${level}:${version} ${text}`];
    });
  });
}

describe('pod security checks for every level and version', () => {
  const pods = randomPods(1, 300);
  test('has a recorded result for each pod', () => {
    expect(fixture.pods.digests.length).toBe(pods.length * DIGEST);
    expect(fixture.pods.whole.length).toBeGreaterThan(9);
  });

  test('matches the results that are recorded in full', () => {
    expect(pods.slice(0, fixture.pods.whole.length).map((pod, index) => answersTo(pod, index % 2 === 1))).toEqual(
      fixture.pods.whole,
    );
  });

  test('matches the digests of all recorded results', () => {
    const wrong = pods.flatMap((pod, index) => {
      const answers = answersTo(pod, index % 2 === 1);
      return digestOf(answers) === digestAt(fixture.pods.digests, index) ? [] : [{ index, pod, answers }];
    });
    expect(wrong).toEqual([]);
  });
});

const KINDS: Readonly<Record<string, Kind>> = {
  namespaces: Namespace as unknown as Kind,
  pods: Pod as unknown as Kind,
  podtemplates: PodTemplate as unknown as Kind,
  replicationcontrollers: ReplicationController as unknown as Kind,
  deployments: Deployment as unknown as Kind,
  cronjobs: CronJob as unknown as Kind,
};

function objectFor({ resource, namespace }: RandomRequest, labels: object, { annotations, spec }: RandomPod): Sketch {
  const template = { metadata: { annotations }, spec };
  const metadata = { name: 'x', namespace };
  if (resource === 'namespaces') return { metadata: { name: namespace, labels } };
  if (resource === 'pods') return { metadata: { ...metadata, annotations }, spec };
  if (resource === 'podtemplates') return { metadata, template };
  return { metadata, spec: resource === 'cronjobs' ? { jobTemplate: { spec: { template } } } : { template } };
}

const configured = podSecurityWith({ defaults: DEFAULTS, exemptions: EXEMPTIONS });

function resultOf(randomRequest: RandomRequest): unknown {
  const { namespace, operation, subresource, resource } = randomRequest;
  const view = fakeView({
    objects: {
      '/namespaces': namespace === 'gone' ? [] : [{ metadata: { name: namespace, labels: randomRequest.labels } }],
      '/pods': Object.keys(randomRequest.pods)
        .sort()
        .map((name) => ({
          metadata: { name, namespace, annotations: randomRequest.pods[name]?.annotations },
          spec: randomRequest.pods[name]?.spec,
        })),
    },
  });
  const request = fakeRequest({
    kind: KINDS[resource] as Kind,
    operation,
    subresource,
    namespace,
    user: { user: randomRequest.user },
    object: objectFor(randomRequest, randomRequest.labels, randomRequest.pod),
    ...(operation === 'UPDATE'
      ? { oldObject: objectFor(randomRequest, randomRequest.oldLabels, randomRequest.oldPod) }
      : {}),
  });
  const rejected = statusOf(() =>
    (randomRequest.isConfigured ? configured : podSecurity).validate?.(finished(request), view),
  );
  return {
    ...(rejected === undefined ? {} : { refused: rejected }),
    warnings: request.warnings,
    notes: Object.entries(request.notes).sort(([left], [right]) => (left < right ? -1 : 1)),
  };
}

function statusOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    const { message, code, details } = error.status;
    return { message, code, details };
  }
}

describe('pod security admission requests', () => {
  const requests = randomRequests(2, 2500);
  test('matches the results that are recorded in full', () => {
    expect(requests.slice(0, fixture.requests.whole.length).map(resultOf)).toEqual(fixture.requests.whole);
  });

  test('matches the digests of all recorded results', () => {
    expect(fixture.requests.digests.length).toBe(requests.length * DIGEST);
    const wrong = requests.flatMap((request, index) => {
      const result = resultOf(request);
      return digestOf(result) === digestAt(fixture.requests.digests, index) ? [] : [{ index, request, result }];
    });
    expect(wrong).toEqual([]);
  });
});
