import { createClient } from 'orchplane';
import { httpTransport } from 'orchplane/http';
import { Pod } from 'orchplane/kinds';
import { readFile } from 'node:fs/promises';

const transport = httpTransport({
  baseUrl: 'https://cluster.example:6443/prefix', // what stands before /api and /apis
  dialect: 'kubernetes', // the names the other end speaks; orch unless said otherwise
  token: () => readFile('token', 'utf8').then((text) => text.trim()), // or a string; asked before each request
  headers: { 'x-team': 'a' },
  userAgent: 'my-tool/1.0', // names the manager of fields whose writer names none
  retries: 10,
});
const { items } = await createClient({ transport }).all(Pod).list({ labels: { app: 'web' } });
console.log(items.length);
export {};
