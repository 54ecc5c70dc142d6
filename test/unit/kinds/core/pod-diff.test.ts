/** Diffs of pod specs in messages about forbidden updates. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffText, goSyntaxText } from '../../../../src/kinds/core/v1/pod/diff/diff.js';
import { editScript } from '../../../../src/kinds/core/v1/pod/diff/edit-script.js';

const container = {
  name: 'c',
  image: 'i',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'Always',
};
const spec = {
  containers: [container],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
};

/** Lines as in the message: two columns for marks, tabs for nesting. */
const text = (...lines: readonly string[]) => `${lines.join('\n')}\n`;

describe('a diff of two pod specs', () => {
  test('shows a changed field with two equal fields before and after it', () => {
    expect(diffText('PodSpec', spec, { ...spec, restartPolicy: 'Never' })).toBe(
      text(
        '  core.PodSpec{',
        '  \t... // 2 identical fields',
        '  \tContainers:                    {{Name: "c", Image: "i", TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File", ...}},',
        '  \tEphemeralContainers:           nil,',
        '- \tRestartPolicy:                 "Always",',
        '+ \tRestartPolicy:                 "Never",',
        '  \tTerminationGracePeriodSeconds: &30,',
        '  \tActiveDeadlineSeconds:         nil,',
        '  \t... // 27 identical fields',
        '  }',
      ),
    );
  });

  test('prints resource names with their String() method', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }];
    const changed = { ...spec, containers: [{ ...container, resizePolicy }] };
    expect(diffText('PodSpec', spec, changed)).toContain(
      '[]core.ContainerResizePolicy{{ResourceName: s"cpu", RestartPolicy: "NotRequired"}}',
    );
  });

  test('descends into nested changes', () => {
    const changed = { ...spec, containers: [{ ...container, env: [{ name: 'A', value: 'b' }] }] };
    expect(diffText('PodSpec', spec, changed)).toBe(
      text(
        '  core.PodSpec{',
        '  \tVolumes:        nil,',
        '  \tInitContainers: nil,',
        '  \tContainers: []core.Container{',
        '  \t\t{',
        '  \t\t\t... // 5 identical fields',
        '  \t\t\tPorts:        nil,',
        '  \t\t\tEnvFrom:      nil,',
        '- \t\t\tEnv:          nil,',
        '+ \t\t\tEnv:          []core.EnvVar{{Name: "A", Value: "b"}},',
        '  \t\t\tResources:    {},',
        '  \t\t\tResizePolicy: nil,',
        '  \t\t\t... // 14 identical fields',
        '  \t\t},',
        '  \t},',
        '  \tEphemeralContainers: nil,',
        '  \tRestartPolicy:       "Always",',
        '  \t... // 29 identical fields',
        '  }',
      ),
    );
  });

  test('prints maps and pointers', () => {
    const labelled = diffText('PodSpec', spec, { ...spec, nodeSelector: { a: 'b' } });
    expect(labelled).toContain('+ \tNodeSelector:                 map[string]string{"a": "b"},\n');
    const shorter = diffText('PodSpec', spec, { ...spec, terminationGracePeriodSeconds: 5 });
    expect(shorter).toContain('- \tTerminationGracePeriodSeconds: &30,\n+ \tTerminationGracePeriodSeconds: &5,\n');
  });

  const volumes = [
    { name: 'a', configMap: { name: 'c', defaultMode: 420 } },
    { name: 'b', secret: { secretName: 's', defaultMode: 420 } },
    { name: 'e', hostPath: { path: '/x', type: '' } },
    { name: 'f', ephemeral: { volumeClaimTemplate: { metadata: {}, spec: {} } } },
    {
      name: 'g',
      iscsi: { targetPortal: 'h', iqn: 'iqn.2001-04.com.example:storage', lun: 1, iscsiInterface: 'default' },
    },
    {
      name: 'h',
      azureDisk: { diskName: 'd', diskURI: 'https://x', cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false },
    },
  ];

  test('counts all fields of the metadata of a volume claim template', () => {
    const withLabels = (labels: object) => ({
      ...spec,
      volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { metadata: { labels }, spec: {} } } }],
    });
    expect(diffText('PodSpec', withLabels({ a: 'b' }), withLabels({ a: 'c' }))).toContain(
      text(
        '  \t\t\t\t\t\tObjectMeta: v1.ObjectMeta{',
        '  \t\t\t\t\t\t\t... // 8 identical fields',
        '  \t\t\t\t\t\t\tDeletionTimestamp:          nil,',
        '  \t\t\t\t\t\t\tDeletionGracePeriodSeconds: nil,',
        '- \t\t\t\t\t\t\tLabels:                     map[string]string{"a": "b"},',
        '+ \t\t\t\t\t\t\tLabels:                     map[string]string{"a": "c"},',
        '  \t\t\t\t\t\t\tAnnotations:                nil,',
        '  \t\t\t\t\t\t\tOwnerReferences:            nil,',
        '  \t\t\t\t\t\t\t... // 2 identical fields',
      ),
    );
  });

  test('shortens removed values and the context of insertions', () => {
    expect(diffText('PodSpec', { ...spec, volumes }, { ...spec, volumes: [] })).toBe(
      text(
        '  core.PodSpec{',
        '  \tVolumes: []core.Volume{',
        '- \t\t{',
        '- \t\t\tName: "a",',
        '- \t\t\tVolumeSource: core.VolumeSource{',
        '- \t\t\t\tConfigMap: &core.ConfigMapVolumeSource{LocalObjectReference: core.LocalObjectReference{...}, DefaultMode: &420},',
        '- \t\t\t},',
        '- \t\t},',
        '- \t\t{',
        '- \t\t\tName:         "b",',
        '- \t\t\tVolumeSource: core.VolumeSource{Secret: &core.SecretVolumeSource{SecretName: "s", DefaultMode: &420}},',
        '- \t\t},',
        '- \t\t{',
        '- \t\t\tName:         "e",',
        '- \t\t\tVolumeSource: core.VolumeSource{HostPath: &core.HostPathVolumeSource{Path: "/x", Type: &""}},',
        '- \t\t},',
        '- \t\t{',
        '- \t\t\tName: "f",',
        '- \t\t\tVolumeSource: core.VolumeSource{',
        '- \t\t\t\tEphemeral: &core.EphemeralVolumeSource{VolumeClaimTemplate: s"&ObjectMeta{Name:,GenerateName:,"...},',
        '- \t\t\t},',
        '- \t\t},',
        '- \t\t{',
        '- \t\t\tName: "g",',
        '- \t\t\tVolumeSource: core.VolumeSource{',
        '- \t\t\t\tISCSI: &core.ISCSIVolumeSource{',
        '- \t\t\t\t\tTargetPortal:   "h",',
        '- \t\t\t\t\tIQN:            "iqn.2001-04.com.example:storage",',
        '- \t\t\t\t\tLun:            1,',
        '- \t\t\t\t\tISCSIInterface: "default",',
        '- \t\t\t\t},',
        '- \t\t\t},',
        '- \t\t},',
        '- \t\t{',
        '- \t\t\tName: "h",',
        '- \t\t\tVolumeSource: core.VolumeSource{',
        '- \t\t\t\tAzureDisk: &core.AzureDiskVolumeSource{',
        '- \t\t\t\t\tDiskName:    "d",',
        '- \t\t\t\t\tDataDiskURI: "https://x",',
        '- \t\t\t\t\tCachingMode: &"ReadWrite",',
        '- \t\t\t\t\tFSType:      &"ext4",',
        '- \t\t\t\t\t...',
        '- \t\t\t\t},',
        '- \t\t\t},',
        '- \t\t},',
        '  \t},',
        '  \tInitContainers: nil,',
        '  \tContainers:     {{Name: "c", Image: "i", TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File", ...}},',
        '  \t... // 31 identical fields',
        '  }',
      ),
    );
    const added = { ...spec, volumes: [{ name: 'z', emptyDir: {} }, ...volumes] };
    expect(diffText('PodSpec', { ...spec, volumes }, added)).toContain(
      text(
        '  \tVolumes: []core.Volume{',
        '+ \t\t{',
        '+ \t\t\tName:         "z",',
        '+ \t\t\tVolumeSource: core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{}},',
        '+ \t\t},',
        '  \t\t{Name: "a", VolumeSource: {ConfigMap: &{LocalObjectReference: {Name: "c"}, DefaultMode: &420}}},',
        '  \t\t{Name: "b", VolumeSource: {Secret: &{SecretName: "s", DefaultMode: &420}}},',
        '  \t\t... // 4 identical elements',
        '  \t},',
      ),
    );
  });

  test('prints the fields of quantities and resource names', () => {
    const claim = (storage: string, volumeName = '') => ({
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage } },
      volumeName,
      volumeMode: 'Filesystem',
    });
    expect(diffText('PersistentVolumeClaimSpec', claim('1Gi'), claim('2Gi'))).toBe(
      text(
        '  core.PersistentVolumeClaimSpec{',
        '  \tAccessModes: {"ReadWriteOnce"},',
        '  \tSelector:    nil,',
        '  \tResources: core.VolumeResourceRequirements{',
        '  \t\tLimits: nil,',
        '- \t\tRequests: core.ResourceList{',
        '- \t\t\ts"storage": {i: resource.int64Amount{value: 1073741824}, s: "1Gi", Format: "BinarySI"},',
        '- \t\t},',
        '+ \t\tRequests: core.ResourceList{',
        '+ \t\t\ts"storage": {i: resource.int64Amount{value: 2147483648}, s: "2Gi", Format: "BinarySI"},',
        '+ \t\t},',
        '  \t},',
        '  \tVolumeName:       "",',
        '  \tStorageClassName: nil,',
        '  \t... // 4 identical fields',
        '  }',
      ),
    );
    expect(diffText('PersistentVolumeClaimSpec', claim('1Gi', 'pv'), claim('1Gi', 'other'))).toContain(
      '  \tResources:        {Requests: {s"storage": {i: {...}, s: "1Gi", Format: "BinarySI"}}},\n',
    );
  });

  test('supports the sources of persistent volumes', () => {
    const source = (path: string) => ({ hostPath: { path, type: '' } });
    expect(diffText('PersistentVolumeSource', source('/x'), source('/y'))).toBe(
      text(
        '  core.PersistentVolumeSource{',
        '  \tGCEPersistentDisk:    nil,',
        '  \tAWSElasticBlockStore: nil,',
        '  \tHostPath: &core.HostPathVolumeSource{',
        '- \t\tPath: "/x",',
        '+ \t\tPath: "/y",',
        '  \t\tType: &"",',
        '  \t},',
        '  \tGlusterfs: nil,',
        '  \tNFS:       nil,',
        '  \t... // 17 identical fields',
        '  }',
      ),
    );
  });

  test('prints long strings in chunks', () => {
    const long = (middle: string) => ({ ...spec, hostname: `${'a'.repeat(40)}${middle}${'b'.repeat(40)}` });
    expect(diffText('PodSpec', long('x'), long('yz'))).toContain('  \tHostname: strings.Join({\n');
  });

  test('prints a value on one line in Go syntax', () => {
    expect(goSyntaxText('NodeSelectorTerm', { matchExpressions: [{ key: 'a', operator: 'Exists' }] })).toBe(
      'core.NodeSelectorTerm{MatchExpressions:[]core.NodeSelectorRequirement{core.NodeSelectorRequirement{Key:"a", Operator:"Exists", Values:[]string(nil)}}, MatchFields:[]core.NodeSelectorRequirement(nil)}',
    );
  });
});

describe('the edits from one list to another', () => {
  const edits = (left: string, right: string) =>
    editScript(left.length, right.length, (x, y) =>
      left[x] === right[y] ? { same: 1, different: 0 } : { same: 0, different: 2 },
    );

  test.each([
    ['abcd', 'abcd', ['identity', 'identity', 'identity', 'identity']],
    ['abcd', 'acd', ['identity', 'removed', 'identity', 'identity']],
    ['acd', 'abcd', ['identity', 'inserted', 'identity', 'identity']],
    ['xcd', 'cd', ['removed', 'identity', 'identity']],
    ['a', 'b', ['removed', 'inserted']],
  ])('from %s to %s', (left, right, expected) => {
    expect(edits(left, right)).toEqual(expected);
  });

  test('keep equal items only and use up both lists', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (left, right) => {
        let [x, y] = [0, 0];
        for (const edit of edits(left, right)) {
          if (edit === 'identity') expect(left[x]).toBe(right[y]);
          if (edit !== 'inserted') x++;
          if (edit !== 'removed') y++;
        }
        expect([x, y]).toEqual([left.length, right.length]);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
