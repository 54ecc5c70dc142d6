/**
 * What a container without an image waits for, and the Events about it.
 * upstream: pkg/kubelet/images/image_manager.go
 */
import type { ContainerStateInput } from '../../kinds/generated/core-v1.js';
import type { ContainerSpec } from '../program.js';

export const FIRST_BACK_OFF_MS = 10_000;
export const MAX_BACK_OFF_MS = 300_000;

/** The delay after this many failures; there is at least one. */
export function backOffMs(failures: number): number {
  return Math.min(MAX_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (failures - 1));
}

interface PullFailure {
  readonly waiting: NonNullable<ContainerStateInput['waiting']>;
  readonly events: readonly {
    readonly type: 'Normal' | 'Warning';
    readonly reason: string;
    readonly message: string;
  }[];
  /** The time until the next attempt. */
  readonly delayMs: number;
}

/** `waitingReason` is the reason of the state before; `failures` the number of attempts. */
export function pullFailure(
  { image = '', imagePullPolicy }: ContainerSpec,
  { waitingReason, failures }: { readonly waitingReason: string | undefined; readonly failures: number },
): PullFailure {
  const name = JSON.stringify(image);
  if (imagePullPolicy === 'Never') {
    const message = `Container image ${name} is not present with pull policy of Never`;
    return {
      waiting: { reason: 'ErrImageNeverPull', message },
      events: [{ type: 'Warning', reason: 'ErrImageNeverPull', message }],
      delayMs: FIRST_BACK_OFF_MS,
    };
  }
  const message = `failed to pull and unpack image ${name}: no program for this image: not found`;
  if (waitingReason === 'ErrImagePull') {
    const backOff = `Back-off pulling image ${name}`;
    return {
      waiting: { reason: 'ImagePullBackOff', message: `${backOff}: ErrImagePull: ${message}` },
      events: [
        { type: 'Normal', reason: 'BackOff', message: backOff },
        { type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' },
      ],
      delayMs: backOffMs(failures),
    };
  }
  return {
    waiting: { reason: 'ErrImagePull', message },
    events: [
      { type: 'Normal', reason: 'Pulling', message: `Pulling image ${name}` },
      { type: 'Warning', reason: 'Failed', message: `Failed to pull image ${name}: ${message}` },
      { type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' },
    ],
    delayMs: 0,
  };
}
