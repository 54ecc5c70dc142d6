/**
 * The program of images that the page does not know: a web server on the ports of its container.
 */
import type { Program, RunningPod } from 'orchplane/runtime';

type Container = RunningPod['spec']['containers'][number];

/** How often the server says what it uses, and the CPU time of a request. */
const USAGE_PERIOD_MS = 15_000;
const MILLICORES_PER_REQUEST = 20;

/** A function has no CPU time of its own, so the server says what it uses, which grows with its requests. */
export const webServer: Program = async ({ env, listen, log, name, pod, signal, sleep, use }) => {
  const container = pod.spec.containers.find((each) => each.name === name);
  const image = container?.image ?? '';
  const status = isBroken(image) ? 503 : 200;
  let requests = 0;
  const ports = portsOf(container);
  for (const port of ports) {
    listen(port, (request, { remoteAddress }) => {
      if (!isProbe(request)) {
        requests++;
        log(`${remoteAddress} ${request.method} ${new URL(request.url).pathname} ${status}`);
      }
      return new Response(status === 200 ? `hello from ${env['HOSTNAME']} (${image})\n` : 'broken\n', { status });
    });
  }
  log(`${image} serves on port ${ports.join(', ')}`);
  signal.addEventListener('abort', () => log('SIGTERM received, stopping'), { once: true });
  for (;;) {
    use({ cpu: `${1 + requests * MILLICORES_PER_REQUEST}m`, memory: '24Mi' });
    requests = 0;
    await sleep(USAGE_PERIOD_MS);
  }
};

/** A version for demonstrations, which answers every request with an error: `nginx:broken`. */
function isBroken(image: string): boolean {
  return /:(?:.*-)?broken$/.test(image);
}

function isProbe({ headers }: Request): boolean {
  return headers.get('user-agent')?.startsWith('kube-probe/') === true;
}

/** The ports that the container declares and those of its probes; 80 if there are none. */
function portsOf(container: Container | undefined): readonly number[] {
  const { ports = [], startupProbe, readinessProbe, livenessProbe } = container ?? {};
  const probed = [startupProbe, readinessProbe, livenessProbe].map((probe) =>
    Number((probe?.httpGet ?? probe?.tcpSocket)?.port),
  );
  const all = [...ports.map(({ containerPort }) => containerPort), ...probed.filter((port) => port > 0)];
  return all.length === 0 ? [80] : [...new Set(all)];
}
