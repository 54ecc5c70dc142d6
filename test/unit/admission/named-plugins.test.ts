/** Selection of admission plugins by name, with configurations. */
import { expect, test } from 'vitest';
import { admissionPlugins, defaultAdmission } from '../../../src/admission/index.js';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { Namespace, Pod } from '../../../src/kinds/index.js';

const namesOf = (options: Parameters<typeof admissionPlugins>[0]) => admissionPlugins(options).map(({ name }) => name);
const defaults = defaultAdmission.map(({ name }) => name);

test('returns the default plugins without options', () => {
  expect(namesOf({})).toEqual(defaults);
});

test('adds and removes plugins in the order of the reference server', () => {
  const names = namesOf({ enable: ['NodeRestriction', 'AlwaysPullImages'], disable: ['LimitRanger', 'AlwaysDeny'] });
  expect(names.slice(0, 4)).toEqual([
    'NamespaceLifecycle',
    'NodeRestriction',
    'TaintNodesByCondition',
    'AlwaysPullImages',
  ]);
  expect(names.length).toBe(defaults.length + 1);
  expect(namesOf({ enable: ['PodSecurity'] })).toEqual(defaults);
});

test.each([
  [{ enable: ['Nothing'] }, 'enable: the admission plugin "Nothing" is unknown'],
  [{ disable: ['Nothing'] }, 'disable: the admission plugin "Nothing" is unknown'],
  [{ enable: ['ImagePolicyWebhook'] }, '"ImagePolicyWebhook" is not available here'],
  [{ enable: ['AlwaysAdmit'], disable: ['AlwaysAdmit'] }, 'both enabled and disabled: AlwaysAdmit'],
  [{ enable: ['EventRateLimit'] }, 'EventRateLimit needs a configuration'],
  [{ configurations: { LimitRanger: {} } }, 'LimitRanger has no configuration here'],
  [{ configurations: { PodSecurity: 'x' } }, 'the configuration of PodSecurity is not an object'],
  [
    { configurations: { PodSecurity: { apiVersion: 'v1', kind: 'Pod' } } },
    /the configuration of PodSecurity is a PodSecurityConfiguration of .*, not v1 Pod/,
  ],
])('rejects %j', (options, message) => {
  expect(() => admissionPlugins(options)).toThrow(TypeError);
  expect(() => admissionPlugins(options)).toThrow(message);
});

test('ignores configurations of plugins that are not used', () => {
  expect(namesOf({ configurations: { EventRateLimit: { limits: [] }, Unknown: 1 } })).toEqual(defaults);
});

test('configures PodSecurity, PodNodeSelector and PodTolerationRestriction', async () => {
  const admission = admissionPlugins({
    enable: ['PodNodeSelector', 'PodTolerationRestriction'],
    configurations: {
      PodSecurity: {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        defaults: { enforce: 'baseline', 'enforce-version': 'latest' },
        exemptions: { namespaces: ['trusted'] },
      },
      PodNodeSelector: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'pool=shared' } },
      PodTolerationRestriction: {
        apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
        kind: 'Configuration',
        default: [{ key: 'shared', operator: 'Exists' }],
      },
    },
  });
  const cluster = createCluster({ admission });
  await cluster.api(Namespace).create({ metadata: { name: 'trusted' } });
  const pod = (privileged: boolean) => ({
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'a', image: 'a', securityContext: { privileged } }] },
  });
  await expect(cluster.api(Pod).create(pod(true))).rejects.toThrow('violates PodSecurity "baseline:latest"');
  await cluster.api(Pod, 'trusted').create(pod(true));
  const { spec } = await cluster.api(Pod).create(pod(false));
  expect(spec.nodeSelector).toEqual({ pool: 'shared' });
  expect(spec.tolerations).toContainEqual({ key: 'shared', operator: 'Exists' });
});
