/**
 * A process whose lock is taken over while it is stopped, and which then continues, damages nothing that the new holder
 * of the lock has written.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ApiObject } from '../../src/index.js';
import { FileJournal } from '../../src/node/journal/file-journal.js';
import { type JournalFile, type JournalFiles, nodeFiles } from '../../src/node/journal/files.js';
import type { FolderLock } from '../../src/node/journal/lock.js';
import type { Store } from '../../src/storage/store.js';
import type { ObjectKey } from '../../src/storage/types.js';
import { nextTurn } from '../../src/util/clock.js';
import { deepFreeze } from '../../src/util/json.js';
import { fingerprintOf, openStore } from '../unit/storage/journal/driver.js';

const root = mkdtempSync(join(tmpdir(), 'orchplane-takeover-'));
afterAll(() => rmSync(root, { recursive: true }));

/** The file system of Node, which calls a function before each operation that changes something. */
function filesThatCall(before: () => void): JournalFiles {
  const guard = <Words extends unknown[], Result>(run: (...words: Words) => Result) => {
    return (...words: Words): Result => {
      before();
      return run(...words);
    };
  };
  const fileOf = (file: JournalFile): JournalFile => ({
    ...file,
    write: guard(file.write),
    truncate: guard(file.truncate),
    syncNow: guard(file.syncNow),
  });
  return {
    ...nodeFiles,
    open: guard((path, how) => fileOf(nodeFiles.open(path, how))),
    rename: guard(nodeFiles.rename),
    remove: guard(nodeFiles.remove),
    syncFolder: guard(nodeFiles.syncFolder),
  };
}

function createMap(store: Store, name: string): void {
  const makeObject = (resourceVersion: string): ApiObject => {
    const metadata = { name, namespace: 'default', resourceVersion };
    const data = { text: 'x'.repeat(400) };
    return deepFreeze({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data }) as unknown as ApiObject;
  };
  store.commit({ type: 'create', key: keyOf(name), makeObject });
}

const keyOf = (name: string): ObjectKey => ({ storageKey: 'configmaps', namespace: 'default', name });

interface Stop {
  /** The number of the operation before which the first of two holders is stopped. */
  readonly at: number;
  readonly folder: string;
  readonly compactAfter: number;
}

/** Returns whether there was such an operation. */
async function run({ at, folder, compactAfter }: Stop): Promise<boolean> {
  let holder = 0;
  const open = (files: JournalFiles, after: number): Store => {
    const lock = (): FolderLock => {
      const own = ++holder;
      const requireHeld = (): void => {
        if (holder !== own) throw new Error('taken over');
      };
      return { isTakenOver: own > 1, requireHeld, release: () => undefined };
    };
    const options = { sync: 'each', compactAfter: after, reserve: 1_000, onWarning: () => undefined } as const;
    return openStore(new FileJournal(folder, options, { files, lock }));
  };
  let second: Store | undefined;
  let operations = 0;
  const files = filesThatCall(() => {
    if (++operations !== at) return;
    second = open(nodeFiles, compactAfter);
    createMap(second, 'second');
  });
  const acknowledged: string[] = [];
  let failure: unknown;
  try {
    const first = open(files, 1_500);
    for (let number = 0; number < 10; number++) {
      createMap(first, `first-${number}`);
      acknowledged.push(`first-${number}`);
      await nextTurn();
    }
  } catch (error) {
    failure = error;
  }
  if (second === undefined) {
    if (failure !== undefined) throw failure;
    return false;
  }
  for (let number = 0; number < 3; number++) {
    createMap(second, `second-${number}`);
    await nextTurn();
  }
  for (const name of acknowledged) expect(second.get(keyOf(name)), `${name}, stopped at ${at}`).toBeDefined();
  expect(fingerprintOf(open(nodeFiles, compactAfter)), `stopped at ${at}`).toBe(fingerprintOf(second));
  return true;
}

test.each([1_500, 1_000_000])(
  'a process that was stopped when its lock was taken over damages nothing when it continues (compactAfter: %i)',
  async (compactAfter) => {
    let at = 1;
    while (await run({ at, folder: join(root, `${compactAfter}-${at}`), compactAfter })) at++;
    expect(at).toBeGreaterThan(30);
  },
  60_000,
);
