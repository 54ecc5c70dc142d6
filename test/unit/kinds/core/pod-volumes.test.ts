/** Defaulting and validation of pod volumes, with the reference server's messages. */
import { describe, expect, test } from 'vitest';
import { volumeDefaults } from '../../../../src/kinds/core/v1/pod-spec/defaults.js';
import { tokenVolumesProblems } from '../../../../src/kinds/core/v1/pod-spec/projection-rules.js';
import { type VolumeContext, volumesProblems } from '../../../../src/kinds/core/v1/pod-spec/validate-volumes.js';
import { featureGates } from '../../../../src/kinds/feature-gates.js';
import { type Volume, type VolumeInput, volume } from '../../../../src/kinds/generated/core-v1.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { printFieldError } from '../../../../src/meta/field-error.js';
import { decode } from '../../../../src/schema/decode.js';
import type { ObjectNode } from '../../../../src/schema/schema-node.js';

type Source = Omit<VolumeInput, 'name'>;

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const MODE = 'must be a number between 0 and 0777 (octal), both inclusive';
const SIZES = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei';
const claim = { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } };

/** Decodes a volume as a client sends it, valid or not. */
function received(given: unknown): Volume {
  const { value } = decode(volume().node as ObjectNode, { value: given });
  const draft = value as unknown as Volume;
  volumeDefaults(draft);
  return draft;
}

function problemsOf(volumes: readonly unknown[], context: Partial<VolumeContext> = {}): string[] {
  const rules = { dialect: kubernetesDialect, features: featureGates(), podName: 'p', ...context };
  return volumesProblems('V', volumes.map(received), rules).problems.map(printFieldError);
}

describe('volume defaults', () => {
  test.each<[Source, Source]>([
    [{}, { emptyDir: {} }],
    [{ hostPath: { path: '/x' } }, { hostPath: { path: '/x', type: '' } }],
    [{ secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode: 420 } }],
    [{ configMap: { name: 'c', defaultMode: 0 } }, { configMap: { name: 'c', defaultMode: 0 } }],
    [
      { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } },
      {
        downwardAPI: {
          items: [{ path: 'a', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }],
          defaultMode: 420,
        },
      },
    ],
    [
      { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      { projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: 't' } }], defaultMode: 420 } },
    ],
    [
      { iscsi: { targetPortal: 'h', iqn: 'i', lun: 0 } },
      { iscsi: { targetPortal: 'h', iqn: 'i', lun: 0, iscsiInterface: 'default' } },
    ],
    [
      { rbd: { monitors: ['m'], image: 'i' } },
      { rbd: { monitors: ['m'], image: 'i', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
    ],
    [
      { azureDisk: { diskName: 'd', diskURI: 'u' } },
      {
        azureDisk: {
          diskName: 'd',
          diskURI: 'u',
          cachingMode: 'ReadWrite',
          fsType: 'ext4',
          readOnly: false,
          kind: 'Shared',
        },
      },
    ],
    [{ image: { reference: 'x:1' } }, { image: { reference: 'x:1', pullPolicy: 'IfNotPresent' } }],
    [{ image: { reference: 'x' } }, { image: { reference: 'x', pullPolicy: 'Always' } }],
    [{ image: {} }, { image: { pullPolicy: 'IfNotPresent' } }],
  ])('%j', (given, expected) => {
    expect(received({ name: 'v', ...given })).toEqual({ name: 'v', ...expected });
  });

  test('writes absent pointers as null in wire order', () => {
    const { scaleIO } = received({ name: 'v', scaleIO: { gateway: 'g', system: 's', volumeName: 'v' } });
    expect(JSON.stringify(scaleIO)).toBe(
      '{"gateway":"g","system":"s","secretRef":null,"storageMode":"ThinProvisioned","volumeName":"v","fsType":"xfs"}',
    );
    expect(JSON.stringify(received({ name: 'v', projected: {} }).projected)).toBe('{"sources":null,"defaultMode":420}');
  });

  test('sets the claim defaults in an ephemeral volume', () => {
    const spec = { ...claim, resources: { requests: { storage: '1.00001' } }, dataSource: { kind: 'K', name: 'n' } };
    const { ephemeral } = received({ name: 'v', ephemeral: { volumeClaimTemplate: { spec } } });
    expect(ephemeral?.volumeClaimTemplate).toEqual({
      metadata: { creationTimestamp: null },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1001m' } },
        volumeMode: 'Filesystem',
        dataSource: { apiGroup: null, kind: 'K', name: 'n' },
      },
    });
  });
});

