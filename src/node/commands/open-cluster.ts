/**
 * The options of commands that work on a cluster, and the connection to it: a running cluster through its API, or a saved
 * one that this process opens.
 */
import type { Agent } from 'node:http';
import { type ApiResource, discoverResources } from '../../http/transport/discovery.js';
import { httpTransport } from '../../http/transport/http-transport.js';
import { type DialectName, dialectNamed, dialects, serviceGroup } from '../../meta/dialect.js';
import type { Transport } from '../../protocol/transport.js';
import { recoverFrom, translateError } from '../../util/catch-error.js';
import { isRecord } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { readText } from '../../util/read-text.js';
import { kubeconfigBackend } from '../kubeconfig-transport.js';
import {
  type CommandEnvironment,
  type CommandOptions,
  type CommandValues,
  refuseBeside,
  UsageError,
} from './command.js';
import { errorLine } from './manifest-input.js';

/** The options for a running cluster. */
export const KUBECONFIG_OPTIONS = {
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    variable: 'KUBECONFIG',
    help: 'the kubeconfig of a running cluster; default: $KUBECONFIG',
  },
  context: { type: 'string', value: 'NAME', help: 'the context of the kubeconfig; default: its current context' },
  token: { type: 'string', value: 'TOKEN', help: 'a bearer token, in the place of the credentials in the kubeconfig' },
  dialect: {
    type: 'string',
    choices: ['kubernetes', 'orch'],
    help: 'the dialect of the running cluster; default: kubernetes',
  },
} as const satisfies CommandOptions;

/** The options for a running or a saved cluster. */
export const CLUSTER_OPTIONS = {
  ...KUBECONFIG_OPTIONS,
  data: { type: 'string', value: 'DIR', help: 'the folder of a cluster that is not being served' },
} as const satisfies CommandOptions;

/** Rejects the options for a running cluster beside another option. */
export function refuseRunning(option: string, values: CommandValues<typeof KUBECONFIG_OPTIONS>): void {
  refuseBeside(option, values, ['kubeconfig', 'context', 'token', 'dialect']);
}

/** A cluster to send requests to. */
export interface OpenCluster extends AsyncDisposable {
  /** The address of the server. */
  readonly server: string;
  readonly transport: Transport;
  /** The same, but objects and lists are returned as Tables, which contain the columns for people. */
  readonly tables: Transport;
  /** The namespace of requests that name none. */
  readonly namespace: string;
  /** The folder of a saved cluster. No controllers run in it. */
  readonly folder?: string;
  /** Group versions whose resources could not be discovered. */
  readonly skipped: ReadonlySet<string>;
  /** The resources of the server, read anew. */
  discover(): Promise<readonly ApiResource[]>;
}

/** What a connection consists of. */
export interface ClusterConnection extends AsyncDisposable {
  readonly url: string;
  readonly token?: string | (() => string | Promise<string>) | undefined;
  readonly namespace: string;
  readonly dialect: DialectName;
  readonly folder?: string;
  fetch(request: Request): Promise<Response>;
}

/** The connection to the server of a kubeconfig. */
export interface KubeconfigConnection extends ClusterConnection {
  readonly agent: Agent;
}

/** Opens the cluster that the options name; `retries` as for {@link httpTransport}. Throws UsageError. */
export async function openCluster(
  values: CommandValues<typeof CLUSTER_OPTIONS>,
  environment: CommandEnvironment,
  retries?: number,
): Promise<OpenCluster> {
  if (values.data === undefined) return connectTo(kubeconfigConnection(values, environment), environment, retries);
  refuseRunning('--data', values);
  // A cluster in this process is most of the library.
  const { openSavedCluster } = await import('./saved-cluster.js');
  return connectTo(await openSavedCluster(values.data), environment);
}

/** The connection to the server of a kubeconfig. Throws UsageError. */
export function kubeconfigConnection(
  { kubeconfig, context, token, dialect = 'kubernetes' }: CommandValues<typeof KUBECONFIG_OPTIONS>,
  { variables }: CommandEnvironment,
): KubeconfigConnection {
  const file = kubeconfig ?? variables['KUBECONFIG'] ?? '';
  if (file === '') {
    throw new UsageError('no cluster is named; use --kubeconfig FILE, set KUBECONFIG, or use --data DIR');
  }
  if (kubeconfig === undefined && file.includes(process.platform === 'win32' ? ';' : ':')) {
    throw new UsageError('KUBECONFIG names several files, which are not merged here; use --kubeconfig FILE');
  }
  const backend = openBackend(file, { context, token });
  return {
    ...backend,
    dialect,
    async [Symbol.asyncDispose]() {
      backend.agent.destroy();
    },
  };
}

