/** The listeners of a cluster that several processes serve. */
import { expect, test } from 'vitest';
import { ServerListeners } from '../../../src/server/listeners.js';

const OWN = { address: '10.0.0.1', port: 6443 };

test('are not known while no address of a server is, and none when all have closed', () => {
  const listeners = new ServerListeners();
  expect(listeners.withServers([])).toBeUndefined();
  listeners.add(OWN);
  expect(listeners.withServers([])).toBeUndefined();
  listeners.remove(OWN);
  expect(listeners.withServers([])).toEqual([]);
});

test('are those whose addresses are known, the own ones first, and the same list until it changes', () => {
  const listeners = new ServerListeners();
  listeners.add(OWN);
  expect(listeners.withServers(['10.0.0.2'])).toEqual([{ address: '10.0.0.2' }]);
  const servers = ['10.0.0.2', '10.0.0.1'];
  const joined = listeners.withServers(servers);
  expect(joined).toEqual([OWN, { address: '10.0.0.2' }]);
  expect(listeners.withServers(servers)).toBe(joined);
});
