/**
 * The command `orchplane generate types`: writes zod kinds for CRDs, or compares the kinds of a module with CRDs.
 */
import { watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { createCluster } from '../../cluster/full-cluster.js';
import type { CrdManifest } from '../../crd/compare.js';
import { regularFile, replaceFile } from '../../etcd/replaceable-file.js';
import { isCrd } from '../../manifests/apply.js';
import { findingText } from '../../manifests/finding.js';
import { type Manifest, ManifestError, manifestsOf } from '../../manifests/read.js';
import { conversionsFor, validateManifests } from '../../manifests/validate.js';
import { dialects, serviceGroup } from '../../meta/dialect.js';
import { systemClock, type Undo } from '../../util/clock.js';
import { messageOf } from '../../util/message-of.js';
import { loadKinds } from '../load-kinds.js';
import { type CommandEnvironment, defineCommand, UsageError } from './command.js';
import { readTree } from './findings.js';
import { errorLine } from './manifest-input.js';
import { counted } from './output.js';

export const command = defineCommand({
  usage: ['generate types FILE… -o MODULE [options]', 'generate types FILE… -o MODULE --check'],
  summary:
    'Writes a TypeScript module with a zod kind for each version of the CRDs in files and folders. With --check it compares the kinds that a module exports with the CRDs: it prints the differences, writes nothing, and the exit code is 1 if there are some.',
  words: ['types'],
  options: {
    output: {
      type: 'string',
      short: 'o',
      value: 'MODULE',
      writes: 'text',
      help: 'the module; default: standard output',
    },
    versions: {
      type: 'string',
      choices: ['all', 'served', 'storage'],
      help: 'the versions of each CRD; default: all',
    },
    check: { type: 'boolean', help: 'compare the kinds of the module, .ts or .js, with the CRDs' },
    watch: { type: 'boolean', help: 'write the module again when a file changes, until Ctrl-C' },
  },
  async run({ values, positionals: [what, ...files] }, environment) {
    const { output, versions = 'all', check = false, watch: watches = false } = values;
    if (what !== 'types') throw new UsageError('generate takes "types": orchplane generate types crds/ -o types.ts');
    if (output === '') throw new UsageError('-o takes the file of a module');
    if (files.length === 0) throw new UsageError('files or folders with CRDs are missing');
    if (check && watches) throw new UsageError('--check and --watch contradict each other');
    if ((check || watches) && (output ?? '-') === '-')
      throw new UsageError('the option -o is missing, which names a module');
    const settings = { files, output: output ?? '-', versions };
    if (check) return checkModule(settings, environment);
    if (!watches) return writeTypes(settings, environment);
    return watchTypes(settings, environment);
  },
});

interface GenerateSettings {
  readonly files: readonly string[];
  /** `-` is standard output. */
  readonly output: string;
  readonly versions: 'all' | 'served' | 'storage';
}

async function writeTypes({ files, output, versions }: GenerateSettings, environment: CommandEnvironment): Promise<0> {
  const crds = await readCrds(files, environment);
  const { generateTypes } = await loadGenerator();
  const module = generateTypes(crds, versions);
  if (output === '-') {
    environment.writeOut(module);
    return 0;
  }
  const isNew = await replaceModule(output, module);
  environment.writeError(`${output}: ${counted(crds.length, 'CRD')}${isNew ? '' : ', unchanged'}\n`);
  return 0;
}

async function checkModule(settings: GenerateSettings, environment: CommandEnvironment): Promise<0 | 1> {
  const crds = await readCrds(settings.files, environment);
  const { moduleDifferences } = await loadGenerator();
  const kinds = await loadKinds(settings.output).catch((error: unknown) => {
    throw new UsageError(`${settings.output}: ${messageOf(error)}`);
  });
  const differences = moduleDifferences(crds, kinds, settings.versions);
  for (const difference of differences) environment.writeOut(`${settings.output}: ${difference}\n`);
  environment.writeError(`${counted(crds.length, 'CRD')}: ${counted(differences.length, 'difference')}\n`);
  return differences.length === 0 ? 0 : 1;
}

/** The generator needs zod, which programs without kinds of their own do not install. */
async function loadGenerator() {
  try {
    return await import('../../zod/module-differences.js');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new UsageError('generate types needs the package zod: npm install zod');
  }
}

/** The CRDs of files. Rejects with UsageError if one cannot be read or a server would reject it. */
async function readCrds(files: readonly string[], environment: CommandEnvironment): Promise<CrdManifest[]> {
  const { documents, findings } = await readTree('generate types', files, environment);
  for (const finding of findings) if (finding.level === 'note') environment.writeError(findingText(finding));
  const problems = findings.filter(({ level }) => level === 'error').map((finding) => findingText(finding).trim());
  const read = documents.flatMap(manifestsOf);
  problems.push(...read.filter((each) => each instanceof ManifestError).map(({ message }) => message));
  const manifests = read.filter((each): each is Manifest => !(each instanceof ManifestError) && isCrd(each));
  const [dialect = 'kubernetes', other] = new Set(manifests.map(dialectOf));
  if (other !== undefined) problems.push('the CRDs are of two dialects; generate a module for each');
  if (problems.length === 0 && manifests.length > 0) problems.push(...(await rejections(manifests, dialect)));
  const last = problems.pop();
  for (const problem of problems) environment.writeError(errorLine(problem));
  if (last !== undefined) throw new UsageError(last);
  if (manifests.length === 0) throw new UsageError(`${files.join(', ')} contains no CustomResourceDefinition`);
  const others = read.length - manifests.length;
  if (others > 0) environment.writeError(`${counted(others, 'other object')} ignored\n`);
  return manifests.map(({ body }) => withoutNulls(body.read().value as CrdManifest));
}

/** For a server, a field with the value null is absent. Schemas stay as they are: they may contain null as a value. */
function withoutNulls(crd: CrdManifest): CrdManifest {
  const spec = present(crd.spec);
  return {
    ...crd,
    metadata: present(crd.metadata),
    spec: {
      ...spec,
      names: present(spec.names),
      versions: spec.versions.map((version) => {
        const { subresources, ...others } = present(version);
        return subresources === undefined ? others : { ...others, subresources: present(subresources) };
      }),
    },
  };
}

function present<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Fields;
}

