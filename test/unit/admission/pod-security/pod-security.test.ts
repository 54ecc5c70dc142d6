/** What the labels of a namespace do to pods, to templates of pods, and to who changes them. */
import { createCluster, mergePatch } from 'orchplane';
import { podSecurityWith } from 'orchplane/admission';
import { Deployment, Namespace, Pod, type PodInput } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';

let cluster: TestCluster;
let warnings: string[];
beforeEach(() => {
  cluster = testCluster();
  warnings = [];
});

const hearing = () => cluster.with({ onWarning: (text) => warnings.push(text) });
const namespace = (labels: Record<string, string>, name = 'team') =>
  hearing()
    .api(Namespace)
    .create({ metadata: { name, labels: prefixed(labels) } });
const relabel = (labels: Record<string, string | null>) =>
  hearing()
    .api(Namespace)
    .patch('team', mergePatch({ metadata: { labels: prefixed(labels) } } as never));
function prefixed<Value>(labels: Record<string, Value>, domain = 'orch.io'): Record<string, Value> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [`pod-security.${domain}/${key}`, value]));
}
const pod = (spec: object = {}, metadata: object = { name: 'p' }) =>
  hearing()
    .api(Pod, 'team')
    .create({ metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } } as PodInput);

const UNRESTRICTED = [
  'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
  'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"])',
  'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
  'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
].join(', ');

const hardened = {
  containers: [
    { name: 'c', image: 'i', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
  ],
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
};

describe('pods', () => {
  test('that ask for too much are refused', async () => {
    await namespace({ enforce: 'restricted' });
    await expect(pod()).rejects.toMatchObject({
      code: 403,
      status: { details: { name: 'p', kind: 'pods' } },
      message: `pods "p" is forbidden: violates PodSecurity "restricted:latest": ${UNRESTRICTED}`,
    });
    expect(warnings).toEqual([]);
    expect(await pod(hardened)).toBeDefined();
  });

  test('are called by the name that they would have got', async () => {
    await namespace({ enforce: 'baseline' });
    await expect(pod({ hostPID: true }, { generateName: 'web-' })).rejects.toThrow(
      /^pods "web-.{5}" is forbidden: violates PodSecurity "baseline:latest": host namespaces \(hostPID=true\)$/,
    );
  });

  test('are only spoken of where the labels say so', async () => {
    await namespace({ warn: 'baseline', 'warn-version': 'v1.24' });
    await pod({ hostNetwork: true });
    expect(warnings).toEqual(['would violate PodSecurity "baseline:v1.24": host namespaces (hostNetwork=true)']);
  });

  test('are warned of by the level that is enforced as well', async () => {
    await namespace({ enforce: 'baseline', warn: 'restricted' });
    await pod();
    expect(warnings).toEqual([`would violate PodSecurity "restricted:latest": ${UNRESTRICTED}`]);
  });

  test('that are there already can be changed, but not get another image', async () => {
    await namespace({});
    await pod({ hostNetwork: true });
    await relabel({ enforce: 'baseline' });
    const change = (body: object) => cluster.api(Pod, 'team').patch('p', mergePatch(body as never));
    expect(await change({ metadata: { labels: { a: 'b' } } })).toBeDefined();
    await expect(change({ spec: { containers: [{ name: 'c', image: 'j' }] } })).rejects.toMatchObject({ code: 403 });
    expect(await cluster.api(Pod, 'team').subresource('status').patch('p', mergePatch({}))).toBeDefined();
  });

  test('take in no ephemeral container that the level forbids', async () => {
    await namespace({ enforce: 'baseline' });
    await pod();
    const debug = { name: 'debug', image: 'i', securityContext: { privileged: true } };
    await expect(
      cluster
        .api(Pod, 'team')
        .subresource('ephemeralcontainers')
        .patch('p', mergePatch({ spec: { ephemeralContainers: [debug] } } as never)),
    ).rejects.toThrow('privileged (container "debug" must not set securityContext.privileged=true)');
  });

  test('in windows need not say what means nothing there', async () => {
    await namespace({ enforce: 'restricted', 'enforce-version': 'v1.24' });
    const windows = { os: { name: 'windows' }, securityContext: { runAsNonRoot: true } };
    await expect(pod(windows)).rejects.toMatchObject({ code: 403 });
    await relabel({ 'enforce-version': 'v1.25' });
    expect(await pod(windows)).toBeDefined();
  });
});

test('pods with users of their own may do more when the gate is on', async () => {
  const unmasked = {
    hostUsers: false,
    containers: [{ name: 'c', image: 'i', securityContext: { procMount: 'Unmasked' } }],
  };
  await namespace({ enforce: 'baseline' });
  await expect(pod(unmasked)).rejects.toThrow('procMount (container "c" must not set securityContext.procMount');
  cluster = testCluster({ featureGates: { UserNamespacesPodSecurityStandards: true } });
  await namespace({ enforce: 'baseline' });
  expect(await pod(unmasked)).toBeDefined();
});

describe('templates', () => {
  const deployment = () =>
    hearing()
      .api(Deployment, 'team')
      .create({
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: {
            metadata: { labels: { a: 'b' } },
            spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] },
          },
        },
      });

  test('are warned of and never refused', async () => {
    await namespace({ enforce: 'baseline' });
    await deployment();
    expect(warnings).toEqual(['would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)']);
  });

  test('are passed over where nobody would be told', async () => {
    await namespace({ enforce: 'baseline', warn: 'privileged' });
    await deployment();
    expect(warnings).toEqual([]);
  });
});

