/**
 * The actions of lifecycle hooks and probes: commands, HTTP requests, connections and waiting.
 * upstream: pkg/kubelet/lifecycle/handlers.go, pkg/probe
 */
import { messageOf } from '../../util/message-of.js';
import { followRedirects } from '../network/redirects.js';
import type { ContainerSpec } from '../program.js';
import type { CommandResult, PodEnvironment } from './pod-environment.js';

export type Handler = NonNullable<NonNullable<ContainerSpec['lifecycle']>['postStart']>;
export type HttpAction = NonNullable<Handler['httpGet']>;

/** Runs a hook. Returns why it failed; undefined: it succeeded. */
export async function runHandler(
  pod: PodEnvironment,
  spec: ContainerSpec,
  handler: Handler,
  execute: (command: readonly string[]) => Promise<CommandResult>,
): Promise<string | undefined> {
  const { exec, httpGet, sleep, tcpSocket } = handler;
  if (exec !== undefined) {
    const { exitCode, output } = await execute(exec.command ?? []);
    return exitCode === 0 ? undefined : output;
  }
  if (httpGet !== undefined) {
    try {
      const { status, body } = await sendToPod(pod, requestOf(pod, spec, httpGet));
      // A body that is not read would keep the connection open.
      body?.cancel().catch(() => undefined);
      return status < 400 ? undefined : `HTTP status ${status}`;
    } catch (error) {
      return messageOf(error);
    }
  }
  // Seconds above 2^53 are a bigint, as all large numbers of 64 bits in objects.
  if (sleep !== undefined) await pod.after(Number(sleep.seconds) * 1000);
  // As in kubelet, tcpSocket is not a hook.
  return tcpSocket === undefined ? undefined : 'invalid handler';
}

/** As in kubelet: a program cannot make the node send requests to other hosts. */
const MAX_REDIRECTS = 9;

/**
 * Sends the request of an httpGet action. A redirect to another host is the response.
 * upstream: pkg/probe/http/http.go RedirectChecker
 */
export function sendToPod({ network }: PodEnvironment, request: Request): Promise<Response> {
  const { hostname } = new URL(request.url);
  return followRedirects(request, (next) => network.fetch(new Request(next, { redirect: 'manual' })), {
    maxRedirects: MAX_REDIRECTS,
    follows: (url) => url.hostname === hostname,
  });
}

/** The request of an httpGet action; its host is the pod unless given. */
export function requestOf(pod: PodEnvironment, spec: ContainerSpec, action: HttpAction): Request {
  const { path = '/', scheme = 'HTTP', httpHeaders = [] } = action;
  const host = hostOf(pod, action.host);
  const url = `${scheme.toLowerCase()}://${host}:${portOf(spec, action.port)}/${path.replace(/^\/+/, '')}`;
  const headers = new Headers({ 'user-agent': 'kube-probe/1.33', accept: '*/*' });
  for (const { name, value } of httpHeaders) headers.append(name, value);
  return new Request(url, { headers });
}

/** The address of the pod, in brackets if it is an IPv6 address. */
export function hostOf(pod: PodEnvironment, host: string | undefined): string {
  const address = host === undefined || host === '' ? (pod.podIPs()[0] ?? '127.0.0.1') : host;
  return address.includes(':') ? `[${address}]` : address;
}

/** The number of a port that is given as a number or as the name of a container port. */
export function portOf({ ports = [] }: ContainerSpec, port: number | string): number {
  if (typeof port === 'number') return port;
  const named = ports.find(({ name }) => name === port)?.containerPort ?? Number(port);
  if (Number.isInteger(named)) return named;
  throw new Error(`couldn't find port: ${port}`);
}
