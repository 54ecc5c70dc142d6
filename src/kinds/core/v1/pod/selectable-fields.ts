/**
 * Fields by which pods can be selected.
 */
import type { ApiObject } from '../../../../meta/object.js';
import type { Strategy } from '../../../kind.js';
import type { Pod } from './pod.js';

const of = (read: (pod: Pod) => string | undefined) => (object: ApiObject) => read(object as unknown as Pod) ?? '';

export const podSelectableFields: Strategy['selectableFields'] = {
  'spec.nodeName': of(({ spec }) => spec.nodeName),
  // An old name of the same.
  'spec.host': of(({ spec }) => spec.nodeName),
  'spec.restartPolicy': of(({ spec }) => spec.restartPolicy),
  'spec.schedulerName': of(({ spec }) => spec.schedulerName),
  'spec.serviceAccountName': of(({ spec }) => spec.serviceAccountName),
  'spec.hostNetwork': of(({ spec }) => String(spec.hostNetwork === true)),
  'status.phase': of(({ status }) => status.phase),
  'status.podIP': of(({ status }) => status.podIP),
  // Known, but never filled in: only the empty text selects anything.
  'status.podIPs': () => '',
  'status.nominatedNodeName': of(({ status }) => status.nominatedNodeName),
};
