/** Defaulting and validation of pods, with the reference server's messages. */
import { Pod, type PodInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

const container = { name: 'c', image: 'i' };
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function create(spec: object, metadata: object = {}, onWarning: (warning: string) => void = () => undefined) {
  const input = { metadata: { name: 'p', ...metadata }, spec: { containers: [container], ...spec } };
  return testCluster()
    .with({ onWarning })
    .api(Pod, 'default')
    .create(input as PodInput);
}

const inContainer = (fields: object) => create({ containers: [{ ...container, ...fields }] });

/** `[fields, …problems]`; error paths are relative to the first container by default. */
type Case = readonly [fields: object, ...problems: string[]];

describe('a new Pod', () => {
  test('gets all defaults', async () => {
    const { spec, status, metadata } = await create({});
    expect(metadata.generation).toBe(1);
    expect(status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
    });
    expect(spec.containers).toEqual([
      {
        ...container,
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'Always',
      },
    ]);
  });

  test.each([
    ['i', 'Always'],
    ['i:latest', 'Always'],
    ['i:1', 'IfNotPresent'],
    ['host:5000/a/b', 'Always'],
    [`i@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
    ['Not/An/Image', 'IfNotPresent'],
  ])('sets for the image %s the pull policy %s', async (image, policy) => {
    const { spec } = await inContainer({ image });
    expect(spec.containers[0]?.imagePullPolicy).toBe(policy);
  });

  test.each<[object, object]>([
    [{ ports: [{ containerPort: 1 }] }, { ports: [{ containerPort: 1, protocol: 'TCP' }] }],
    [
      { livenessProbe: { httpGet: { port: 80 } } },
      {
        livenessProbe: {
          httpGet: { path: '/', port: 80, scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    ],
    [{ startupProbe: { grpc: { port: 5 } } }, { startupProbe: { grpc: { port: 5, service: '' } } }],
    [
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      { env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }] },
    ],
    [
      { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100u' } } },
      { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1m', memory: '1Gi' } } },
    ],
  ])('gets the defaults for %j', async (given, expected) => {
    expect((await inContainer(given)).spec.containers[0]).toMatchObject(expected);
  });

  test('sets both service account fields, host ports with hostNetwork, and a positive grace period', async () => {
    const { spec } = await create({
      containers: [{ ...container, ports: [{ containerPort: 7 }] }],
      serviceAccount: 'old',
      hostNetwork: true,
      terminationGracePeriodSeconds: -5,
    });
    expect(spec).toMatchObject({ serviceAccountName: 'old', serviceAccount: 'old', terminationGracePeriodSeconds: 1 });
    expect(spec.containers[0]?.ports).toEqual([{ containerPort: 7, hostPort: 7, protocol: 'TCP' }]);
  });

  const both = { cpu: '1', memory: '1Gi' };
  test.each<[object, string]>([
    [{}, 'BestEffort'],
    [{ requests: { cpu: '1' } }, 'Burstable'],
    [{ limits: { cpu: '1' } }, 'Burstable'],
    [{ limits: both }, 'Guaranteed'],
    [{ limits: both, requests: { cpu: '500m' } }, 'Burstable'],
    [{ limits: { 'example.com/gpu': '1' } }, 'BestEffort'],
  ])('computes for resources %j the QoS class %s', async (resources, qosClass) => {
    expect((await inContainer({ resources })).status.qosClass).toBe(qosClass);
  });

  test('gets a PodScheduled condition if it has scheduling gates', async () => {
    const { status } = await create({ schedulingGates: [{ name: 'x' }] });
    expect(status.conditions).toEqual([
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: '2030-01-01T00:00:00Z',
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ]);
  });

  test('has AppArmor profiles in fields and annotations', async () => {
    const key = 'container.apparmor.security.beta.orch.io/c';
    const byField = await inContainer({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } });
    expect(byField.metadata.annotations).toEqual({ [key]: 'runtime/default' });
    const byAnnotation = await create({}, { annotations: { [key]: 'localhost/mine' } });
    expect(byAnnotation.spec.containers[0]?.securityContext).toEqual({
      appArmorProfile: { type: 'Localhost', localhostProfile: 'mine' },
    });
  });

  test('has matchLabelKeys converted to expressions', async () => {
    const term = { labelSelector: {}, topologyKey: 'zone', matchLabelKeys: ['app'] };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const { spec } = await create({ affinity }, { labels: { app: 'a' } });
    const [fixed] = spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    expect(fixed?.labelSelector).toEqual({ matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] });
  });

  test('loses fields whose feature gate is disabled', async () => {
    const { spec } = await create({
      containers: [{ ...container, lifecycle: { stopSignal: 'SIGTERM' } }],
      resources: { requests: { cpu: '1' } },
      resourceClaims: [{ name: 'r', resourceClaimName: 'x' }],
    });
    expect(spec.containers[0]).not.toHaveProperty('lifecycle');
    expect(spec).not.toHaveProperty('resources');
    expect(spec).not.toHaveProperty('resourceClaims');
  });
});

describe('a pod spec', () => {
  test.each<Case>([
    [{ containers: [] }, 'spec.containers: Required value'],
    [
      { restartPolicy: 'Sometimes' },
      'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    ],
    [
      { dnsPolicy: 'Odd' },
      'spec.dnsPolicy: Unsupported value: "Odd": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
    [{ dnsPolicy: 'None' }, 'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    [
      { dnsPolicy: 'None', dnsConfig: {} },
      'spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
    ],
    [
      { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', 'x'] } },
      'spec.dnsConfig.nameservers: Invalid value: []string{"1.1.1.1", "1.1.1.2", "1.1.1.3", "x"}: must not have more than 3 nameservers',
      'spec.dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [{ dnsConfig: { options: [{}] } }, 'spec.dnsConfig.options[0]: Required value: must not be empty'],
    [
      { activeDeadlineSeconds: 0 },
      'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
    ],
    [{ nodeSelector: { 'a b': 'c' } }, `spec.nodeSelector: Invalid value: "a b": ${QUALIFIED}`],
    [{ hostname: 'A.b' }, `spec.hostname: Invalid value: "A.b": ${LABEL}`],
    [{ subdomain: 'A_b' }, `spec.subdomain: Invalid value: "A_b": ${LABEL}`],
    [
      { hostAliases: [{ ip: 'x', hostnames: ['A'] }] },
      'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      `spec.hostAliases[0].hostnames[0]: Invalid value: "A": ${SUBDOMAIN}`,
    ],
    [{ serviceAccountName: 'A_B' }, `spec.serviceAccountName: Invalid value: "A_B": ${SUBDOMAIN}`],
    [{ nodeName: 'A_B' }, `spec.nodeName: Invalid value: "A_B": ${SUBDOMAIN}`],
    [
      { schedulingGates: [{ name: 'x' }, { name: 'x' }], nodeName: 'n' },
      'spec.schedulingGates[1]: Duplicate value: "x"',
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
    ],
    [{ schedulingGates: [{ name: 'a b' }] }, `spec.schedulingGates[0]: Invalid value: "a b": ${QUALIFIED}`],
    [
      { readinessGates: [{ conditionType: 'a b' }] },
      `spec.readinessGates[0].conditionType: Invalid value: "a b": ${QUALIFIED}`,
    ],
    [{ os: { name: 'plan9' } }, 'spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
    [{ os: { name: '' } }, 'spec.os.name: Required value: cannot be empty'],
    [
      { os: { name: 'windows' }, hostPID: true, securityContext: { runAsUser: 5 } },
      'spec.hostPID: Forbidden: cannot be set for a windows pod',
      'spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod',
    ],
    [
      { os: { name: 'linux' }, securityContext: { windowsOptions: { runAsUserName: 'x' } } },
      'spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod',
    ],
    [
      { tolerations: [{ key: 'a', operator: 'Like' }] },
      'spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"',
    ],
    [
      { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Odd', minDomains: 0 }] },
      'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Odd": supported values: "DoNotSchedule", "ScheduleAnyway"',
      'spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero',
      'spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Odd',
    ],
    [
      { overhead: { gpu: '1' } },
      'spec.overhead.limits[gpu]: Invalid value: gpu: must be a standard resource type or fully qualified',
      'spec.overhead.limits[gpu]: Invalid value: gpu: must be a standard resource for containers',
    ],
    [
      { ephemeralContainers: [{ name: 'e', image: 'i' }] },
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ],
    [
      { hostUsers: false, hostNetwork: true, hostPID: true },
      'spec.hostNetwork: Forbidden: when `pod.Spec.HostUsers` is false',
      'spec.HostPID: Forbidden: when `pod.Spec.HostUsers` is false',
    ],
    [
      { shareProcessNamespace: true, hostPID: true },
      'spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
    ],
  ])('rejects a pod spec with %j', async (...given) => {
    const [spec, ...problems] = given as unknown as Case;
    expect(await rejectionCauses(create(spec))).toEqual(problems);
  });

  test.each<Case>([
    [{ runAsUser: -1 }, 'runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
    [
      { supplementalGroups: [-1] },
      'supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
    [
      { fsGroupChangePolicy: 'Often' },
      'fsGroupChangePolicy: Unsupported value: "Often": supported values: "Always", "OnRootMismatch"',
    ],
    [
      { supplementalGroupsPolicy: 'Odd' },
      'supplementalGroupsPolicy: Unsupported value: "Odd": supported values: "Merge", "Strict"',
    ],
    [
      { sysctls: [{ name: 'A b', value: '1' }] },
      'sysctls[0].name: Invalid value: "A b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    ],
    [
      {
        sysctls: [
          { name: 'net.a', value: '1' },
          { name: 'net.a', value: '2' },
        ],
      },
      'sysctls[1].name: Duplicate value: "net.a"',
    ],
    [
      { seccompProfile: { type: 'Odd' } },
      'seccompProfile.type: Unsupported value: "Odd": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
    [
      { seccompProfile: { type: 'a\\b', localhostProfile: 'p' } },
      'seccompProfile.type: Unsupported value: "a\\\\b": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      'seccompProfile.localhostProfile: Invalid value: core.SeccompProfile{Type:"a\\\\b", LocalhostProfile:(*string)(0xc000000000)}: can only be set when seccomp type is Localhost',
    ],
    [
      { seccompProfile: { type: 'Localhost' } },
      'seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
    ],
    [
      { appArmorProfile: { type: 'Localhost', localhostProfile: ' ' } },
      'appArmorProfile.localhostProfile: Invalid value: " ": must not be padded with whitespace',
    ],
    [
      { windowsOptions: { runAsUserName: 'a\\b\\c' } },
      'windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
    ],
    [
      { windowsOptions: { hostProcess: true } },
      '!spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
    ],
  ])('rejects a pod spec with the security context %j', async (...given) => {
    const [securityContext, ...problems] = given as unknown as Case;
    const paths = problems.map((text) => (text.startsWith('!') ? text.slice(1) : `spec.securityContext.${text}`));
    expect(await rejectionCauses(create({ securityContext }))).toEqual(paths);
  });
});

describe('a container', () => {
  test.each<Case>([
    [{ name: '' }, 'name: Required value'],
    [{ name: 'A_B' }, `name: Invalid value: "A_B": ${LABEL}`],
    [{ image: '' }, 'image: Required value'],
    [{ image: ' i ' }, 'image: Invalid value: " i ": must not have leading or trailing whitespace'],
    [
      { imagePullPolicy: 'Maybe' },
      'imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"',
    ],
    [
      { terminationMessagePolicy: 'Shout' },
      'terminationMessagePolicy: Unsupported value: "Shout": supported values: "File", "FallbackToLogsOnError"',
    ],
    [{ restartPolicy: 'Always' }, 'restartPolicy: Forbidden: may not be set for non-init containers'],
    [{ ports: [{ containerPort: 0 }] }, 'ports[0].containerPort: Required value'],
    [
      { ports: [{ containerPort: 65536, protocol: 'HTTP', name: 'A_B' }] },
      'ports[0].name: Invalid value: "A_B": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'ports[0].name: Invalid value: "A_B": must contain at least one letter (a-z)',
      'ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
      'ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"',
    ],
    [
      {
        ports: [
          { containerPort: 1, name: 'a', hostPort: 5 },
          { containerPort: 2, name: 'a', hostPort: 5 },
        ],
      },
      'ports[1].name: Duplicate value: "a"',
      'ports[1].hostPort: Duplicate value: "TCP//5"',
    ],
    [{ env: [{ value: 'x' }] }, 'env[0].name: Required value'],
    [
      { env: [{ name: 'a=b' }] },
      'env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
    ],
    [
      { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      'env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
    ],
    [
      { env: [{ name: 'A', valueFrom: {} }] },
      'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
    ],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's' } } }] },
      'env[0].valueFrom.secretKeyRef.key: Required value',
    ],
    [
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }] },
      'env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
    [{ envFrom: [{}] }, 'envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
    [{ envFrom: [{ configMapRef: {} }] }, 'envFrom[0].configMapRef.name: Required value'],
    [
      { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
      'resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ],
    [
      { resources: { claims: [{ name: 'x' }] } },
      'resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
    [
      { resizePolicy: [{ resourceName: 'gpu', restartPolicy: 'Odd' }] },
      'resizePolicy: Unsupported value: gpu: supported values: "cpu", "memory"',
      'resizePolicy: Unsupported value: "Odd": supported values: "NotRequired", "RestartContainer"',
    ],
    [
      { securityContext: { procMount: 'Odd' } },
      'securityContext.procMount: Unsupported value: "Odd": supported values: "Default", "Unmasked"',
    ],
    [
      { securityContext: { procMount: 'Unmasked' } },
      'securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
    ],
  ])('rejects a container with %j', async (...given) => {
    const [fields, ...problems] = given as unknown as Case;
    expect(await rejectionCauses(inContainer(fields))).toEqual(problems.map((text) => `spec.containers[0].${text}`));
  });

  test('does not allow a container to be privileged without privilege escalation', async () => {
    const [problem = ''] = await rejectionCauses(
      inContainer({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    );
    expect(problem).toMatch(/^spec\.containers\[0\]\.securityContext: Invalid value: core\.SecurityContext\{/);
    expect(problem).toMatch(/cannot set `allowPrivilegeEscalation` to false and `privileged` to true$/);
  });

  test.each<Case>([
    [{ livenessProbe: {} }, 'livenessProbe: Required value: must specify a handler type'],
    [
      { livenessProbe: { exec: { command: ['x'] }, tcpSocket: { port: 1 }, periodSeconds: -1, successThreshold: 2 } },
      'livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
      'livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0',
      'livenessProbe.successThreshold: Invalid value: 2: must be 1',
    ],
    [{ livenessProbe: { exec: {} } }, 'livenessProbe.exec.command: Required value'],
    [
      { livenessProbe: { httpGet: { scheme: 'ftp', httpHeaders: [{ name: 'a b', value: '' }] } } },
      'livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'livenessProbe.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"',
      "livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ],
    [
      { readinessProbe: { tcpSocket: { port: 'UP' }, terminationGracePeriodSeconds: 5 } },
      'readinessProbe.tcpSocket.port: Invalid value: "UP": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'readinessProbe.tcpSocket.port: Invalid value: "UP": must contain at least one letter (a-z)',
      'readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes',
    ],
    [{ lifecycle: { preStop: {} } }, 'lifecycle.preStop: Required value: must specify a handler type'],
    [
      { lifecycle: { preStop: { sleep: { seconds: 500 } } } },
      'lifecycle.preStop.sleep: Invalid value: 500: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  ])('rejects a container with %j', async (...given) => {
    const [fields, ...problems] = given as unknown as Case;
    expect(await rejectionCauses(inContainer(fields))).toEqual(problems.map((text) => `spec.containers[0].${text}`));
  });

  test.each<Case>([
    [{ name: 'c' }, 'name: Duplicate value: "c"'],
    [
      { livenessProbe: { exec: { command: ['x'] } }, lifecycle: {} },
      'lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
      'livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
    [{ restartPolicy: 'Never' }, 'restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ])('rejects an init container with %j', async (...given) => {
    const [fields, ...problems] = given as unknown as Case;
    const initContainers = [{ name: 'n', image: 'i', ...fields }];
    expect(await rejectionCauses(create({ initContainers }))).toEqual(
      problems.map((text) => `spec.initContainers[0].${text}`),
    );
  });

  test('requires equal host ports of a container on the host network', async () => {
    const containers = [{ ...container, ports: [{ containerPort: 1, hostPort: 5 }] }];
    expect(await rejectionCauses(create({ containers, hostNetwork: true }))).toEqual([
      'spec.containers[0].ports[0].hostPort: Invalid value: 5: must match `containerPort` when `hostNetwork` is true',
    ]);
  });
});

describe('pod annotations', () => {
  test.each<[string, string, string]>([
    ['orch.io/config.mirror', 'x', '"x": must set spec.nodeName if mirror pod annotation is set'],
    ['controller.orch.io/pod-deletion-cost', '+1', '"+1": must be a 32bit integer'],
    ['container.apparmor.security.beta.orch.io/z', 'unconfined', '"z": container not found'],
    ['container.apparmor.security.beta.orch.io/c', 'odd', '"odd": invalid AppArmor profile name: "odd"'],
  ])('rejects the pod annotation %s: %s', async (key, value, problem) => {
    expect(await rejectionCauses(create({}, { annotations: { [key]: value } }))).toEqual([
      `metadata.annotations[${key}]: Invalid value: ${problem}`,
    ]);
  });
});

describe('pod warnings', () => {
  const port = { containerPort: 1 };
  test.each<[object, string]>([
    [{ imagePullSecrets: [{}] }, 'spec.imagePullSecrets[0].name: invalid empty name ""'],
    [
      { containers: [{ ...container, ports: [port, port] }] },
      'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
    ],
    [
      { containers: [{ ...container, ports: [port, { ...port, hostPort: 5 }] }] },
      'spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
    ],
    [
      {
        containers: [
          {
            ...container,
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '2' },
            ],
          },
        ],
      },
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ],
    [
      { containers: [{ ...container, resources: { limits: { memory: '1500m' }, requests: { memory: '1' } } }] },
      'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
    ],
    [
      { nodeSelector: { 'beta.orch.io/os': 'linux' } },
      'spec.nodeSelector[beta.orch.io/os]: deprecated since v1.14; use "orch.io/os" instead',
    ],
    [
      { nodeSelector: { 'node-role.orch.io/master': '' } },
      'spec.nodeSelector[node-role.orch.io/master]: use "node-role.orch.io/control-plane" instead',
    ],
    [
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }] },
      'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
    ],
  ])('returns the warnings about %j', async (spec, warning) => {
    const warnings: string[] = [];
    await create(spec, {}, (text) => warnings.push(text));
    expect(warnings).toEqual([warning]);
  });

  test('returns warnings about annotations without effect', async () => {
    const warnings: string[] = [];
    const key = 'container.seccomp.security.alpha.orch.io/c';
    const annotations = { [key]: 'unconfined', 'scheduler.alpha.orch.io/critical-pod': '' };
    await create({}, { annotations }, (text) => warnings.push(text));
    expect(warnings).toEqual([
      'metadata.annotations[scheduler.alpha.orch.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
      `metadata.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    ]);
    expect(await rejectionCauses(create({}, { annotations: { [key]: 'odd' } }))).toEqual([
      `metadata.annotations.${key}: Invalid value: "odd": must be a valid seccomp profile`,
    ]);
  });

  test('accepts an environment variable that refers to an earlier one of the same name', async () => {
    const warnings: string[] = [];
    const env = [
      { name: 'A', value: '1' },
      { name: 'A', value: '$(A)2' },
    ];
    await create({ containers: [{ ...container, env }] }, {}, (text) => warnings.push(text));
    expect(warnings).toEqual([]);
  });
});
