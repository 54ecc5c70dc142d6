/**
 * The controllers of service accounts: one creates the accounts of every active namespace (`default`, unless other names are
 * given), the other fills Secrets of the service-account-token type. Such a Secret is deleted with its account, and deleting the
 * Secret invalidates the token.
 */

import { Namespace } from '../kinds/core/v1/namespace.js';
import { Secret } from '../kinds/core/v1/secret.js';
import { ServiceAccount } from '../kinds/core/v1/service-account.js';
import type { ObjectOf } from '../kinds/kind.js';
import type { Dialect } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { encodeBase64Text } from '../util/base64.js';
import { refuseUnknownOptions } from '../util/options.js';
import { PLACEHOLDER_CERTIFICATE } from './root-certificates.js';
import { type BoundTokenRequest, requestBoundToken } from './runtime/bound-token.js';
import type { Controller, ControllerContext } from './runtime/controller.js';
import { ignoreNotFound, ignoring, isNamespaceTerminating } from './runtime/expected-errors.js';
import { keyOf } from './runtime/shared-informer.js';

export interface ServiceAccountsOptions {
  /** The service accounts of each namespace; `['default']` unless given. */
  readonly names?: readonly string[] | undefined;
}

const OPTIONS = ['names'] as const satisfies readonly (keyof ServiceAccountsOptions)[];

/**
 * Creates the service accounts of every namespace, and recreates those that are deleted.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([serviceAccounts({ names: ['default', 'builder'] })]) });
 */
export function serviceAccounts(options: ServiceAccountsOptions = {}): Controller {
  refuseUnknownOptions('serviceAccounts', options, OPTIONS);
  const { names = ['default'] } = options;
  return {
    name: 'serviceaccount-controller',
    account: 'service-account-controller',
    needs: [Namespace, ServiceAccount],
    start(context) {
      const namespaces = context.informer(Namespace);
      const accounts = context.informer(ServiceAccount);

      const queue = context.queue(async (key) => {
        const namespace = namespaces.at(key);
        if (namespace?.status.phase !== 'Active') return;
        for (const name of names) {
          if (accounts.get(name, key) !== undefined) continue;
          try {
            await context.client.api(ServiceAccount, key).create({ metadata: { name, namespace: key } });
          } catch (error) {
            if (!isExpected(error)) throw error;
          }
        }
      });

      namespaces.onKey((key) => queue.add(key));
      accounts.subscribe(({ type, object }) => {
        if (type === 'DELETED') queue.add(object.metadata.namespace ?? '');
      });
    },
  };
}

/** The account exists already, or the namespace is being deleted or is gone. */
function isExpected(error: unknown): boolean {
  return StatusError.is(error, 'AlreadyExists') || StatusError.is(error, 'NotFound') || isNamespaceTerminating(error);
}

export interface ServiceAccountTokensOptions {
  /** The CA bundle stored with the token, as PEM text. Absent: the placeholder of `rootCertificates()`. */
  readonly certificate?: string | undefined;
}

const TOKENS_OPTIONS = ['certificate'] as const satisfies readonly (keyof ServiceAccountTokensOptions)[];

/** The maximum lifetime (136 years): the token is valid as long as its Secret exists. */
const TOKEN_SECONDS = 2 ** 32;

type TokenSecret = ObjectOf<typeof Secret>;

type Account = ObjectOf<typeof ServiceAccount>;

/**
 * Fills in the tokens of service-account-token Secrets, and deletes those whose account is gone.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([serviceAccounts(), serviceAccountTokens()]) });
 */