describe('volume names and sources', () => {
  test.each<[unknown[], string[]]>([
    [[{ emptyDir: {} }], ['V[0].name: Required value']],
    [[{ name: 'A_B' }], [`V[0].name: Invalid value: "A_B": ${LABEL}`]],
    [[{ name: 'a' }, { name: 'a' }], ['V[1].name: Duplicate value: "a"']],
    // The name of an invalid volume is not taken.
    [
      [{ name: 'a', nfs: { server: 's', path: 'p' } }, { name: 'a' }],
      ['V[0].nfs.path: Invalid value: "p": must be an absolute path'],
    ],
    [
      [{ name: 'v', nfs: {}, emptyDir: {}, hostPath: { path: '/x' }, cephfs: {}, downwardAPI: {} }],
      ['hostPath', 'nfs', 'cephFS', 'downwarAPI'].map(
        (source) => `V[0].${source}: Forbidden: may not specify more than 1 volume type`,
      ),
    ],
    [
      [
        { name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } },
        { name: 'w', persistentVolumeClaim: { claimName: 'p-v' } },
      ],
      [
        'V[1].persistentVolumeClaim.claimName: Invalid value: "p-v": must not reference a PVC that gets created for an ephemeral volume',
      ],
    ],
  ])('%j', (volumes, expected) => {
    expect(problemsOf(volumes)).toEqual(expected);
  });

  test('rejects a volume without a source', () => {
    const rules = { dialect: kubernetesDialect, features: featureGates() };
    const { problems } = volumesProblems('V', [{ name: 'v' }], rules);
    expect(problems.map(printFieldError)).toEqual(['V[0]: Required value: must specify a volume type']);
  });

  test('returns the sources of valid volumes by name', () => {
    const volumes = [{ name: 'a' }, { name: 'b', persistentVolumeClaim: { claimName: 'c' } }, { name: 'c', nfs: {} }];
    const { volumeSources } = volumesProblems('V', volumes.map(received), {
      dialect: kubernetesDialect,
      features: featureGates(),
    });
    expect([...volumeSources]).toEqual([
      ['a', 'emptyDir'],
      ['b', 'persistentVolumeClaim'],
    ]);
  });
});

