/**
 * The VolumeAttachment kind: the intent to attach a volume to a node, and its status.
 */

import { childPath, type FieldError, forbidden, invalid, required, tooLong } from '../../../meta/field-error.js';
import { byteLength, dnsSubdomainProblems } from '../../../meta/names.js';
import { quote, type Verbatim, verbatim } from '../../../text/go/go-text.js';
import { volumeSourceDefaults } from '../../core/v1/persistent-volume/source-rules.js';
import { inlineVolumeProblems } from '../../core/v1/persistent-volume/validate.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type VolumeAttachmentKind,
  type VolumeAttachmentObject,
  type VolumeAttachmentSource,
  type VolumeAttachmentSpec,
  type VolumeAttachmentStatus,
  type VolumeError,
  volumeAttachmentBase,
} from '../../generated/storage-v1.js';
import type { HookContext } from '../../kind.js';
import { immutableErrors } from '../../shared/field-rules.js';
import { statusSubresource } from '../../shared/strategies.js';
import { volumeAttachmentColumns } from './columns.js';

export interface VolumeAttachment extends VolumeAttachmentObject {}

export const VolumeAttachment: VolumeAttachmentKind<VolumeAttachment> = defineBuiltIn({
  ...volumeAttachmentBase,
  columns: volumeAttachmentColumns,
  strategy: {
    update: {
      allowUnconditionalUpdate: false,
      // The reference server runs the rules of a new object twice on update.
      validationOrder: ['create', 'create', 'update'],
      validate: fixedProblems,
    },
    delete: { returnDeletedObject: true },
    write: { separateStatus: true },
    decode: { defaults: (draft) => volumeSourceDefaults(draft.spec.source.inlineVolumeSpec) },
    create: {
      validate: (object, context, live) => [
        ...attachmentProblems(object, context),
        ...(live === undefined ? namingProblems(object) : []),
      ],
    },
  },
  subresources: {
    status: statusSubresource({
      metadata: 'kept',
      prepare: dropDisabled,
      metadataValidation: 'inValidate',
      validate(next, live, context, metadata) {
        const asNew = [...metadata.forCreate(), ...attachmentProblems(next, context)];
        return [...asNew, ...asNew, ...fixedProblems(next, live)];
      },
    }),
  },
});

const ERRORS = ['attachError', 'detachError'] as const;

function dropDisabled(draft: VolumeAttachment, live: VolumeAttachment, { features }: HookContext): void {
  if (features.enabled('MutableCSINodeAllocatableCount')) return;
  for (const field of ERRORS) {
    if (live.status[field]?.errorCode === undefined) delete draft.status[field]?.errorCode;
  }
}

function fixedProblems(next: VolumeAttachment, live: VolumeAttachment): FieldError[] {
  const { spec } = next;
  return immutableErrors('spec', spec, live.spec, () => specDump(spec));
}

const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function attachmentProblems(object: VolumeAttachment, context: HookContext): FieldError[] {
  const { spec, status } = object;
  const { attacher, nodeName } = spec;
  return [
    ...(attacher === '' ? [required('spec.attacher')] : []),
    ...sourceProblems('spec.source', spec.source, context),
    ...dnsSubdomainProblems(nodeName).map((problem) => invalid('spec.nodeName', nodeName, problem)),
    ...statusProblems('status', status),
  ];
}

function sourceProblems(path: string, source: VolumeAttachmentSource, context: HookContext): FieldError[] {
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = source;
  if (name === undefined && inline === undefined) return [required(path, ONE_SOURCE)];
  if (name !== undefined && inline !== undefined) return [forbidden(path, ONE_SOURCE)];
  if (inline !== undefined) return inlineVolumeProblems(childPath(path, 'inlineVolumeSpec'), inline, context);
  if (name !== '') return [];
  return [required(childPath(path, 'persistentVolumeName'), 'must specify non empty persistentVolumeName')];
}

/** Rules that apply only to new attachments. */
function namingProblems(object: VolumeAttachment): FieldError[] {
  const { attacher, source } = object.spec;
  const { persistentVolumeName: name } = source;
  const volume = name === undefined ? [] : dnsSubdomainProblems(name);
  return [
    ...driverNameProblems('spec.attacher', attacher),
    ...volume.map((problem) => invalid('spec.source.persistentVolumeName', name, problem)),
  ];
}

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;

function statusProblems(path: string, status: VolumeAttachmentStatus): FieldError[] {
  let size = 0;
  for (const [key, value] of Object.entries(status.attachmentMetadata ?? {}))
    size += byteLength(key) + byteLength(value);
  const found = size > MAX_METADATA_BYTES ? [tooLong(childPath(path, 'attachmentMetadata'), MAX_METADATA_BYTES)] : [];
  return [...found, ...ERRORS.flatMap((field) => errorProblems(childPath(path, field), status[field]))];
}

function errorProblems(path: string, error: VolumeError | undefined): FieldError[] {
  const { message = '', errorCode = 0 } = error ?? {};
  const found: FieldError[] = [];
  // The limit in the reference server's message differs from the one it checks.
  if (byteLength(message) > MAX_MESSAGE_BYTES) found.push(tooLong(childPath(path, 'message'), MAX_METADATA_BYTES));
  if (errorCode < 0) {
    found.push(invalid(childPath(path, 'errorCode'), errorCode, 'must be between 0 and 2147483647, inclusive'));
  }
  return found;
}

function specDump({ attacher, source, nodeName }: VolumeAttachmentSpec): Verbatim {
  const pointed = (value: unknown) => (value === undefined ? 'nil' : '0xc000000000');
  return verbatim(
    `storage.VolumeAttachmentSpec{Attacher:${quote(attacher)}, Source:storage.VolumeAttachmentSource{` +
      `PersistentVolumeName:(*string)(${pointed(source.persistentVolumeName)}), ` +
      `InlineVolumeSpec:(*core.PersistentVolumeSpec)(${pointed(source.inlineVolumeSpec)})}, NodeName:${quote(nodeName)}}`,
  );
}