describe('namespaces', () => {
  test('must have labels that mean something', async () => {
    await expect(namespace({ enforce: 'strict', 'warn-version': '1.20' })).rejects.toMatchObject({
      code: 422,
      message:
        'Namespace "team" is invalid: [metadata.labels[pod-security.orch.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, ' +
        'metadata.labels[pod-security.orch.io/warn-version]: Invalid value: "1.20": must be "latest" or "v1.x"]',
    });
    expect(await namespace({ enforce: 'baseline', 'enforce-version': 'v1.99', other: 'x' })).toBeDefined();
  });

  test('that become stricter hear of the pods in them', async () => {
    await namespace({});
    for (const name of ['b', 'a', 'c']) await pod({ hostNetwork: true }, { name });
    await pod({ hostPID: true }, { name: 'd' });
    await pod({}, { name: 'e' });
    await relabel({ enforce: 'baseline' });
    expect(warnings).toEqual([
      'existing pods in namespace "team" violate the new PodSecurity enforce level "baseline:latest"',
      'a (and 3 other pods): host namespaces',
    ]);
    warnings = [];
    await relabel({ enforce: 'restricted' });
    expect(warnings.slice(1)).toEqual([
      'a (and 3 other pods): host namespaces, allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
      'e: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
    ]);
    warnings = [];
    await relabel({ enforce: 'baseline' });
    await relabel({ enforce: 'privileged' });
    expect(warnings).toEqual([]);
  });

  test('labels of another dialect mean nothing', async () => {
    const labels = prefixed({ enforce: 'restricted' }, 'kubernetes.io');
    await cluster.api(Namespace).create({ metadata: { name: 'team', labels } });
    expect(await pod({ hostPID: true })).toBeDefined();
    const other = createCluster({ dialect: 'kubernetes' });
    await other.api(Namespace).create({ metadata: { name: 'team', labels } });
    const body = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await expect(other.api(Pod, 'team').create(body)).rejects.toMatchObject({ code: 403 });
  });
});

describe('the plugin with options', () => {
  const strict = podSecurityWith({
    defaults: { enforce: 'baseline' },
    exemptions: { namespaces: ['free'], usernames: ['root'], runtimeClasses: ['vm'] },
  });

  test('holds where labels say nothing', async () => {
    cluster = testCluster({ admission: [strict] });
    await namespace({});
    await expect(pod({ hostPID: true })).rejects.toMatchObject({ code: 403 });
    expect(await pod({ hostPID: true, runtimeClassName: 'vm' })).toBeDefined();
  });

  test('tells a namespace that its labels are for nothing', async () => {
    cluster = testCluster({ admission: [strict] });
    await namespace({ enforce: 'restricted', warn: 'baseline' }, 'free');
    expect(warnings).toEqual([
      'namespace "free" is exempt from Pod Security, and the policy (enforce=restricted:latest, warn=baseline:latest) will be ignored',
    ]);
  });

  test.each<[object, string]>([
    [{ default: {} }, 'has no option "default"'],
    [{ defaults: { enforce: 'strict' } }, 'defaults.enforce is "strict"'],
    [{ defaults: { warnVersion: '1.2' } }, 'defaults.warnVersion is "1.2"'],
    [{ exemptions: { namespaces: ['A'] } }, 'exemptions.namespaces is "A"'],
    [{ exemptions: { users: [] } }, 'has no option "users"'],
    [{ exemptions: { usernames: [''] } }, 'exemptions.usernames is ""'],
    [{ exemptions: { runtimeClasses: ['a b'] } }, 'exemptions.runtimeClasses is "a b"'],
  ])('refuses %j', (options, message) => {
    expect(() => podSecurityWith(options)).toThrow(message);
  });
});