function dialectOf({ apiVersion }: Manifest): 'kubernetes' | 'orch' {
  const group = serviceGroup('apiextensions');
  return dialects.find((dialect) => apiVersion.startsWith(`${dialect.group(group)}/`))?.name ?? 'kubernetes';
}

async function rejections(manifests: readonly Manifest[], dialect: 'kubernetes' | 'orch'): Promise<string[]> {
  await using cluster = createCluster({ dialect, conversions: conversionsFor(manifests) });
  const found = await validateManifests(cluster, manifests);
  return found.filter(({ level }) => level === 'error').map((finding) => findingText(finding).trim());
}

const GENERATED = '// Generated by "orchplane generate types".';

/** Replaces a generated file as a whole, and only if its text changes. Returns whether it did. */
async function replaceModule(file: string, module: string): Promise<boolean> {
  const existing = (await regularFile(file)) === undefined ? undefined : await readFile(file, 'utf8');
  if (existing === module) return false;
  if (existing !== undefined && existing !== '' && !existing.startsWith(GENERATED)) {
    throw new UsageError(`-o ${file} exists and was not generated; remove it first`);
  }
  await replaceFile(file, undefined, (append) => append(module));
  return true;
}

/** Editors write a file in several steps. */
const DEBOUNCE_MS = 100;

async function watchTypes(settings: GenerateSettings, environment: CommandEnvironment): Promise<0> {
  await writeTypes(settings, environment);
  let last: Promise<unknown> = Promise.resolve();
  let cancel: Undo = () => undefined;
  const again = () => {
    last = last.then(() =>
      writeTypes(settings, environment).catch((error: unknown) => environment.writeError(errorLine(messageOf(error)))),
    );
  };
  const onChange = (folder: string, name: string | null) => {
    // The module may be in a watched folder.
    if (name !== null && isOwnFile(resolve(folder, name), resolve(settings.output))) return;
    cancel();
    cancel = systemClock.after(DEBOUNCE_MS, again);
  };
  const watchers = await Promise.all(settings.files.map((file) => watchFile(file, onChange)));
  environment.writeError('watching for changes; Ctrl-C ends it\n');
  await environment.untilStopped();
  cancel();
  for (const watcher of watchers) watcher.close();
  await last;
  return 0;
}

function isOwnFile(changed: string, output: string): boolean {
  return changed === output || basename(changed).startsWith(`.${basename(output)}.`);
}

/** A file is watched through its folder: an editor replaces it by a new one. */
async function watchFile(file: string, onChange: (folder: string, name: string | null) => void) {
  const isFolder = (await stat(file)).isDirectory();
  const folder = isFolder ? file : dirname(file);
  return watch(folder, { recursive: isFolder }, (_event, name) => {
    if (isFolder || name === null || name === basename(file)) onChange(folder, name);
  });
}
