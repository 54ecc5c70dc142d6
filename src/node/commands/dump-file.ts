/**
 * Writes objects to a file as a List, in JSON or YAML. `orchplane serve --apply`, `apply`, `restore`, and `parseCapture` of
 * orchplane/testing read it.
 */
import { type Append, PRIVATE, replaceFile } from '../../etcd/replaceable-file.js';
import type { ApiObject } from '../../meta/object.js';
import { writeYaml } from '../../text/yaml/index.js';
import { escapeForYaml } from '../../util/json.js';
import type { CommandEnvironment } from './command.js';

/** Texts are written in parts of this size. */
const CHUNK = 1 << 20;

/**
 * Writes a file that only its owner can read: `.json` is JSON, others YAML; `-` is standard output. `produce` passes each object to `add` and returns
 * the resourceVersion of the cluster. If it rejects, there is no new file.
 */
export async function writeDumpFile(
  path: string,
  { writeOut }: Pick<CommandEnvironment, 'writeOut'>,
  produce: (add: (object: ApiObject) => Promise<void>) => Promise<string>,
): Promise<void> {
  const format = path.endsWith('.json') ? JSON_FORMAT : YAML_FORMAT;
  const print: Append = async (part) => writeOut(String(part));
  const write = async (append: Append): Promise<void> => {
    let buffered: string = format.start;
    let isFirst = true;
    const resourceVersion = await produce(async (object) => {
      buffered += format.item(object, isFirst);
      isFirst = false;
      if (buffered.length < CHUNK) return;
      const text = buffered;
      buffered = '';
      await append(text);
    });
    await append(buffered + format.end(resourceVersion, isFirst));
  };
  await (path === '-' ? write(print) : replaceFile(path, PRIVATE, write));
}

interface DumpFormat {
  readonly start: string;
  item(object: ApiObject, isFirst: boolean): string;
  end(resourceVersion: string, isEmpty: boolean): string;
}

const JSON_FORMAT: DumpFormat = {
  start: '{"apiVersion":"v1","kind":"List","items":[',
  item: (object, isFirst) => `${isFirst ? '' : ','}\n${escapeForYaml(JSON.stringify(object))}`,
  end: (resourceVersion) => `\n],"metadata":${JSON.stringify({ resourceVersion })}}\n`,
};

const YAML_FORMAT: DumpFormat = {
  start: 'apiVersion: v1\nkind: List\nitems:',
  item: (object, isFirst) =>
    (isFirst ? '\n' : '') + writeYaml([object], { quoteMergeKeys: true, escapeInvisible: true }),
  end: (resourceVersion, isEmpty) =>
    `${isEmpty ? ' []\n' : ''}metadata:\n  resourceVersion: ${JSON.stringify(resourceVersion)}\n`,
};
