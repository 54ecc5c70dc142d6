/**
 * Writes with a file journal, compared with appending as many texts to a file, and the time to restore a cluster,
 * compared with parsing its journal.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createCluster } from '../../dist/index.js';
import { ConfigMap } from '../../dist/kinds/index.js';
import { fileJournal } from '../../dist/node/index.js';
import { bareObject, configMapInputs, fill } from './fixtures.mjs';
import { compare, verify } from './measure.mjs';

const REOPENED = 10_000;
/** The number of concurrent requests. */
const TOGETHER = 64;

export async function journals({ scale, ...settings }) {
  const root = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'orchplane-bench-'));
  try {
    const place = { root, next: 0 };
    const inputs = configMapInputs(Math.ceil(10_000 * scale));
    const few = inputs.slice(0, Math.ceil(2_000 * scale));
    return [
      { name: 'create, sync: never', unit: 'ops/s', ...(await compare(unsynced(place, inputs), settings)) },
      {
        name: `create, sync: group, ${TOGETHER} at a time`,
        unit: 'ops/s',
        ...(await compare(synced(place, few), settings)),
      },
      {
        name: `reopen ${REOPENED.toLocaleString('en')} objects, each`,
        unit: 'ops/s',
        ...(await compare(await reopening(place), settings)),
      },
    ];
  } finally {
    rmSync(root, { recursive: true });
  }
}

function newFolder(place) {
  return join(place.root, String(++place.next));
}

function textsOf(inputs) {
  return inputs.map((input, index) => JSON.stringify(bareObject(input, 'default', index)));
}

function openJournaled(place, options) {
  const folder = newFolder(place);
  const cluster = createCluster({ journal: fileJournal(folder, options) });
  return { folder, cluster, api: cluster.api(ConfigMap) };
}

async function checkCreated({ cluster, api, folder }, count) {
  verify((await api.list()).items.length === count, 'all objects are there');
  await cluster.close();
  verify(statSync(folder).isDirectory(), 'there is a folder');
}

function unsynced(place, inputs) {
  const texts = textsOf(inputs);
  return {
    ours: {
      count: inputs.length,
      prepare: () => openJournaled(place, { sync: 'never' }),
      async run({ api }) {
        for (const input of inputs) await api.create(input);
      },
      check: (state) => checkCreated(state, inputs.length),
    },
    bare: appending(place, texts, texts.length),
  };
}

function synced(place, inputs) {
  return {
    ours: {
      count: inputs.length,
      prepare: () => openJournaled(place, { sync: 'group' }),
      async run({ api }) {
        for (let i = 0; i < inputs.length; i += TOGETHER) {
          await Promise.all(inputs.slice(i, i + TOGETHER).map((input) => api.create(input)));
        }
      },
      check: (state) => checkCreated(state, inputs.length),
    },
    bare: appending(place, textsOf(inputs), TOGETHER),
  };
}

/** Appends texts, with a sync after each group. */
function appending(place, texts, every) {
  return {
    count: texts.length,
    prepare: () => openSync(newFolder(place), 'w'),
    run(file) {
      texts.forEach((text, index) => {
        writeSync(file, text);
        if ((index + 1) % every === 0) fdatasyncSync(file);
      });
    },
    check: closeSync,
  };
}

async function reopening(place) {
  const inputs = configMapInputs(REOPENED);
  const { cluster, api, folder } = openJournaled(place, { sync: 'never' });
  await fill(api, inputs);
  await cluster.close();
  const texts = textsOf(inputs);
  return {
    ours: {
      count: REOPENED,
      prepare: () => undefined,
      run: () => createCluster({ journal: fileJournal(folder) }),
      async check(_state, opened) {
        verify((await opened.api(ConfigMap).list()).items.length === REOPENED, 'everything is there again');
        await opened.close();
      },
    },
    bare: {
      count: REOPENED,
      prepare: () => undefined,
      run: () => texts.map((text) => JSON.parse(text)).length,
      check: (_state, count) => verify(count === REOPENED, 'every text is parsed'),
    },
  };
}
