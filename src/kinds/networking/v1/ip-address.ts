/**
 * The IPAddress kind: an allocated address, which is its name, and the object that uses it. Services create theirs.
 * spec: IPAddress
 */

import { type FieldError, invalid, required } from '../../../meta/field-error.js';
import { ipAddressNameProblems } from '../../../meta/ip.js';
import { dnsSubdomainProblems, pathSegmentProblems } from '../../../meta/names.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type IPAddressKind,
  type IPAddressObject,
  ipAddressBase,
  type ParentReference,
} from '../../generated/networking-v1.js';
import type { HookContext, MetadataErrors } from '../../kind.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import { initialAddresses } from '../../shared/control-plane/initial-objects.js';
import { requiredSegmentProblems } from '../reference.js';

export interface IPAddress extends IPAddressObject {}

export const IPAddress: IPAddressKind<IPAddress> = defineBuiltIn({
  ...ipAddressBase,
  lifecycle: { introducedIn: '1.33' },
  names: { shortNames: ['ip'] },
  initial: initialAddresses,
  strategy: {
    name: {
      validate: ipAddressNameProblems,
      // A suffix would make the address invalid.
      generate: (prefix) => prefix,
    },
    update: { metadataValidation: 'inValidate', validate: validateUpdate },
    create: { validate: (object) => parentProblems(object.spec.parentRef) },
  },
  referenceStorageVersion: 'v1beta1',
  columns: [
    nameColumn,
    textColumn('ParentRef', 'The object that uses the address.', parentCell),
    { ...ageColumn, isHidden: true },
  ],
});

function parentProblems(parent: ParentReference | undefined): FieldError[] {
  if (parent === undefined) return [required('spec.parentRef')];
  const { group = '', resource, namespace = '', name } = parent;
  const groupDetails = group === '' ? [] : dnsSubdomainProblems(group);
  const namespaceDetails = namespace === '' ? [] : pathSegmentProblems(namespace);
  return [
    ...groupDetails.map((detail) => invalid('spec.parentRef.group', group, detail)),
    ...requiredSegmentProblems('spec.parentRef.resource', resource),
    ...requiredSegmentProblems('spec.parentRef.name', name),
    ...namespaceDetails.map((detail) => invalid('spec.parentRef.namespace', namespace, detail)),
  ];
}

function validateUpdate(
  next: IPAddress,
  live: IPAddress,
  _context: HookContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  const parent = next.spec.parentRef;
  const problems = [...metadata.forCreate(), ...parentProblems(parent), ...metadata.forUpdate()];
  if (deepEqual(parent, live.spec.parentRef)) return problems;
  const shown = parent === undefined ? null : dumpParent(parent);
  return [...problems, invalid('spec.parentRef', shown, 'field is immutable')];
}

function dumpParent({ group = '', resource, namespace = '', name }: ParentReference) {
  const fields = `Group:${quote(group)}, Resource:${quote(resource)}, Namespace:${quote(namespace)}, Name:${quote(name)}`;
  return verbatim(`networking.ParentReference{${fields}}`);
}

function parentCell(object: IPAddress): string {
  const parent = object.spec.parentRef;
  if (parent === undefined) return NONE;
  const { group = '', resource, namespace = '', name } = parent;
  const kind = (group === '' ? resource : `${resource}.${group}`).toLowerCase();
  return namespace === '' ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}
