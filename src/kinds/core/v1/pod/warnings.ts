/**
 * What a client is told about a new pod. Updates are silent: people hardly ever make them by hand.
 */
import type { ApiObject } from '../../../../meta/object.js';
import type { WriteContext } from '../../../kind.js';
import { podNameWarnings } from '../../../shared/pod-name-warnings.js';
import { podSpecWarnings } from '../pod-spec/warnings.js';
import type { Pod } from './pod.js';

export function podWarnings(object: ApiObject, live: ApiObject | undefined, { dialect }: WriteContext): string[] {
  if (live !== undefined) return [];
  const { spec, metadata } = object as unknown as Pod;
  return [
    ...podNameWarnings(object, live, "the Pod's hostname"),
    ...podSpecWarnings('', spec, { annotations: metadata.annotations ?? {}, dialect }),
  ];
}
