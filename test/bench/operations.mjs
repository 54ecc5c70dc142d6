/**
 * The verbs through the public client, one awaited call after another, compared with the same change of a Map.
 */
import { createCluster, jsonPatch, mergePatch } from '../../dist/index.js';
import { ConfigMap } from '../../dist/kinds/index.js';
import { APPS, bareMap, bareObject, configMapInput, configMapInputs, fill } from './fixtures.mjs';
import { compare, verify } from './measure.mjs';

const LISTED = 2_000;
const PAGE = 500;
const SELECTED = { app: 'app-3' };

export async function operations({ scale, ...settings }) {
  const writes = Math.ceil(20_000 * scale);
  const reads = Math.ceil(200_000 * scale);
  const lists = Math.ceil(500 * scale);
  const inputs = configMapInputs(writes);
  const listed = inputs.slice(0, LISTED);
  while (listed.length < LISTED) listed.push(configMapInput(listed.length));
  const full = await fill(createCluster().api(ConfigMap), listed);
  const map = bareMap(listed);
  const rows = [];
  const add = async (name, goal, contenders) => {
    rows.push({ name, unit: 'ops/s', goal, ...(await compare(contenders, settings)) });
  };

  await add('create', 60_000, create(inputs));
  await add('get', 800_000, get(full, map, { names: listed.map(nameOf), reads }));
  await add(`list ${LISTED}`, undefined, listAll(full, map, lists));
  await add(`list ${LISTED} by label (10 %)`, 5_000, listSelected(full, map, lists));
  await add(`list ${LISTED}, page of ${PAGE}`, undefined, listPage(full, map, lists));
  await add('update (PUT)', undefined, update(listed, writes));
  await add('JSON patch', undefined, patch(listed, writes, jsonReplace));
  await add('merge patch', 40_000, patch(listed, writes, mergeColour));
  await add('delete', undefined, remove(inputs));
  return rows;
}

function nameOf(input) {
  return input.metadata.name;
}

function keyOf(input) {
  return `default/${input.metadata.name}`;
}

async function filled(inputs) {
  const cluster = createCluster();
  return { cluster, api: await fill(cluster.api(ConfigMap), inputs), before: cluster.resourceVersion };
}

/** Checks that every write has its own resourceVersion. */
function verifyWrites({ cluster, before }, count) {
  verify(Number(cluster.resourceVersion) - Number(before) === count, `${count} writes make ${count} versions`);
}

function create(inputs) {
  const count = inputs.length;
  return {
    ours: {
      count,
      prepare: () => filled([]),
      async run({ api }) {
        for (const input of inputs) await api.create(input);
      },
      async check(state) {
        verifyWrites(state, count);
        verify((await state.api.list()).items.length === count, 'all created objects are listed');
      },
    },
    bare: {
      count,
      prepare: () => new Map(),
      run(map) {
        let revision = 0;
        for (const input of inputs) map.set(keyOf(input), bareObject(input, 'default', ++revision));
      },
      check: (map) => verify(map.size === count, 'the Map holds all objects'),
    },
  };
}

function get(api, map, { names, reads }) {
  const keys = names.map((name) => `default/${name}`);
  const right = (_state, found) => verify(found === reads, 'every get finds its object');
  return {
    ours: {
      count: reads,
      prepare: () => undefined,
      async run() {
        let found = 0;
        for (let i = 0; i < reads; i++) {
          const name = names[i % names.length];
          const object = await api.get(name);
          if (object.metadata.name === name) found++;
        }
        return found;
      },
      check: right,
    },
    bare: {
      count: reads,
      prepare: () => undefined,
      run() {
        let found = 0;
        for (let i = 0; i < reads; i++) {
          const at = i % names.length;
          if (map.get(keys[at])?.metadata.name === names[at]) found++;
        }
        return found;
      },
      check: right,
    },
  };
}

/** Lists repeatedly and counts all items. */
function lists({ count, expected, ours, bare }) {
  const right = (_state, items) => verify(items === count * expected, `every list has ${expected} items`);
  return {
    ours: {
      count,
      prepare: () => undefined,
      async run() {
        let items = 0;
        for (let i = 0; i < count; i++) items += (await ours()).items.length;
        return items;
      },
      check: right,
    },
    bare: {
      count,
      prepare: () => undefined,
      run() {
        let items = 0;
        for (let i = 0; i < count; i++) items += bare().length;
        return items;
      },
      check: right,
    },
  };
}

