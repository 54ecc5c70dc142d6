/** Warnings about pods and templates, and profiles that are set in fields and annotations. */
import { mergePatch } from 'orchplane';
import { Pod, type PodInput, PodTemplate, ReplicationController, StatefulSet } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

const container = { name: 'c', image: 'i' };

async function warningsOf(spec: object, annotations: Record<string, string> = {}): Promise<string[]> {
  const warnings: string[] = [];
  const input = { metadata: { name: 'p', annotations }, spec: { containers: [container], ...spec } };
  await testCluster()
    .with({ onWarning: (text) => warnings.push(text) })
    .api(Pod, 'default')
    .create(input as PodInput);
  return warnings;
}

describe('a Pod', () => {
  const zone = 'failure-domain.beta.orch.io/zone';
  const old = `${zone} is deprecated since v1.17; use "topology.orch.io/zone" instead`;
  const terms = [{ matchExpressions: [{ key: zone, operator: 'Exists' }] }];
  const nodeAt = 'spec.affinity.nodeAffinity';
  const spread = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
  const odd = { matchExpressions: [{ key: 'k', operator: 'In', values: ['-1'] }] };
  const noSelector = 'labelSelector: a null labelSelector results in matching no pod';

  test.each<[object, string[]]>([
    [
      { topologySpreadConstraints: [{ ...spread, topologyKey: zone }] },
      [`spec.topologySpreadConstraints[0].topologyKey: ${old}`, `spec.topologySpreadConstraints[0].${noSelector}`],
    ],
    [
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } } },
      [`${nodeAt}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: ${old}`],
    ],
    [
      {
        affinity: {
          nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: odd }] },
        },
      },
      [
        `${nodeAt}.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[0]: -1 is invalid, a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
      ],
    ],
    [
      { containers: [{ ...container, ports: [{ containerPort: 80, hostIP: '10.0.0.1' }] }] },
      [
        'spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:10.0.0.1}',
      ],
    ],
    [
      {
        containers: [
          {
            ...container,
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '$(A)' },
            ],
          },
        ],
      },
      ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ],
  ])('returns the warnings of %j', async (spec, expected) => {
    expect(await warningsOf(spec)).toEqual(expected);
  });

  const key = 'container.apparmor.security.beta.orch.io/c';
  const deprecated = `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
  const profile = { type: 'RuntimeDefault' };
  test.each<[string, object, string[]]>([
    ['alone', {}, [deprecated]],
    ['beside the same of the pod', { securityContext: { appArmorProfile: profile } }, []],
    [
      'beside the same of the container',
      { containers: [{ ...container, securityContext: { appArmorProfile: profile } }] },
      [],
    ],
  ])('converts a profile in an annotation of a Pod: %s', async (_, spec, expected) => {
    expect(await warningsOf(spec, { [key]: 'runtime/default' })).toEqual(expected);
  });

  const seccomp = 'seccomp.security.alpha.orch.io/pod';
  const ofContainer = 'container.seccomp.security.alpha.orch.io/c';
  const inContainer = (securityContext: object) => ({ containers: [{ ...container, securityContext }] });
  const local = { type: 'Localhost', localhostProfile: 'a' };
  test.each<[Record<string, string>, object, string]>([
    [
      { [seccomp]: 'unconfined' },
      { securityContext: { seccompProfile: profile } },
      'spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
    ],
    [
      { [ofContainer]: 'localhost/b' },
      inContainer({ seccompProfile: local }),
      'spec.containers[0].securityContext.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field must match',
    ],
    [
      { [key]: 'unconfined' },
      inContainer({ appArmorProfile: profile }),
      'spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match',
    ],
    [
      { [key]: 'localhost/b' },
      inContainer({ appArmorProfile: local }),
      'spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match',
    ],
  ])('rejects a Pod with annotations %j if the field does not match', async (annotations, spec, problem) => {
    expect(await rejectionCauses(warningsOf(spec, annotations))).toEqual([problem]);
  });
});

describe('a pod template', () => {
  const template = (spec: object) => ({
    metadata: { labels: { app: 'a' } },
    spec: { containers: [container], ...spec },
  });
  const unnamed = template({ imagePullSecrets: [{}] });

  test('returns warnings of a PodTemplate', async () => {
    const warnings: string[] = [];
    const templates = testCluster()
      .with({ onWarning: (text) => warnings.push(text) })
      .api(PodTemplate);
    await templates.create({ metadata: { name: 't' }, template: unnamed });
    await templates.patch('t', mergePatch({ metadata: { labels: { a: 'b' } } }));
    await templates.patch('t', mergePatch({ template: { spec: { hostname: 'h' } } }));
    const warning = 'template.spec.imagePullSecrets[0].name: invalid empty name ""';
    expect(warnings).toEqual([warning, warning]);
  });

  test('returns warnings about the live template of an updated ReplicationController', async () => {
    const warnings: string[] = [];
    const controllers = testCluster()
      .with({ onWarning: (text) => warnings.push(text) })
      .api(ReplicationController);
    await controllers.create({ metadata: { name: 'r.s' }, spec: { template: unnamed } });
    expect(warnings.splice(0)).toEqual([
      'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]',
      'spec.template.spec.imagePullSecrets[0].name: invalid empty name ""',
    ]);
    await controllers.patch('r.s', mergePatch({ spec: { template: { spec: { imagePullSecrets: null } } } }));
    expect(warnings.splice(0)).toEqual(['spec.template.spec.imagePullSecrets[0].name: invalid empty name ""']);
    await controllers.patch('r.s', mergePatch({ spec: { replicas: 2 } }));
    expect(warnings).toEqual([]);
  });

  test('returns a warning about an AppArmor annotation unless the field is set', async () => {
    const warnings: string[] = [];
    const templates = testCluster()
      .with({ onWarning: (text) => warnings.push(text) })
      .api(PodTemplate);
    const key = 'container.apparmor.security.beta.orch.io/c';
    const metadata = { annotations: { [key]: 'unconfined' } };
    await templates.create({ metadata: { name: 'a' }, template: { ...template({}), metadata } });
    const securityContext = { appArmorProfile: { type: 'Unconfined' } } as const;
    await templates.create({ metadata: { name: 'b' }, template: { ...template({ securityContext }), metadata } });
    expect(warnings).toEqual([
      `template.metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ]);
  });

  test('returns warnings about fractional bytes in claim templates', async () => {
    const warnings: string[] = [];
    await testCluster()
      .with({ onWarning: (text) => warnings.push(text) })
      .api(StatefulSet)
      .create({
        metadata: { name: 's' },
        spec: {
          serviceName: 's',
          selector: { matchLabels: { app: 'a' } },
          template: template({}),
          volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { resources: { requests: { storage: '1500m' } } } }],
        },
      });
    expect(warnings).toEqual([
      'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ]);
  });
});
