/**
 * The ServiceAccount kind: the identity of pods. Its `token` subresource issues tokens.
 */
import { tokenSubresource } from '../../authentication/v1/token-request.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type ServiceAccountKind, type ServiceAccountObject, serviceAccountBase } from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';

export interface ServiceAccount extends ServiceAccountObject {}

/** The annotation that restricts pods to the listed secrets. */
const ENFORCE_MOUNTABLE_SECRETS = 'enforce-mountable-secrets';

export const ServiceAccount: ServiceAccountKind<ServiceAccount> = defineBuiltIn({
  ...serviceAccountBase,
  names: { shortNames: ['sa'] },
  // As in the reference server, the column type is string and the cell is a number.
  columns: [
    nameColumn,
    textColumn('Secrets', 'The number of secrets that it references.', (object) => object.secrets?.length ?? 0),
    ageColumn,
  ],
  strategy: {
    update: { validationOrder: ['metadata', 'create'], prepare: keepSecretNames },
    delete: { returnDeletedObject: true },
    create: { prepare: keepSecretNames },
    write: { warnings },
  },
  subresources: { token: tokenSubresource },
});

/** Keeps only the names of secret references, because the secrets are in the account's namespace. */
function keepSecretNames(account: ServiceAccount): void {
  if (account.secrets === undefined) return;
  account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

/** Warns about the deprecated annotation when it is added. */
function warnings(next: ServiceAccount, live: ServiceAccount | undefined, { dialect }: HookContext): readonly string[] {
  const annotation = dialect.key(ENFORCE_MOUNTABLE_SECRETS);
  const has = (object: ServiceAccount | undefined) => Object.hasOwn(object?.metadata.annotations ?? {}, annotation);
  if (!has(next) || has(live)) return [];
  return [
    `metadata.annotations[${annotation}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ];
}
