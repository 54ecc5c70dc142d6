/**
 * The CSIDriver kind: the capabilities and requirements of a storage driver.
 */

import { childPath, duplicate, type FieldError, invalid, keyPath } from '../../../meta/field-error.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type CSIDriverKind,
  type CSIDriverObject,
  type CSIDriverSpec,
  csiDriverBase,
  type TokenRequest,
} from '../../generated/storage-v1.js';
import type { HookContext } from '../../kind.js';
import { immutableErrors, valueErrors } from '../../shared/field-rules.js';
import { csiDriverColumns } from './columns.js';

export interface CSIDriver extends CSIDriverObject {}

export const CSIDriver: CSIDriverKind<CSIDriver> = defineBuiltIn({
  ...csiDriverBase,
  columns: csiDriverColumns,
  strategy: {
    update: {
      allowUnconditionalUpdate: false,
      prepare: prepareForUpdate,
      validate: (next, live) => [...specProblems('spec', next.spec), ...fixedProblems(next.spec, live.spec)],
    },
    delete: { returnDeletedObject: true },
    create: {
      prepare: (draft, context) => dropDisabled(draft, undefined, context),
      validate: (object) => specProblems('spec', object.spec),
    },
  },
});

function dropDisabled(draft: CSIDriver, live: CSIDriver | undefined, { features }: HookContext): void {
  if (features.enabled('MutableCSINodeAllocatableCount')) return;
  if (live !== undefined && live.spec.nodeAllocatableUpdatePeriodSeconds !== undefined) return;
  delete draft.spec.nodeAllocatableUpdatePeriodSeconds;
}

/** Unlike other kinds, a CSIDriver has no generation before its first change. */
function prepareForUpdate(draft: CSIDriver, live: CSIDriver, context: HookContext): void {
  dropDisabled(draft, live, context);
  if (!deepEqual(draft.spec, live.spec)) draft.metadata.generation = (live.metadata.generation ?? 0) + 1;
}

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const SHORTEST_PERIOD = 10;

function specProblems(path: string, spec: CSIDriverSpec): FieldError[] {
  const { fsGroupPolicy, tokenRequests = [], volumeLifecycleModes, nodeAllocatableUpdatePeriodSeconds: period } = spec;
  const found: FieldError[] = [];
  append(found, valueErrors(childPath(path, 'fsGroupPolicy'), fsGroupPolicy, FS_GROUP_POLICIES));
  append(found, tokenRequestProblems(childPath(path, 'tokenRequests'), tokenRequests));
  for (const mode of volumeLifecycleModes) {
    append(found, valueErrors(childPath(path, 'volumeLifecycleModes'), mode, LIFECYCLE_MODES));
  }
  if (period !== undefined && period < SHORTEST_PERIOD) {
    const at = childPath(path, 'nodeAllocatableUpdatePeriodSeconds');
    found.push(invalid(at, period, 'must be greater than or equal to 10 seconds'));
  }
  return found;
}

const SHORTEST_TOKEN_SECONDS = 600;
const LONGEST_TOKEN_SECONDS = 2 ** 32;

function tokenRequestProblems(path: string, requests: readonly TokenRequest[]): FieldError[] {
  const found: FieldError[] = [];
  const audiences = new Set<string>();
  for (const [index, { audience, expirationSeconds: seconds }] of requests.entries()) {
    const at = keyPath(path, index);
    if (audiences.has(audience)) {
      found.push(duplicate(childPath(at, 'audience'), audience));
      continue;
    }
    audiences.add(audience);
    if (seconds === undefined) continue;
    const secondsPath = childPath(at, 'expirationSeconds');
    if (seconds < SHORTEST_TOKEN_SECONDS) {
      found.push(invalid(secondsPath, seconds, 'may not specify a duration less than 10 minutes'));
    }
    if (seconds > LONGEST_TOKEN_SECONDS) {
      found.push(invalid(secondsPath, seconds, 'may not specify a duration larger than 2^32 seconds'));
    }
  }
  return found;
}

/** The reference server misspells the first path. */
function fixedProblems(next: CSIDriverSpec, live: CSIDriverSpec): FieldError[] {
  const { attachRequired, volumeLifecycleModes: modes } = next;
  return [
    ...immutableErrors('spec.attachedRequired', attachRequired, live.attachRequired),
    ...immutableErrors('spec.volumeLifecycleModes', modes, live.volumeLifecycleModes, () =>
      verbatim(`[]storage.VolumeLifecycleMode{${modes.map(quote).join(', ')}}`),
    ),
  ];
}
