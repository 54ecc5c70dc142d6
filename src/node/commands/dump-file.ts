/**
 * Writes objects to a file as a List, in JSON or YAML. `orchplane serve --apply`, `apply`, `restore`, and `parseCapture` of
 * orchplane/testing read it.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ApiObject } from '../../meta/object.js';
import { writeYaml } from '../../text/yaml/index.js';

export interface DumpFile extends AsyncDisposable {
  add(object: ApiObject): Promise<void>;
  /** Completes the file; `resourceVersion` is that of the cluster. Without this call, the file is removed. */
  complete(resourceVersion: string): Promise<void>;
}

/** Texts are written in parts of this size. */
const CHUNK = 1 << 20;

/** Creates a file that only its owner can read; under another name until it is complete. `.json` is JSON, others YAML. */
export async function createDumpFile(path: string): Promise<DumpFile> {
  // The name is new, so it is no link to another file, and no other process writes it.
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  const file = await open(draft, 'wx', 0o600);
  const format = path.endsWith('.json') ? JSON_FORMAT : YAML_FORMAT;
  let buffered: string = format.start;
  let isFirst = true;
  let isComplete = false;
  return {
    async add(object) {
      buffered += format.item(object, isFirst);
      isFirst = false;
      if (buffered.length < CHUNK) return;
      const text = buffered;
      buffered = '';
      await write(file, text);
    },
    async complete(resourceVersion) {
      await write(file, buffered + format.end(resourceVersion, isFirst));
      await file.close();
      await rename(draft, path);
      isComplete = true;
    },
    async [Symbol.asyncDispose]() {
      if (isComplete) return;
      await file.close();
      await rm(draft, { force: true });
    },
  };
}

async function write(file: FileHandle, text: string): Promise<void> {
  await file.writeFile(text);
}

interface DumpFormat {
  readonly start: string;
  item(object: ApiObject, isFirst: boolean): string;
  end(resourceVersion: string, isEmpty: boolean): string;
}

const JSON_FORMAT: DumpFormat = {
  start: '{"apiVersion":"v1","kind":"List","items":[',
  item: (object, isFirst) => `${isFirst ? '' : ','}\n${JSON.stringify(object)}`,
  end: (resourceVersion) => `\n],"metadata":${JSON.stringify({ resourceVersion })}}\n`,
};

const YAML_FORMAT: DumpFormat = {
  start: 'apiVersion: v1\nkind: List\nitems:',
  item: (object, isFirst) => (isFirst ? '\n' : '') + writeYaml([object], { quoteMergeKeys: true }),
  end: (resourceVersion, isEmpty) => `${isEmpty ? ' []\n' : ''}metadata:\n  resourceVersion: "${resourceVersion}"\n`,
};
