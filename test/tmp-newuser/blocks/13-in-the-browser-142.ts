import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { createResponder } from 'orchplane/service-worker';

// In a page or worker, the origin is its own.
const respond = createResponder(createCluster(), { base: '/cluster/', origin: 'https://page.example' });
const ask = (request: Request) => respond(request) ?? fetch(request);

const answer = await ask(new Request('https://page.example/cluster/healthz'));
assert.equal(await answer.text(), 'ok');
assert.equal(respond(new Request('https://page.example/style.css')), undefined); // not for the cluster
export {};
