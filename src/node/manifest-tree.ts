/**
 * Reads manifests from files and from folders with their subfolders. Folders of real repositories also contain files that
 * are no manifests: those are reported and not read.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Finding } from '../manifests/finding.js';
import { type ManifestDocument, ManifestError, type ManifestText, readDocuments } from '../manifests/read.js';
import { isRecord } from '../util/json.js';
import { isManifestFile } from './manifests.js';

/** The documents of files, and findings about what could not be read or was skipped. */
export interface ManifestTree {
  readonly documents: readonly ManifestDocument[];
  readonly findings: readonly Finding[];
  /** The number of files that were read. */
  readonly files: number;
}

/**
 * Reads files, folders and standard input (`-`), in the given order. Rejects for what does not exist. Of a folder it does
 * not read hidden files, `node_modules`, Helm charts except for their CRDs, kustomizations and files beside them that are no
 * resources of theirs, and documents without apiVersion and kind. Configuration of programs is never read.
 */
export async function readManifestTree(names: readonly string[], stdin: NodeJS.ReadableStream): Promise<ManifestTree> {
  const walk = new TreeWalk();
  for (const name of names) {
    if (name === '-') walk.add({ name: 'stdin', text: await text(stdin) }, { isNamed: true });
    else if ((await stat(name)).isDirectory()) await walk.folder(name);
    else walk.add({ name, text: await readFile(name, 'utf8') }, { isNamed: true });
  }
  return walk;
}

const KUSTOMIZATION = /^kustomization(\.ya?ml)?$/i;

class TreeWalk implements ManifestTree {
  readonly documents: ManifestDocument[] = [];
  readonly findings: Finding[] = [];
  files = 0;

  /** Reads a folder. `resources` are the files of the kustomization that it belongs to; absent: it belongs to none. */
  async folder(path: string, resources?: ReadonlySet<string>): Promise<void> {
    const entries = (await readdir(path, { withFileTypes: true }))
      .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    if (entries.some(({ name }) => name === 'Chart.yaml')) {
      this.#skip(join(path, 'Chart.yaml'), 'a Helm chart: check what "helm template" prints');
      if (entries.some(({ name }) => name === 'crds')) await this.folder(join(path, 'crds'));
      return;
    }
    const kustomization = entries.find(({ name }) => KUSTOMIZATION.test(name));
    const listed = kustomization === undefined ? resources : await this.#kustomization(join(path, kustomization.name));
    for (const entry of entries) {
      const file = join(path, entry.name);
      if (entry.isDirectory()) await this.folder(file, listed);
      else if (entry === kustomization || !isManifestFile(entry.name)) continue;
      else if (listed?.has(file) === false) this.#skip(file, 'not a resource of its kustomization');
      else {
        const text = await this.#read(file);
        if (text !== undefined) this.add({ name: file, text }, { isNamed: false });
      }
    }
  }

  /** The text of a file of a folder; undefined: a device or a pipe, which a link may lead to, and whose reading may never end. */
  async #read(file: string): Promise<string | undefined> {
    if ((await stat(file)).isFile()) return readFile(file, 'utf8');
    this.#skip(file, 'not a regular file');
    return undefined;
  }

  add(source: ManifestText, { isNamed }: { readonly isNamed: boolean }): void {
    this.files++;
    const skipped = { configuration: 0, other: 0 };
    for (const read of readDocuments(source)) {
      if (read instanceof ManifestError) this.unreadable(read, source.text);
      else if (isConfiguration(read.value)) skipped.configuration++;
      else if (isNamed || looksLikeManifest(read.value)) this.documents.push(read);
      else skipped.other++;
    }
    if (skipped.configuration > 0)
      this.#skip(source.name, 'configuration of a program, which no API serves', skipped.configuration);
    if (skipped.other > 0) this.#skip(source.name, 'has no apiVersion and kind', skipped.other);
  }

  unreadable({ place, message }: ManifestError, source = ''): void {
    const isTemplate = source.includes('{{') ? '; it looks like a template, which must be rendered first' : '';
    this.findings.push({
      level: 'error',
      rule: 'unreadable',
      message: `${withoutPlace(message)}${isTemplate}`,
      ...(place.file === undefined ? {} : { file: place.file }),
      line: place.line,
    });
  }

  /** The paths of its resources. Other files are patches, generators and the like, which are incomplete objects. */
  async #kustomization(file: string): Promise<ReadonlySet<string>> {
    const text = await this.#read(file);
    if (text === undefined) return new Set();
    this.#skip(file, `for kustomize: check what "kubectl kustomize ${dirname(file)}" prints`);
    const [read] = readDocuments({ name: file, text });
    if (read === undefined || read instanceof ManifestError || !isRecord(read.value)) return new Set();
    const { resources, crds } = read.value;
    const given = [resources, crds].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
    return new Set(given.flatMap((path) => (typeof path === 'string' ? [join(dirname(file), path)] : [])));
  }

  #skip(file: string, why: string, documents?: number): void {
    const what = documents === undefined || documents === 1 ? '' : `${documents} documents, `;
    this.findings.push({ level: 'note', rule: 'skipped', file, line: 1, message: `not checked: ${what}${why}` });
  }
}

function looksLikeManifest(value: unknown): boolean {
  return isRecord(value) && ('apiVersion' in value || 'kind' in value);
}

/** The groups of files that servers, clients and installers read: an audit Policy, a KubeletConfiguration, a ClusterConfiguration. */
const CONFIGURATION_GROUP =
  /^(?:(?:audit|apiserver|(?:output\.)?kubeadm|client\.authentication|credentialprovider\.kubelet|(?:[a-z-]+\.)*(?:config|admission))\.|kind\.x-)(?:k8s|orch)\.io\//;

/** Whether a document has the form of an API object, but is a kubeconfig or another file of configuration. */
function isConfiguration(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== 'string') return false;
  return (apiVersion === 'v1' && kind === 'Config') || CONFIGURATION_GROUP.test(apiVersion);
}

/** The message of an error without the place at its beginning, which the finding has. */
export function withoutPlace(message: string): string {
  return message.replace(/^.*?\(document \d+(?:, item \d+)?\): /s, '');
}
