/** Scenarios for a page with a journal: the contract of all journals, and a cluster that survives a reload. */
import { createCluster, StatusError } from 'orchplane';
import { indexedDbJournal } from 'orchplane/indexed-db';
import { ConfigMap } from 'orchplane/kinds';
import { journalCases } from '../../unit/storage/journal/contract.js';
import { equal, type Scenarios } from './check.js';

const cases = Object.entries(journalCases).map(([name, run], index): [string, () => Promise<void>] => [
  name,
  () =>
    run({
      open: (size) => indexedDbJournal(`case ${index}`, size === 'small' ? { compactAfter: 40 } : {}),
    }),
]);

let open: ReturnType<typeof createCluster> | undefined;

export const journalFirst: Scenarios = {
  ...Object.fromEntries(cases),

  'creates a cluster that is not closed': async () => {
    open = createCluster({ journal: await indexedDbJournal('kept') });
    const maps = open.api(ConfigMap);
    for (let i = 0; i < 30; i++) await maps.create({ metadata: { name: `m${i}` }, data: { n: String(i) } });
    await maps.delete('m7');
    sessionStorage.setItem('version', open.resourceVersion);
  },

  'does not write after another page has opened the journal, also without locks': async () => {
    Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true });
    const first = createCluster({ journal: await indexedDbJournal('twice') });
    await first.api(ConfigMap).create({ metadata: { name: 'a' } });
    const second = createCluster({ journal: await indexedDbJournal('twice') });
    await second.api(ConfigMap).create({ metadata: { name: 'b' } });
    const failure = await first
      .api(ConfigMap)
      .create({ metadata: { name: 'c' } })
      .catch((error: unknown) => error);
    equal(failure instanceof Error && failure.message.includes('another page has opened it'), true);
    await first.close();
    await second.close();
    const third = createCluster({ journal: await indexedDbJournal('twice') });
    const { items } = await third.api(ConfigMap).list();
    equal(
      items.map(({ metadata }) => metadata.name),
      ['a', 'b'],
    );
    await third.close();
    Reflect.deleteProperty(navigator, 'locks');
  },

  'rejects an empty name': async () => {
    const refused = await indexedDbJournal('').catch((error: unknown) => error);
    equal(refused instanceof TypeError, true);
  },
};

export const journalLater: Scenarios = {
  'restores the cluster after a reload': async () => {
    open = createCluster({ journal: await indexedDbJournal('kept') });
    equal(open.resourceVersion, sessionStorage.getItem('version'));
    const { items } = await open.api(ConfigMap).list();
    equal(items.length, 29);
    equal((await open.api(ConfigMap).get('m29')).data, { n: '29' });
    const gone = await open
      .api(ConfigMap)
      .get('m7')
      .catch((error: unknown) => error);
    equal(StatusError.is(gone, 'NotFound'), true);
    await open.close();
  },
};
