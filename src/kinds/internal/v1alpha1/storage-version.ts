/**
 * The StorageVersion kind: the versions in which the API servers of a cluster store and decode a resource.
 */

import { childPath, duplicate, type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  patternMessage,
  qualifiedNameProblems,
} from '../../../meta/names.js';
import { asSent } from '../../../schema/empty-values.js';
import { stringSlice } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ServerStorageVersion,
  type StorageVersionCondition,
  type StorageVersionKind,
  type StorageVersionObject,
  type StorageVersionStatus,
  storageVersionBase,
} from '../../generated/internal-v1alpha1.js';
import type { NameValidator } from '../../kind.js';
import { ageColumn, firstFew, nameColumn, textColumn } from '../../shared/common-columns.js';
import { statusSubresource } from '../../shared/strategies.js';

export interface StorageVersion extends StorageVersionObject {}

/** Requires `<group>.<resource>`; the group may contain dots. */
const storageVersionName: NameValidator = (name) => {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dnsSubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035LabelProblems(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
};

export const StorageVersion: StorageVersionKind<StorageVersion> = defineBuiltIn({
  ...storageVersionBase,
  columns: [
    nameColumn,
    textColumn(
      'CommonEncodingVersion',
      'The encoding version that all servers agree on.',
      (object) => object.status.commonEncodingVersion ?? '<unset>',
    ),
    textColumn('StorageVersions', 'The encoding version of each server.', (object) =>
      serversCell(object.status.storageVersions ?? []),
    ),
    ageColumn,
  ],
  strategy: {
    name: { validate: storageVersionName },
    update: { allowUnconditionalUpdate: false, metadataValidation: 'none' },
    write: { separateStatus: true },
    create: { validate: (object) => statusProblems('status', object.status) },
  },
  subresources: {
    status: statusSubresource({
      metadata: 'kept',
      metadataValidation: 'none',
      validate: (next) => statusProblems('status', next.status),
    }),
  },
});

function serversCell(servers: readonly ServerStorageVersion[]): string {
  if (servers.length === 0) return '<unset>';
  return firstFew(servers.map(({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`));
}

function statusProblems(path: string, status: StorageVersionStatus): FieldError[] {
  const servers = status.storageVersions ?? [];
  const seen = new Set<string>();
  return [
    ...servers.flatMap((server, index) => {
      const at = keyPath(childPath(path, 'storageVersions'), index);
      const { apiServerID = '' } = server;
      const repeated = seen.has(apiServerID) ? [duplicate(childPath(at, 'apiServerID'), apiServerID)] : [];
      seen.add(apiServerID);
      return [...repeated, ...serverProblems(at, server)];
    }),
    ...commonVersionProblems(childPath(path, 'commonEncodingVersion'), status),
    ...conditionProblems(path, status.conditions ?? []),
  ];
}

function serverProblems(path: string, server: ServerStorageVersion): FieldError[] {
  const { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions = [] } = server;
  const versionProblems = (at: string, version: string) => {
    const problems = apiVersionProblems(version);
    return problems.length === 0 ? [] : [invalid(at, version, problems.join(','))];
  };
  const decodable = childPath(path, 'decodableVersions');
  const found = [
    ...dnsSubdomainProblems(apiServerID).map((problem) =>
      invalid(childPath(path, 'apiServerID'), apiServerID, problem),
    ),
    ...versionProblems(childPath(path, 'encodingVersion'), encodingVersion),
    ...decodableVersions.flatMap((version, index) => versionProblems(keyPath(decodable, index), version)),
  ];
  if (!decodableVersions.includes(encodingVersion)) {
    const detail = `decodableVersions must include encodingVersion ${encodingVersion}`;
    found.push(invalid(decodable, stringSlice(asSent(server, 'decodableVersions')), detail));
  }
  const known = new Set(decodableVersions);
  const list = `[${decodableVersions.join(' ')}]`;
  servedVersions.forEach((version, index) => {
    const at = keyPath(childPath(path, 'servedVersions'), index);
    append(found, versionProblems(at, version));
    if (known.has(version)) return;
    const detail = `individual served version : ${version} must be included in decodableVersions : ${list}`;
    found.push(invalid(at, version, detail));
  });
  return found;
}

const MALFORMED = `an apiVersion is ${patternMessage(
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  ['my-name', 'abc-123'],
)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`;

function apiVersionProblems(text: string): readonly string[] {
  const parts = text.split('/');
  if (parts.length > 2) return [MALFORMED];
  const version = parts[parts.length - 1] ?? '';
  const part = (name: string, value: string, problems: readonly string[]) =>
    (value === '' ? ['must be non-empty'] : problems).map((problem) => `${name} part: ${problem}`);
  const ofVersion = part('version', version, dns1035LabelProblems(version));
  if (parts.length === 1) return ofVersion;
  const [group = ''] = parts;
  return [...part('group', group, dnsSubdomainProblems(group)), ...ofVersion];
}

/** The common version is set if and only if all servers have the same encoding version. */
function commonVersionProblems(path: string, status: StorageVersionStatus): FieldError[] {
  const { storageVersions: servers = [], commonEncodingVersion: told } = status;
  const [first = ''] = servers.map(({ encodingVersion = '' }) => encodingVersion);
  const agree = servers.length > 0 && servers.every(({ encodingVersion = '' }) => encodingVersion === first);
  if (!agree) {
    if (told === undefined) return [];
    const detail =
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet';
    return [invalid(path, told, detail)];
  }
  if (told === first) return [];
  const which = told === undefined ? 'the common encoding version' : 'the actual common encoding version';
  return [invalid(path, told, `${which} is ${first}`)];
}

/** As in the reference server, the paths lack the list's name, and an invalid status is reported with the type. */
function conditionProblems(path: string, conditions: readonly StorageVersionCondition[]): FieldError[] {
  const places = new Map<string, number>();
  return conditions.flatMap(({ type: named, status, reason, message }, index) => {
    const at = keyPath(path, index);
    const typePath = childPath(at, 'type');
    const found: FieldError[] = [];
    const earlier = places.get(named);
    if (earlier !== undefined) {
      const detail = `the type of the condition is not unique, it also appears in conditions[${earlier}]`;
      found.push(invalid(typePath, named, detail));
    }
    places.set(named, index);
    append(
      found,
      qualifiedNameProblems(named).map((problem) => invalid(typePath, named, problem)),
    );
    append(
      found,
      qualifiedNameProblems(status).map((problem) => invalid(childPath(at, 'status'), status, problem)),
    );
    if (reason === '') found.push(required(childPath(at, 'reason'), 'reason cannot be empty'));
    if (message === '') found.push(required(childPath(at, 'message'), 'message cannot be empty'));
    return found;
  });
}
