/** The programs of the shop: what runs in its containers. Each is a function; there is no image to build. */
import { ConfigMap } from 'orchplane/kinds';

/** Knows how much of each item there is. The initial amounts are a file, which comes from a ConfigMap. */
export async function stock({ files, listen, untilStopped }) {
  const amounts = new Map(Object.entries(JSON.parse(files.readText('/etc/stock/items.json'))));
  listen(8080, async (request) => {
    if (request.method === 'GET') return Response.json(Object.fromEntries(amounts));
    const { item, count } = await request.json();
    const left = amounts.get(item) ?? 0;
    if (left < count) return new Response(`only ${left} of ${item} left`, { status: 409 });
    amounts.set(item, left - count);
    return Response.json({ item, left: left - count });
  });
  await untilStopped();
}

/** Takes orders. It asks the Service `stock` before it accepts one. */
export async function orders({ fetch, listen, log, untilStopped }) {
  const accepted = [];
  listen(8080, async (request) => {
    if (request.method === 'GET') return Response.json(accepted);
    const order = await request.json();
    const answer = await fetch('http://stock/', { method: 'POST', body: JSON.stringify(order) });
    if (!answer.ok) return new Response(await answer.text(), { status: answer.status });
    accepted.push(order);
    log(`order ${accepted.length}: ${order.count} ${order.item}`);
    return new Response(`order ${accepted.length} accepted`, { status: 201 });
  });
  await untilStopped();
}

/** How often the web server says what it uses, and the CPU time of a visit. */
const PERIOD_MS = 15_000;
const MILLICORES_PER_VISIT = 20;

/** Serves the customers. Functions have no CPU time of their own, so it says what it uses: the autoscaler reads that. */
export async function web({ env, fetch, listen, signal, sleep, use }) {
  let visits = 0;
  listen(8080, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/healthz') return new Response('ok');
    visits++;
    if (pathname === '/buy') return fetch('http://orders/', { method: 'POST', body: await request.text() });
    return new Response(`welcome, says ${env.HOSTNAME}`);
  });
  while (!signal.aborted) {
    use({ cpu: `${visits * MILLICORES_PER_VISIT}m`, memory: '32Mi' });
    visits = 0;
    // Rejects when the container is asked to stop, which ends the program.
    await sleep(PERIOD_MS);
  }
}

/** The nightly report: counts the orders and writes a ConfigMap, as the service account of its pod. */
export async function report({ client, clock, fetch, log }) {
  const response = await fetch('http://orders.default.svc.cluster.local/');
  const list = await response.json();
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  await client.api(ConfigMap).create({
    metadata: { name: `report-${day}` },
    data: { orders: String(list.length), items: String(list.reduce((sum, { count }) => sum + count, 0)) },
  });
  log(`${day}: ${list.length} orders`);
}

/** An admission webhook: a Deployment whose containers request no CPU is refused, because no autoscaler can scale it. */
export async function policy({ listen, untilStopped }) {
  listen(8443, async (request) => {
    const { apiVersion, kind, request: review } = await request.json();
    const { containers } = review.object.spec.template.spec;
    const bad = containers.find(({ resources }) => resources?.requests?.cpu === undefined);
    const response =
      bad === undefined
        ? { uid: review.uid, allowed: true }
        : { uid: review.uid, allowed: false, status: { message: `container ${bad.name} requests no CPU` } };
    return Response.json({ apiVersion, kind, response });
  });
  await untilStopped();
}