export function serviceAccountTokens(options: ServiceAccountTokensOptions = {}): Controller {
  refuseUnknownOptions('serviceAccountTokens', options, TOKENS_OPTIONS);
  const certificate = encodeBase64Text(options.certificate ?? PLACEHOLDER_CERTIFICATE);
  return {
    name: 'serviceaccount-token-controller',
    // No account: it acts as the user that runs the controllers, because it issues tokens.
    needs: [Secret, ServiceAccount],
    start(context) {
      const { dialect } = context;
      const type = dialect.key('service-account-token');
      const accounts = context.informer(ServiceAccount);
      const secrets = context.informer(Secret);
      const secretsOfAccount = secrets.index('service-account', (secret) =>
        secret.type === type ? [`${secret.metadata.namespace}/${accountName(secret, dialect)}`] : [],
      );

      const tokens = context.queue(async (key) => {
        const secret = secrets.at(key);
        if (secret?.type !== type) return;
        const { namespace = '' } = secret.metadata;
        const account = accounts.get(accountName(secret, dialect), namespace);
        if (account !== undefined && belongsTo(secret, account, dialect))
          await fill(secret, account, context, certificate);
        else if (!(await existsLive(secret, context))) await remove(secret, context);
      });
      const references = context.queue((key) => dropReference(key, context), { name: 'references' });

      secrets.onKey((key, event) => {
        const { object } = event;
        if (object.type !== type) return;
        if (event.type !== 'DELETED') {
          tokens.add(key);
          return;
        }
        const account = accounts.get(accountName(object, dialect), object.metadata.namespace);
        if (account === undefined || !belongsTo(object, account, dialect)) return;
        if (account.secrets?.some(({ name }) => name === object.metadata.name)) {
          references.add(`${keyOf(account)}/${object.metadata.name}`);
        }
      });
      accounts.onKey((key) => {
        for (const { metadata } of secretsOfAccount(key)) tokens.add(keyOf({ metadata }));
      });
    },
  };
}

function accountName({ metadata }: TokenSecret, dialect: Dialect): string {
  return metadata.annotations?.[dialect.key('service-account.name')] ?? '';
}

/** Without a uid annotation the name is enough; the uid is filled in with the token. */
function belongsTo({ metadata }: TokenSecret, account: Account, dialect: Dialect): boolean {
  const uid = metadata.annotations?.[dialect.key('service-account.uid')] ?? '';
  return uid === '' || uid === account.metadata.uid;
}

/** Asks the server before a Secret is deleted: the informer may not have the account yet. */
async function existsLive(secret: TokenSecret, { client, dialect }: ControllerContext): Promise<boolean> {
  const name = accountName(secret, dialect);
  if (name === '') return false;
  const account = await client.api(ServiceAccount, secret.metadata.namespace).find(name);
  return account !== undefined && belongsTo(secret, account, dialect);
}

async function remove({ metadata }: TokenSecret, { client }: ControllerContext): Promise<void> {
  const { name, namespace, uid } = metadata;
  // The Secret may be gone, or another one may have its name.
  await ignoring(['NotFound', 'Conflict'], client.api(Secret, namespace).delete(name, { preconditions: { uid } }));
}

async function fill(
  secret: TokenSecret,
  account: Account,
  { client, dialect }: ControllerContext,
  certificate: string,
): Promise<void> {
  const { data = {}, metadata } = secret;
  const { namespace = '' } = metadata;
  const hasCertificate = data['ca.crt'] === certificate;
  const { namespace: storedNamespace = '', token = '' } = data;
  if (hasCertificate && storedNamespace !== '' && token !== '') return;
  const filled = {
    ...data,
    'ca.crt': certificate,
    namespace: storedNamespace === '' ? encodeBase64Text(namespace) : storedNamespace,
    token: token === '' ? encodeBase64Text(await requestBoundToken(client, tokenRequest(secret, account))) : token,
  };
  const annotations = {
    ...metadata.annotations,
    [dialect.key('service-account.name')]: account.metadata.name,
    [dialect.key('service-account.uid')]: account.metadata.uid,
  };
  const next = { ...secret, metadata: { ...metadata, annotations }, data: filled };
  // If another client changed the Secret, that change queues it again.
  await ignoring(['NotFound', 'Conflict'], client.api(Secret, namespace).update(next));
}

function tokenRequest({ metadata }: TokenSecret, account: Account): BoundTokenRequest {
  const { name, namespace, uid } = metadata;
  return {
    namespace,
    account: account.metadata.name,
    audiences: [],
    expirationSeconds: TOKEN_SECONDS,
    boundTo: { kind: 'Secret', name, uid },
  };
}

async function dropReference(key: string, { client }: ControllerContext): Promise<void> {
  const [namespace = '', name = '', secret = ''] = key.split('/');
  const api = client.api(ServiceAccount, namespace);
  const account = await api.find(name);
  const { secrets = [] } = account ?? {};
  const kept = secrets.filter((reference) => reference.name !== secret);
  if (account === undefined || kept.length === secrets.length) return;
  if ((await client.api(Secret, namespace).find(secret)) !== undefined) return;
  await ignoreNotFound(api.update({ ...account, secrets: kept }));
}
