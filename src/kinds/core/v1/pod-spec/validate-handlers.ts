/**
 * Validation of probes and lifecycle hooks.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, required } from '../../../../meta/field-error.js';
import { httpHeaderNameProblems, portNameProblems } from '../../../../meta/names.js';
import type { FeatureGates } from '../../../feature-gates.js';
import type {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  PodSpec,
  Probe,
  SleepAction,
  TCPSocketAction,
} from '../../../generated/core-v1.js';
import { nonNegativeFields, portNumberProblems, valueErrors } from '../../../shared/field-rules.js';

const NAMED_SIGNALS = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL'],
  ...['PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG'],
  ...['USR1', 'USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ'],
];

/** Real-time signals are named relative to the lowest or the highest one. */
const REAL_TIME_SIGNALS = [
  'RTMIN',
  ...Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`),
  'RTMAX',
  ...Array.from({ length: 14 }, (_, index) => `RTMAX-${index + 1}`),
];

const LINUX_SIGNALS: readonly string[] = [...NAMED_SIGNALS, ...REAL_TIME_SIGNALS].map((name) => `SIG${name}`).sort();

const WINDOWS_SIGNALS: readonly string[] = ['SIGKILL', 'SIGTERM'];

/** What validation of handlers needs from the pod. */
export interface HandlerContext {
  readonly features: FeatureGates;
  /** The pod's termination grace period, the maximum duration of a sleep action. */
  readonly gracePeriod: number;
  /** The pod's operating system, which determines the valid stop signals. */
  readonly os: PodSpec['os'];
}

/** The probes of a container. */
export interface Probed {
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
}

/** Validates the probes of the container at `path`. */
export function probesProblems(path: string, container: Probed, context: HandlerContext): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  return [
    ...(livenessProbe === undefined
      ? []
      : [
          ...probeProblems(childPath(path, 'livenessProbe'), livenessProbe, context),
          ...oneSuccessProblems(childPath(path, 'livenessProbe'), livenessProbe),
        ]),
    ...(readinessProbe === undefined
      ? []
      : [
          ...probeProblems(childPath(path, 'readinessProbe'), readinessProbe, context),
          ...noGraceProblems(childPath(path, 'readinessProbe'), readinessProbe),
        ]),
    ...(startupProbe === undefined
      ? []
      : [
          ...probeProblems(childPath(path, 'startupProbe'), startupProbe, context),
          ...oneSuccessProblems(childPath(path, 'startupProbe'), startupProbe),
        ]),
  ];
}

/** Validates the lifecycle hooks and the stop signal of a container. */
export function lifecycleProblems(
  path: string,
  lifecycle: Lifecycle | undefined,
  context: HandlerContext,
): FieldError[] {
  if (lifecycle === undefined) return [];
  const { postStart, preStop, stopSignal } = lifecycle;
  return [
    ...(postStart === undefined ? [] : handlerProblems(childPath(path, 'postStart'), postStart, context)),
    ...(preStop === undefined ? [] : handlerProblems(childPath(path, 'preStop'), preStop, context)),
    ...(stopSignal === undefined ? [] : stopSignalProblems(childPath(path, 'stopSignal'), stopSignal, context.os)),
  ];
}

const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function probeProblems(path: string, probe: Probe, context: HandlerContext): FieldError[] {
  const { terminationGracePeriodSeconds: grace } = probe;
  return [
    ...handlerProblems(path, probe, context),
    ...nonNegativeFields(path, probe, PROBE_NUMBERS),
    ...(grace === undefined || grace > 0
      ? []
      : [invalid(childPath(path, 'terminationGracePeriodSeconds'), grace, 'must be greater than 0')]),
  ];
}

function oneSuccessProblems(path: string, { successThreshold }: Probe): FieldError[] {
  return successThreshold === 1 ? [] : [invalid(childPath(path, 'successThreshold'), successThreshold, 'must be 1')];
}

function noGraceProblems(path: string, { terminationGracePeriodSeconds: grace }: Probe): FieldError[] {
  if (grace === undefined) return [];
  return [invalid(childPath(path, 'terminationGracePeriodSeconds'), grace, 'must not be set for readinessProbes')];
}

interface Handler extends LifecycleHandler {
  readonly grpc?: GRPCAction;
}

/** Exactly one handler type is required. Only the first one is validated; further ones are forbidden. */
function handlerProblems(path: string, handler: Handler, context: HandlerContext): FieldError[] {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  const given: [field: string, problems: (at: string) => FieldError[]][] = [];
  if (exec !== undefined) given.push(['exec', (at) => execProblems(at, exec)]);
  if (httpGet !== undefined) given.push(['httpGet', (at) => httpGetProblems(at, httpGet)]);
  if (tcpSocket !== undefined) given.push(['tcpSocket', (at) => tcpSocketProblems(at, tcpSocket)]);
  if (grpc !== undefined) given.push(['grpc', (at) => portProblems(childPath(at, 'port'), grpc.port)]);
  if (sleep !== undefined) given.push(['sleep', (at) => sleepProblems(at, sleep, context)]);
  if (given.length === 0) return [required(path, 'must specify a handler type')];
  return given.flatMap(([field, problems], index) => {
    const at = childPath(path, field);
    return index === 0 ? problems(at) : [forbidden(at, 'may not specify more than 1 handler type')];
  });
}

function execProblems(path: string, { command = [] }: ExecAction): FieldError[] {
  return command.length === 0 ? [required(childPath(path, 'command'))] : [];
}

const SCHEMES = ['HTTP', 'HTTPS'];

function httpGetProblems(path: string, { port, scheme, httpHeaders = [] }: HTTPGetAction): FieldError[] {
  const headersPath = childPath(path, 'httpHeaders');
  return [
    ...portProblems(childPath(path, 'port'), port),
    ...valueErrors(childPath(path, 'scheme'), scheme, SCHEMES),
    ...httpHeaders.flatMap(({ name }) =>
      httpHeaderNameProblems(name).map((problem) => invalid(headersPath, name, problem)),
    ),
  ];
}

function tcpSocketProblems(path: string, { port }: TCPSocketAction): FieldError[] {
  return portProblems(childPath(path, 'port'), port);
}

/** Validates a port number or the name of a container port. */
function portProblems(path: string, port: number | string): FieldError[] {
  if (typeof port === 'number') return portNumberProblems(path, port);
  return portNameProblems(port).map((problem) => invalid(path, port, problem));
}

function sleepProblems(
  path: string,
  { seconds }: SleepAction,
  { gracePeriod, features }: HandlerContext,
): FieldError[] {
  const zeroAllowed = features.enabled('PodLifecycleSleepActionAllowZero');
  if (seconds <= gracePeriod && (zeroAllowed ? seconds >= 0 : seconds > 0)) return [];
  const detail = zeroAllowed
    ? `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`
    : `must be greater than 0 and less than terminationGracePeriodSeconds (${gracePeriod}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`;
  return [invalid(path, seconds, detail)];
}

/** Stop signals depend on the operating system, so the pod must specify it. */
function stopSignalProblems(path: string, signal: string, os: PodSpec['os']): FieldError[] {
  if (os === undefined) return [forbidden(path, 'may not be set for containers with empty `spec.os.name`')];
  const supported = os.name === 'windows' ? WINDOWS_SIGNALS : LINUX_SIGNALS;
  return valueErrors(path, signal, supported);
}
