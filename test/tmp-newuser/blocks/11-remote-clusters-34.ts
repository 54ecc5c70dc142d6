import assert from 'node:assert/strict';
import { createClient, createCluster, StatusError } from 'orchplane';
import { httpTransport } from 'orchplane/http';
import { Lease } from 'orchplane/kinds';
import { serve } from 'orchplane/node';

const server = await serve(createCluster({ dialect: 'kubernetes' }));
const transport = httpTransport({ baseUrl: server.url, token: server.token, dialect: server.dialect });
assert.deepEqual((await createClient({ transport }).api(Lease).list()).items, []);

// Kinds of the core group and of apps have one name in both, so a wrong dialect shows late: as a NotFound with a hint.
const wrong = createClient({ transport: httpTransport({ baseUrl: server.url, token: server.token }) });
const error = await wrong.api(Lease).list().catch((error: unknown) => error);
assert(StatusError.is(error, 'NotFound'));
assert.match(error.message, /the other end may speak another dialect than "orch": try dialect: "kubernetes"$/);
await server.close();
export {};
