/**
 * The fetch handler without a socket, compared with the cost of the platform's classes: a loop that creates the same
 * Request, reads a Map and creates a Response with JSON.stringify.
 */
import { createFetchHandler } from '../../dist/http/index.js';
import { createCluster } from '../../dist/index.js';
import { ConfigMap } from '../../dist/kinds/index.js';
import { bareMap, configMapInputs, fill } from './fixtures.mjs';
import { compare, verify } from './measure.mjs';

const LISTED = 2_000;
const COLLECTION = 'http://cluster.local/api/v1/namespaces/default/configmaps';

export async function http({ scale, ...settings }) {
  const inputs = configMapInputs(LISTED);
  const names = inputs.map((input) => input.metadata.name);
  const cluster = createCluster();
  await fill(cluster.api(ConfigMap), inputs);
  const handler = createFetchHandler(cluster);
  const map = bareMap(inputs);
  const bareHandler = async (request) => {
    const name = new URL(request.url).pathname.split('/')[6];
    const answer = name === undefined ? { items: [...map.values()] } : map.get(`default/${name}`);
    return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } });
  };
  await verifyAnswers(handler, names);
  await verifyAnswers(bareHandler, names);

  const one = (index) => `${COLLECTION}/${names[index % names.length]}`;
  const all = () => COLLECTION;
  const gets = Math.ceil(10_000 * scale);
  const listings = Math.ceil(40 * scale);
  const getting = {
    ours: asking(handler, { count: gets, url: one, least: 500 }),
    bare: asking(bareHandler, { count: gets, url: one, least: 500 }),
  };
  const listing = {
    ours: asking(handler, { count: listings, url: all, least: 500 * LISTED }),
    bare: asking(bareHandler, { count: listings, url: all, least: 500 * LISTED }),
  };
  return [
    { name: 'HTTP GET', unit: 'ops/s', ...(await compare(getting, settings)) },
    { name: `HTTP LIST ${LISTED}`, unit: 'ops/s', ...(await compare(listing, settings)) },
  ];
}

async function verifyAnswers(handler, names) {
  const list = await (await handler(new Request(COLLECTION))).json();
  verify(list.items.length === names.length, 'LIST answers with all objects');
  const object = await (await handler(new Request(`${COLLECTION}/${names[7]}`))).json();
  verify(object.metadata.name === names[7] && object.data.colour === 'colour-7', 'GET answers with the object');
}

/** Sends requests one after another and reads every body as text. `least` is the minimum length of a body. */
function asking(handler, { count, url, least }) {
  return {
    count,
    prepare: () => undefined,
    async run() {
      let right = 0;
      for (let i = 0; i < count; i++) {
        const response = await handler(new Request(url(i)));
        const text = await response.text();
        if (response.status === 200 && text.length >= least) right++;
      }
      return right;
    },
    check: (_state, right) => verify(right === count, 'every answer is a 200 with its whole body'),
  };
}
