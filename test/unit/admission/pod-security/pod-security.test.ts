/** The effect of pod security labels of a namespace on pods, pod templates and the namespace itself. */
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

describe('PodSecurity for pods', () => {
  test('rejects a pod that violates the enforced level', async () => {
    await namespace({ enforce: 'restricted' });
    await expect(pod()).rejects.toMatchObject({
      code: 403,
      status: { details: { name: 'p', kind: 'pods' } },
      message: `pods "p" is forbidden: violates PodSecurity "restricted:latest": ${UNRESTRICTED}`,
    });
    expect(warnings).toEqual([]);
    expect(await pod(hardened)).toBeDefined();
  });

  test('uses the generated name of a pod in the message', async () => {
    await namespace({ enforce: 'baseline' });
    await expect(pod({ hostPID: true }, { generateName: 'web-' })).rejects.toThrow(
      /^pods "web-.{5}" is forbidden: violates PodSecurity "baseline:latest": host namespaces \(hostPID=true\)$/,
    );
  });

  test('only warns about a violation of the warn level', async () => {
    await namespace({ warn: 'baseline', 'warn-version': 'v1.24' });
    await pod({ hostNetwork: true });
    expect(warnings).toEqual(['would violate PodSecurity "baseline:v1.24": host namespaces (hostNetwork=true)']);
  });

  test('warns about the warn level although the pod satisfies the enforced level', async () => {
    await namespace({ enforce: 'baseline', warn: 'restricted' });
    await pod();
    expect(warnings).toEqual([`would violate PodSecurity "restricted:latest": ${UNRESTRICTED}`]);
  });

  test('allows changes to an existing violating pod, but not to its image', async () => {
    await namespace({});
    await pod({ hostNetwork: true });
    await relabel({ enforce: 'baseline' });
    const change = (body: object) => cluster.api(Pod, 'team').patch('p', mergePatch(body as never));
    expect(await change({ metadata: { labels: { a: 'b' } } })).toBeDefined();
    await expect(change({ spec: { containers: [{ name: 'c', image: 'j' }] } })).rejects.toMatchObject({ code: 403 });
    expect(await cluster.api(Pod, 'team').subresource('status').patch('p', mergePatch({}))).toBeDefined();
  });

  test('rejects an ephemeral container that violates the level', async () => {
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

  test('does not require Linux-only fields of a Windows pod from v1.25 on', async () => {
    await namespace({ enforce: 'restricted', 'enforce-version': 'v1.24' });
    const windows = { os: { name: 'windows' }, securityContext: { runAsNonRoot: true } };
    await expect(pod(windows)).rejects.toMatchObject({ code: 403 });
    await relabel({ 'enforce-version': 'v1.25' });
    expect(await pod(windows)).toBeDefined();
  });
});

test('relaxes the checks of pods with user namespaces if the feature gate is enabled', async () => {
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

describe('PodSecurity for pod templates', () => {
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

  test('warns about a violating template and never rejects it', async () => {
    await namespace({ enforce: 'baseline' });
    await deployment();
    expect(warnings).toEqual(['would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)']);
  });

  test('does not check a template if warnings are disabled', async () => {
    await namespace({ enforce: 'baseline', warn: 'privileged' });
    await deployment();
    expect(warnings).toEqual([]);
  });
});

describe('PodSecurity for namespaces', () => {
  test('rejects invalid level and version labels', async () => {
    await expect(namespace({ enforce: 'strict', 'warn-version': '1.20' })).rejects.toMatchObject({
      code: 422,
      message:
        'Namespace "team" is invalid: [metadata.labels[pod-security.orch.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, ' +
        'metadata.labels[pod-security.orch.io/warn-version]: Invalid value: "1.20": must be "latest" or "v1.x"]',
    });
    expect(await namespace({ enforce: 'baseline', 'enforce-version': 'v1.99', other: 'x' })).toBeDefined();
  });

  test('warns about violating pods when the enforced level becomes stricter', async () => {
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

  test('ignores the labels of another dialect', async () => {
    const labels = prefixed({ enforce: 'restricted' }, 'kubernetes.io');
    await cluster.api(Namespace).create({ metadata: { name: 'team', labels } });
    expect(await pod({ hostPID: true })).toBeDefined();
    const other = createCluster({ dialect: 'kubernetes' });
    await other.api(Namespace).create({ metadata: { name: 'team', labels } });
    const body = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await expect(other.api(Pod, 'team').create(body)).rejects.toMatchObject({ code: 403 });
  });
});

describe('PodSecurity with options', () => {
  const strict = podSecurityWith({
    defaults: { enforce: 'baseline' },
    exemptions: { namespaces: ['free'], usernames: ['root'], runtimeClasses: ['vm'] },
  });

  test('applies the default level to a namespace without labels', async () => {
    cluster = testCluster({ admission: [strict] });
    await namespace({});
    await expect(pod({ hostPID: true })).rejects.toMatchObject({ code: 403 });
    expect(await pod({ hostPID: true, runtimeClassName: 'vm' })).toBeDefined();
  });

  test('warns that the labels of an exempt namespace are ignored', async () => {
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
  ])('rejects the options %j', (options, message) => {
    expect(() => podSecurityWith(options)).toThrow(message);
  });
});