/** Error paths are relative to the volume. */
const sourceCases: [Record<string, unknown>, string[]][] = [
  [{ emptyDir: { medium: 'Tape' } }, []],
  [
    { emptyDir: { sizeLimit: '-1' } },
    ['emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
  ],
  [{ hostPath: { type: 'Pipe' } }, ['hostPath.path: Required value']],
  [
    { hostPath: { path: '/x/../y', type: 'Pipe' } },
    [
      `hostPath.path: Invalid value: "/x/../y": must not contain '..'`,
      'hostPath.type: Unsupported value: "Pipe": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
  ],
  [
    { gitRepo: { directory: '/a/..' } },
    [
      'gitRepo.repository: Required value',
      'gitRepo.directory: Invalid value: "/a/..": must be a relative path',
      `gitRepo.directory: Invalid value: "/a/..": must not contain '..'`,
    ],
  ],
  [
    { gcePersistentDisk: { partition: 256 } },
    [
      'persistentDisk.pdName: Required value',
      'persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive',
    ],
  ],
  [
    { awsElasticBlockStore: { partition: -1 } },
    [
      'awsElasticBlockStore.volumeID: Required value',
      'awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive',
    ],
  ],
  [
    { nfs: {} },
    ['nfs.server: Required value', 'nfs.path: Required value', 'nfs.path: Invalid value: "": must be an absolute path'],
  ],
  [
    { iscsi: { lun: 256, chapAuthSession: true } },
    [
      'iscsi.targetPortal: Required value',
      'iscsi.iqn: Required value',
      'iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
      'iscsi.secretRef: Required value',
    ],
  ],
  [
    { iscsi: { targetPortal: 'h', iqn: 'foo', initiatorName: 'iqn.bad' } },
    [
      'iscsi.iqn: Invalid value: "foo": must be valid format starting with iqn, eui, or naa',
      'iscsi.initiatorname: Invalid value: "iqn.bad": must be valid format',
    ],
  ],
  [
    { iscsi: { targetPortal: 'h'.repeat(63), iqn: 'eui.0123456789ABCDEF', initiatorName: 'iqn.2001-04.com.x:y' } },
    [
      'name: Invalid value: "v": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
    ],
  ],
  [{ iscsi: { targetPortal: 'h', iqn: 'naa.60004567BA64678D0123456789ABCDEF' } }, []],
  [{ fc: {} }, ['fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both']],
  [
    { fc: { targetWWNs: ['a'], wwids: ['b'] } },
    [
      'fc.targetWWNs: Invalid value: []string{"a"}: targetWWNs and wwids can not be specified simultaneously',
      'fc.lun: Required value: lun is required if targetWWNs is specified',
    ],
  ],
  [{ fc: { targetWWNs: ['a'], lun: -1 } }, ['fc.lun: Invalid value: -1: must be between 0 and 255, inclusive']],
  [{ glusterfs: {} }, ['glusterfs.endpoints: Required value', 'glusterfs.path: Required value']],
  [{ flocker: {} }, ['flocker: Required value: one of datasetName and datasetUUID is required']],
  [
    { flocker: { datasetName: 'a/b', datasetUUID: 'u' } },
    [
      'flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
      `flocker.datasetName: Invalid value: "a/b": must not contain '/'`,
    ],
  ],
  [{ persistentVolumeClaim: {} }, ['persistentVolumeClaim.claimName: Required value']],
  [{ rbd: {} }, ['rbd.monitors: Required value', 'rbd.image: Required value']],
  [{ cephfs: {} }, ['cephfs.monitors: Required value']],
  [{ cinder: { secretRef: {} } }, ['cinder.volumeID: Required value', 'cinder.secretRef.name: Required value']],
  [
    { quobyte: {} },
    [
      'quobyte.registry: Required value: must be a host:port pair or multiple pairs separated by commas',
      'quobyte.volume: Required value',
    ],
  ],
  [
    { quobyte: { registry: 'h:1,x,[::1]:2', volume: 'v' } },
    [
      'quobyte.registry: Invalid value: "h:1,x,[::1]:2": must be a host:port pair or multiple pairs separated by commas',
    ],
  ],
  [
    { quobyte: { registry: 'h', volume: 'v', tenant: 'x'.repeat(65) } },
    ['quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters'],
  ],
  [
    { flexVolume: { options: { 'A.K8s.io/x': '1', 'kubernetes.io': '2', 'xk8s.io/y': '3' } } },
    [
      'flexVolume.driver: Required value',
      'flexVolume.options[A.K8s.io/x]: Invalid value: "A.K8s.io/x": kubernetes.io and k8s.io namespaces are reserved',
      'flexVolume.options[kubernetes.io]: Invalid value: "kubernetes.io": kubernetes.io and k8s.io namespaces are reserved',
    ],
  ],
  [{ azureFile: {} }, ['azureFile.secretName: Required value', 'azureFile.shareName: Required value']],
  [
    { azureDisk: { cachingMode: 'Some', kind: 'Cheap' } },
    [
      'azureDisk.diskName: Required value',
      'azureDisk.diskURI: Required value',
      'azureDisk.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"',
      'azureDisk.kind: Unsupported value: "Cheap": supported values: "Dedicated", "Managed", "Shared"',
      'azureDisk.diskURI: Unsupported value: "": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"',
    ],
  ],
  [
    { azureDisk: { diskName: 'd', diskURI: 'https://x', kind: 'Managed' } },
    [
      'azureDisk.diskURI: Unsupported value: "https://x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
    ],
  ],
  [{ vsphereVolume: {} }, ['vsphereVolume.volumePath: Required value']],
  [{ photonPersistentDisk: {} }, ['photonPersistentDisk.pdID: Required value']],
  [{ portworxVolume: {} }, ['portworxVolume.volumeID: Required value']],
  [
    { scaleIO: {} },
    ['scaleIO.gateway: Required value', 'scaleIO.system: Required value', 'scaleIO.volumeName: Required value'],
  ],
  [
    { storageos: { volumeName: 'A', volumeNamespace: 'B', secretRef: {} } },
    [
      `storageos.volumeName: Invalid value: "A": ${LABEL}`,
      `storageos.volumeNamespace: Invalid value: "B": ${LABEL}`,
      'storageos.secretRef.name: Required value',
    ],
  ],
  [{ csi: { driver: 'A.example.com' } }, []],
  [
    { csi: { nodePublishSecretRef: {} } },
    [
      'csi.driver: Required value',
      `csi.driver: Invalid value: "": ${SUBDOMAIN}`,
      'csi.nodePublishSecretRef.name: Required value',
    ],
  ],
  [
    { csi: { driver: 'a'.repeat(64), nodePublishSecretRef: { name: 'A_B' } } },
    ['csi.driver: Too long: may not be more than 63 bytes', `csi.name: Invalid value: "A_B": ${SUBDOMAIN}`],
  ],
  [{ image: {} }, ['image.reference: Required value']],
  [
    { image: { reference: 'x', pullPolicy: 'Maybe' } },
    ['image.pullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"'],
  ],
  [{ ephemeral: {} }, ['ephemeral.volumeClaimTemplate: Required value']],
  [
    { ephemeral: { volumeClaimTemplate: { metadata: { name: 'n', uid: 'u', labels: { 'a b': '' } }, spec: claim } } },
    [
      `ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      'ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set',
      'ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set',
    ],
  ],
  [
    { ephemeral: { volumeClaimTemplate: { spec: {} } } },
    [
      'ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required',
      'ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value',
    ],
  ],
];

const files = (...items: unknown[]) => ({ downwardAPI: { items } });
const projected = (...sources: unknown[]) => ({ projected: { sources } });
const bundle = (clusterTrustBundle: unknown) => projected({ clusterTrustBundle });
const PEM = 'projected.sources[0].clusterTrustBundle';

const projectionCases: [Record<string, unknown>, string[]][] = [
  [
    { secret: { defaultMode: 512, items: [{}, { key: 'k', path: '/a', mode: -1 }] } },
    [
      'secret.secretName: Required value',
      `secret.defaultMode: Invalid value: 512: ${MODE}`,
      'secret.items[0].key: Required value',
      'secret.items[0].path: Required value',
      'secret.items[1].path: Invalid value: "/a": must be a relative path',
      `secret.items[1].mode: Invalid value: -1: ${MODE}`,
    ],
  ],
  [
    {
      configMap: {
        items: [
          { key: 'k', path: '..' },
          { key: 'k', path: '../a' },
          { key: 'k', path: '..a' },
        ],
      },
    },
    [
      'configMap.name: Required value',
      `configMap.items[0].path: Invalid value: "..": must not contain '..'`,
      `configMap.items[0].path: Invalid value: "..": must not start with '..'`,
      `configMap.items[1].path: Invalid value: "../a": must not contain '..'`,
      `configMap.items[2].path: Invalid value: "..a": must not start with '..'`,
    ],
  ],
  [
    { downwardAPI: { defaultMode: -1, items: [{ mode: 512 }] } },
    [
      `downwardAPI.defaultMode: Invalid value: -1: ${MODE}`,
      'downwardAPI.path: Required value',
      'downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
      `downwardAPI.mode: Invalid value: 512: ${MODE}`,
    ],
  ],
  [
    files({ path: 'a', fieldRef: {}, resourceFieldRef: {} }),
    [
      'downwardAPI.fieldRef.fieldPath: Required value',
      'downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
    ],
  ],
  [
    files(
      ...["metadata.annotations['X/y']", "metadata.labels['a b", 'spec.host', "spec.x['y']"].map((fieldPath) => ({
        path: 'a',
        fieldRef: { fieldPath },
      })),
      { path: 'a', fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } },
    ),
    [
      `downwardAPI.fieldRef.fieldPath: Invalid value: "metadata.labels['a b": error converting fieldPath: field label not supported: metadata.labels['a b`,
      'downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
      `downwardAPI.fieldRef.fieldPath: Invalid value: "spec.x['y']": error converting fieldPath: field label does not support subscript: spec.x['y']`,
      'downwardAPI.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
    ],
  ],
  [
    files(
      { path: 'a', resourceFieldRef: {} },
      { path: 'a', resourceFieldRef: { containerName: 'c' } },
      { path: 'a', resourceFieldRef: { containerName: 'c', resource: 'limits.disk', divisor: '7' } },
      { path: 'a', resourceFieldRef: { containerName: 'c', resource: 'requests.hugepages-2Mi', divisor: '2' } },
      { path: 'a', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu', divisor: '1k' } },
      { path: 'a', resourceFieldRef: { containerName: 'c', resource: 'limits.ephemeral-storage', divisor: '1m' } },
    ),
    [
      'downwardAPI.resourceFieldRef.containerName: Required value',
      'downwardAPI.resourceFieldRef.resource: Required value',
      'downwardAPI.resourceFieldRef.resource: Unsupported value: "limits.disk": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      `downwardAPI.resourceFieldRef.divisor: Invalid value: "requests.hugepages-2Mi": only divisor's values ${SIZES} are supported with the hugepages resource`,
      `downwardAPI.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
      `downwardAPI.resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": only divisor's values ${SIZES} are supported with the local ephemeral storage resource`,
    ],
  ],
  [
    projected(
      { secret: { name: 's', items: [{ key: 'k', path: 'a' }] }, configMap: {} },
      { configMap: { name: 'c', items: [{ key: 'k', path: 'a' }] } },
      { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { serviceAccountToken: { path: 'a' } },
    ),
    [
      'projected.sources[0].configMap.name: Required value',
      'projected.sources[0]: Forbidden: may not specify more than 1 volume type per source',
      'projected: Invalid value: "c": conflicting duplicate paths',
      'projected: Invalid value: "a": conflicting duplicate paths',
    ],
  ],
  [
    projected({ serviceAccountToken: { expirationSeconds: 599 } }),
    [
      'projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      'projected.path: Required value',
    ],
  ],
  [
    projected({ serviceAccountToken: { expirationSeconds: 2 ** 32 + 1, path: '..t' } }),
    [
      'projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      `projected.path: Invalid value: "..t": must not start with '..'`,
    ],
  ],
  [bundle({ name: 'example.com:signer:x', path: 'ca.crt' }), []],
  [bundle({}), [`${PEM}: Required value: either name or signerName must be specified`, `${PEM}.path: Required value`]],
  [
    bundle({ name: 'a', signerName: 'b', path: 'p' }),
    [
      `${PEM}: Invalid value: core.ClusterTrustBundleProjection{Name:(*string)(0xc000000000), SignerName:(*string)(0xc000000000), LabelSelector:(*v1.LabelSelector)(nil), Optional:(*bool)(nil), Path:"p"}: only one of name and signerName may be used`,
    ],
  ],
  [
    bundle({ name: '', path: 'p', labelSelector: { matchLabels: { a: 'b' } } }),
    [
      `${PEM}.name: Required value: must be a valid object name`,
      `${PEM}.name: Invalid value: "": not a valid clustertrustbundlename: ${SUBDOMAIN}`,
      `${PEM}.labelSelector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: labelSelector must be unset if name is specified`,
    ],
  ],
  [
    bundle({ signerName: '', path: 'p' }),
    [`${PEM}.signerName: Required value: must be a valid signer name`, `${PEM}.signerName: Required value`],
  ],
  [
    bundle({ signerName: 'a', path: 'p' }),
    [
      `${PEM}.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    ],
  ],
  [
    bundle({ signerName: 'A/B', path: 'p' }),
    [
      `${PEM}.signerName: Invalid value: "A": validating label "A": ${LABEL}`,
      `${PEM}.signerName: Invalid value: "A": should be a domain with at least two segments separated by dots`,
      `${PEM}.signerName: Invalid value: "B": validating label "B": ${SUBDOMAIN}`,
    ],
  ],
];

describe('volume source validation', () => {
  test.each([...sourceCases, ...projectionCases])('%j', (given, expected) => {
    expect(problemsOf([{ name: 'v', ...given }])).toEqual(expected.map((problem) => `V[0].${problem}`));
  });

  test('validates the name of the claim for an ephemeral volume', () => {
    const ephemeral = { volumeClaimTemplate: { spec: claim } };
    const podName = 'p'.repeat(253);
    expect(problemsOf([{ name: 'v', ephemeral }], { podName })).toEqual([
      `V[0].name: Invalid value: "v": PVC name "${podName}-v": must be no more than 253 characters`,
    ]);
    expect(problemsOf([{ name: 'v', ephemeral }], { podName: undefined })).toEqual([]);
  });

  test('accepts a template without an image reference', () => {
    expect(problemsOf([{ name: 'v', image: {} }], { podName: undefined })).toEqual([]);
  });

  test('rejects token projections without a service account', () => {
    const volumes = [{ name: 'v', ...projected({ secret: { name: 's' } }, { serviceAccountToken: { path: 't' } }) }];
    expect(tokenVolumesProblems('V', volumes.map(received)).map(printFieldError)).toEqual([
      'V[0].projected.sources[1].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
    ]);
  });
});
