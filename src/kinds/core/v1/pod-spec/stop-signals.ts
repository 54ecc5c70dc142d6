/**
 * Signals that end a container.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { forbidden, notSupported } from '../../../../meta/field-error.js';
import type { PodSpec } from './pod-spec.js';

const NAMED = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL'],
  ...['PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG'],
  ...['USR1', 'USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ'],
];

/** Real-time signals count up from the lowest and down from the highest. */
const REAL_TIME = [
  'RTMIN',
  ...Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`),
  'RTMAX',
  ...Array.from({ length: 14 }, (_, index) => `RTMAX-${index + 1}`),
];

const LINUX: readonly string[] = [...NAMED, ...REAL_TIME].map((name) => `SIG${name}`).sort();
const WINDOWS: readonly string[] = ['SIGKILL', 'SIGTERM'];

/** A signal has a meaning only where the system is known. */
export function stopSignalProblems(path: string, signal: string, os: PodSpec['os']): FieldError[] {
  if (os === undefined) return [forbidden(path, 'may not be set for containers with empty `spec.os.name`')];
  const supported = os.name === 'windows' ? WINDOWS : LINUX;
  return supported.includes(signal) ? [] : [notSupported(path, signal, supported)];
}
