/** Validation of VolumeAttachments. */
import { VolumeAttachment, type VolumeAttachmentInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

interface Named {
  metadata: { name: string };
}

const input = (spec: object, more: object = {}) =>
  ({
    metadata: { name: 'a' },
    spec: { attacher: 'd', source: { persistentVolumeName: 'v' }, nodeName: 'n', ...spec },
    ...more,
  }) as VolumeAttachmentInput & Named;
const create = (spec: object) => testCluster().api(VolumeAttachment).create(input(spec));

const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
const INLINE = 'Forbidden: may not be specified in the context of inline volumes';
const AT = 'spec.source.inlineVolumeSpec';

test('starts unattached, regardless of the status that the client sends', async () => {
  const created = await testCluster()
    .api(VolumeAttachment)
    .create(input({}, { status: { attached: true } }));
  expect(created.status).toEqual({ attached: false });
});

test.each([
  ['no source', { source: {} }, [['spec.source', `Required value: ${ONE_SOURCE}`]]],
  [
    'both sources',
    { source: { persistentVolumeName: 'v', inlineVolumeSpec: {} } },
    [['spec.source', `Forbidden: ${ONE_SOURCE}`]],
  ],
  [
    'a volume without a name',
    { source: { persistentVolumeName: '' } },
    [
      ['spec.source.persistentVolumeName', 'Required value: must specify non empty persistentVolumeName'],
      ['spec.source.persistentVolumeName', expect.stringContaining('Invalid value: "": a lowercase RFC 1123')],
    ],
  ],
  [
    'neither attacher nor node',
    { attacher: '', nodeName: '' },
    [
      ['spec.attacher', 'Required value'],
      ['spec.nodeName', expect.stringContaining('Invalid value: "": a lowercase RFC 1123')],
      ['spec.attacher', 'Required value'],
      ['spec.attacher', expect.stringContaining('Invalid value: "": a lowercase RFC 1123')],
    ],
  ],
  [
    'an inline volume with unsupported fields',
    {
      source: {
        inlineVolumeSpec: {
          claimRef: {},
          capacity: { storage: '1' },
          hostPath: { path: '/' },
          persistentVolumeReclaimPolicy: 'Recycle',
          nodeAffinity: {},
          storageClassName: 's',
          volumeMode: 'Block',
        },
      },
    },
    [
      [`${AT}.claimRef`, INLINE],
      [`${AT}.capacity`, INLINE],
      [`${AT}.csi`, 'Required value: has to be specified in the context of inline volumes'],
      [`${AT}.accessModes`, 'Required value'],
      [`${AT}.persistentVolumeReclaimPolicy`, 'Forbidden: may only be Retain in the context of inline volumes'],
      [`${AT}.nodeAffinity`, INLINE],
      [`${AT}.persistentVolumeReclaimPolicy`, "Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
      [`${AT}.storageClassName`, INLINE],
      [
        `${AT}.volumeMode`,
        'Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes',
      ],
    ],
  ],
] as const)('rejects a VolumeAttachment with %s', async (_what, spec, causes) => {
  await expect(create(spec)).rejects.toMatchObject(invalidWith(...causes));
});

test('applies only the defaults of the volume source to an inline volume', async () => {
  const csi = { driver: 'd', volumeHandle: 'h' };
  const created = await create({ source: { inlineVolumeSpec: { csi, accessModes: ['ReadWriteOnce'] } } });
  expect(created.spec.source).toEqual({ inlineVolumeSpec: { csi, accessModes: ['ReadWriteOnce'] } });
});

test('has an immutable spec and a validated status', async () => {
  const attachments = testCluster().api(VolumeAttachment);
  const created = await attachments.create(input({}));
  await expect(attachments.update({ ...created, spec: { ...created.spec, nodeName: 'm' } })).rejects.toMatchObject(
    invalidWith([
      'spec',
      'Invalid value: storage.VolumeAttachmentSpec{Attacher:"d", Source:storage.VolumeAttachmentSource{PersistentVolumeName:(*string)(0xc000000000), InlineVolumeSpec:(*core.PersistentVolumeSpec)(nil)}, NodeName:"m"}: field is immutable',
    ]),
  );
  const status = {
    attached: true,
    attachmentMetadata: { k: 'v'.repeat(256 * 1024) },
    attachError: { message: 'x'.repeat(1025), errorCode: 3 },
  };
  await expect(attachments.status.update('a', { ...created, status })).rejects.toMatchObject(
    // The reference server reports each problem twice.
    invalidWith(
      ['status.attachmentMetadata', 'Too long: may not be more than 262144 bytes'],
      ['status.attachError.message', 'Too long: may not be more than 262144 bytes'],
      ['status.attachmentMetadata', 'Too long: may not be more than 262144 bytes'],
      ['status.attachError.message', 'Too long: may not be more than 262144 bytes'],
    ),
  );
  const attached = await attachments.status.update('a', {
    ...created,
    metadata: { ...created.metadata, labels: { a: 'b' } },
    status: { attached: true, detachError: { errorCode: 3 } },
  });
  expect(attached.status).toEqual({ attached: true, detachError: { time: null } });
  expect(attached.metadata.labels).toBeUndefined();
});