function listAll(api, map, count) {
  return lists({ count, expected: LISTED, ours: () => api.list(), bare: () => [...map.values()] });
}

function listSelected(api, map, count) {
  const bare = () => {
    const items = [];
    for (const object of map.values()) if (object.metadata.labels.app === SELECTED.app) items.push(object);
    return items;
  };
  return lists({ count, expected: LISTED / APPS, ours: () => api.list({ labels: SELECTED }), bare });
}

function listPage(api, map, count) {
  const bare = () => {
    const items = [];
    for (const object of map.values()) {
      if (items.length === PAGE) break;
      items.push(object);
    }
    return items;
  };
  const ours = async () => {
    const page = await api.list({ limit: PAGE });
    verify(page.metadata.remainingItemCount === LISTED - PAGE, 'a page says how much is left');
    return page;
  };
  return lists({ count, expected: PAGE, ours, bare });
}

function update(inputs, count) {
  return {
    ours: {
      count,
      async prepare() {
        const state = await filled(inputs);
        return { ...state, objects: [...(await state.api.list()).items] };
      },
      async run({ api, objects }) {
        for (let i = 0; i < count; i++) {
          const at = i % objects.length;
          const object = objects[at];
          objects[at] = await api.update({ ...object, data: { ...object.data, colour: `update-${i}` } });
        }
      },
      async check(state) {
        verifyWrites(state, count);
        verify(lastChange(state.objects, count) === `update-${count - 1}`, 'the last update is in its object');
      },
    },
    bare: {
      count,
      prepare: () => {
        const map = bareMap(inputs);
        return { map, objects: [...map.values()], keys: inputs.map(keyOf) };
      },
      run({ map, objects, keys }) {
        for (let i = 0; i < count; i++) {
          const at = i % objects.length;
          const object = objects[at];
          const sent = { ...object, data: { ...object.data, colour: `update-${i}` } };
          if (map.get(keys[at]).metadata.resourceVersion !== sent.metadata.resourceVersion) throw new Error('conflict');
          const stored = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(i) } };
          map.set(keys[at], stored);
          objects[at] = stored;
        }
      },
      check: ({ objects }) => verify(lastChange(objects, count) === `update-${count - 1}`, 'the Map was updated'),
    },
  };
}

function lastChange(objects, count) {
  return objects[(count - 1) % objects.length].data.colour;
}

function jsonReplace(value) {
  return jsonPatch([{ op: 'replace', path: '/data/colour', value }]);
}

function mergeColour(value) {
  return mergePatch({ data: { colour: value } });
}

/** `makePatch` returns a patch that sets one key of `data`. */
function patch(inputs, count, makePatch) {
  const names = inputs.map(nameOf);
  return {
    ours: {
      count,
      prepare: () => filled(inputs),
      async run({ api }) {
        for (let i = 0; i < count; i++) await api.patch(names[i % names.length], makePatch(`patch-${i}`));
      },
      async check(state) {
        verifyWrites(state, count);
        const last = await state.api.get(names[(count - 1) % names.length]);
        verify(last.data.colour === `patch-${count - 1}`, 'the last patch is in its object');
      },
    },
    bare: {
      count,
      prepare: () => ({ map: bareMap(inputs), keys: inputs.map(keyOf) }),
      run({ map, keys }) {
        for (let i = 0; i < count; i++) {
          const key = keys[i % keys.length];
          const live = map.get(key);
          const metadata = { ...live.metadata, resourceVersion: String(i) };
          map.set(key, { ...live, metadata, data: { ...live.data, colour: `patch-${i}` } });
        }
      },
      check({ map, keys }) {
        const last = map.get(keys[(count - 1) % keys.length]);
        verify(last.data.colour === `patch-${count - 1}`, 'the Map was patched');
      },
    },
  };
}

function remove(inputs) {
  const count = inputs.length;
  return {
    ours: {
      count,
      prepare: () => filled(inputs),
      async run({ api }) {
        for (const input of inputs) await api.delete(input.metadata.name);
      },
      async check(state) {
        verifyWrites(state, count);
        verify((await state.api.list()).items.length === 0, 'nothing is left');
      },
    },
    bare: {
      count,
      prepare: () => ({ map: bareMap(inputs), keys: inputs.map(keyOf) }),
      run({ map, keys }) {
        for (const key of keys) map.delete(key);
      },
      check: ({ map }) => verify(map.size === 0, 'the Map is empty'),
    },
  };
}