function openBackend(file: string, options: { context: string | undefined; token: string | undefined }) {
  try {
    return kubeconfigBackend(file, options);
  } catch (error) {
    if (error instanceof Error && 'code' in error) {
      throw new UsageError(`--kubeconfig ${file}: ${error.code === 'ENOENT' ? 'no such file' : error.message}`);
    }
    // The command line has other names for the options.
    const message = messageOf(error)
      .replace('the option token says who asks instead', 'use --token')
      .replace('the option context says which', '--context names one');
    throw new UsageError(message);
  }
}

function connectTo(connection: ClusterConnection, { writeError }: CommandEnvironment, retries?: number): OpenCluster {
  const { url: baseUrl, token, dialect: name, namespace, folder } = connection;
  const dialect = dialectNamed(name);
  const fetch = (request: Request): Promise<Response> => connection.fetch(request);
  const options = { baseUrl, token, dialect: name, retries } as const;
  const skipped = new Set<string>();
  const onSkipped = (groupVersion: string, why: string): void => {
    if (!skipped.has(groupVersion)) writeError(errorLine(`the resources of ${groupVersion} are left out: ${why}`));
    skipped.add(groupVersion);
  };
  return {
    server: baseUrl,
    transport: httpTransport({ ...options, fetch }),
    tables: httpTransport({
      ...options,
      fetch(request) {
        const group = dialect.group(serviceGroup('meta'));
        request.headers.set('accept', `application/json;as=Table;v=v1;g=${group},application/json`);
        return fetch(request);
      },
    }),
    namespace,
    ...(folder === undefined ? {} : { folder }),
    skipped,
    async discover() {
      const read = (path: string, accept: string) => readDocument(connection, path, accept);
      const resources = await discoverResources(read, dialect, onSkipped);
      const other = dialects.find((each) => each !== dialect);
      const hasRoles = (group: string | undefined) => resources.some(({ gvk }) => gvk.group === group);
      const roles = serviceGroup('rbac.authorization');
      if (!hasRoles(dialect.group(roles)) && hasRoles(other?.group(roles)))
        throw new UsageError(`the cluster has the dialect ${other?.name}; add --dialect ${other?.name}`);
      return resources;
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Discovery of a cluster with thousands of CRDs takes some megabytes. */
const MAX_DOCUMENT = 64 * 1024 * 1024;

/** Reads a document that is not an object of the API. */
async function readDocument(connection: ClusterConnection, path: string, accept: string): Promise<unknown> {
  const { url, token } = connection;
  const bearer = typeof token === 'function' ? await token() : token;
  const headers = { accept, ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }) };
  const address = addressIn(url, path);
  const response = await connection.fetch(new Request(address, { headers })).catch((error: unknown) => {
    throw unreachable(address, error);
  });
  const text = await readText(response, MAX_DOCUMENT);
  if (text === undefined) throw new Error(`${address} answers with more than ${MAX_DOCUMENT} bytes`);
  if (response.ok) return parseAnswer(address, text);
  const status: unknown = recoverFrom(
    SyntaxError,
    () => JSON.parse(text),
    () => undefined,
  );
  const why = isRecord(status) && typeof status['message'] === 'string' ? `: ${status['message']}` : '';
  throw new Error(`${address} answers with status ${response.status}${why}`);
}

/** A server does not answer. */
export function unreachable(address: string, cause: unknown): Error {
  return new Error(`${address} cannot be reached: ${messageOf(cause)}`, { cause });
}

function parseAnswer(address: string, text: string): unknown {
  return translateError(
    SyntaxError,
    () => JSON.parse(text),
    (cause) => new Error(`${address} is not an API server: it answers with "${text.slice(0, 60)}"`, { cause }),
  );
}

/** The address of a path; the URL of a server may end with a slash. */
export function addressIn(url: string, path: string): string {
  return (url.endsWith('/') ? url.slice(0, -1) : url) + path;
}
