/**
 * Writes every object of a resource once more, without a change, so that it is stored in the version that counts now.
 * How far that got stands in the conditions of the StorageVersionMigration that asked for it; what is done is done once.
 */
import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import {
  type MigrationCondition,
  StorageVersionMigration,
  type StorageVersionMigrationStatus,
} from '../kinds/storagemigration/v1alpha1/storage-version-migration.js';
import { serviceGroup } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { timeToMs } from '../text/time/time.js';
import type { Controller, ControllerContext } from './runtime/controller.js';

const NAME = 'storage-version-migrator-controller';
/** A kind that is not there yet may come: so long after the migration was asked for, it will not. */
const PATIENCE_MS = 60_000;
const PAGE_SIZE = 500;

const REASONS = {
  Running: 'StorageVersionMigrationInProgress',
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
} as const satisfies Readonly<Record<MigrationCondition['type'], string>>;

/**
 * The controller of StorageVersionMigrations. It runs beside a cluster of this process, which knows its kinds.
 *
 * @example
 * const featureGates = { StorageVersionMigrator: true };
 * const cluster = createCluster({ featureGates, controllers: controllers([storageVersionMigrations()]) });
 */
export function storageVersionMigrations(): Controller {
  return {
    name: NAME,
    account: NAME,
    local: true,
    needs: [StorageVersionMigration],
    start(context) {
      const migrations = context.informer(StorageVersionMigration);
      const queue = context.queue(async (key) => {
        const migration = migrations.at(key);
        if (migration === undefined) return;
        const { conditions } = migration.status;
        if (isTrue(conditions, 'Succeeded') || isTrue(conditions, 'Failed')) return;
        const run = new Migration(context, migration as StorageVersionMigration);
        return migration.status.resourceVersion === undefined ? run.begin() : run.migrate();
      });
      migrations.onKey((key, { type }) => {
        if (type === 'DELETED') queue.cancelDelay(key);
        else queue.add(key);
      });
    },
  };
}

/** One look at one migration, with the object as it was last written. */
class Migration {
  readonly #context: ControllerContext;
  #object: StorageVersionMigration;

  constructor(context: ControllerContext, object: StorageVersionMigration) {
    this.#context = context;
    this.#object = object;
  }

  /** Notes from which version on objects are known to be written as they should: once, and the rest comes after. */
  async begin(): Promise<void> {
    const served = this.#served();
    if (served === undefined) {
      await this.#conclude('Failed', 'resource does not exist in discovery');
      return;
    }
    const { metadata } = await this.#context.client.all(served.kind).list({ limit: 1 });
    const { resourceVersion } = metadata;
    await this.#write({ ...this.#object.status, ...(resourceVersion === undefined ? {} : { resourceVersion }) });
  }

  async migrate(): Promise<{ requeueAfterMs: number } | undefined> {
    const served = this.#served();
    if (served === undefined || !isCollected(served)) {
      const { creationTimestamp = '' } = this.#object.metadata;
      const leftMs = timeToMs(creationTimestamp) + PATIENCE_MS - this.#context.clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      await this.#conclude('Failed', 'resource not found');
      return undefined;
    }
    await this.#conclude('Running', '');
    for await (const { items } of this.#context.client.all(served.kind).pages({ pageSize: PAGE_SIZE })) {
      for (const object of items as readonly ApiObject[]) {
        if (await this.#rewrite(object, served)) continue;
        await this.#conclude('Failed', 'migration encountered unhandled error');
        return undefined;
      }
    }
    await this.#conclude('Succeeded', '');
    return undefined;
  }

  #served(): ServedKind | undefined {
    const { group = '', version = '', resource = '' } = this.#object.spec.resource;
    return this.#context
      .kinds()
      .find(({ gvr }) => gvr.group === group && gvr.version === version && gvr.resource === resource);
  }

  /** False: it cannot be written, and nobody knows why. */
  async #rewrite({ metadata }: ApiObject, served: ServedKind): Promise<boolean> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const { client } = this.#context;
    const api = namespace === undefined ? client.api<Kind>(served.kind) : client.api<Kind>(served.kind, namespace);
    // The uid keeps what was deleted meanwhile from being made anew, the version what was written meanwhile from being
    // written again.
    const nothing = { metadata: { name, uid, resourceVersion } };
    try {
      await api.apply(nothing, { fieldManager: NAME });
      return true;
    } catch (error) {
      // It has been written since, which is all that was wanted; or it is gone.
      if (StatusError.is(error, 'Conflict') || StatusError.is(error, 'NotFound')) return true;
      // Without an answer nothing is known about the object: the whole look is taken again.
      if (!StatusError.is(error)) throw error;
      this.#context.report(error, `${served.gvr.resource} ${namespace === undefined ? name : `${namespace}/${name}`}`);
      return false;
    }
  }

  /** Adds a condition that is true; with the last one nothing runs any more. */
  async #conclude(type: MigrationCondition['type'], message: string): Promise<void> {
    const { status } = this.#object;
    const { conditions = [] } = status;
    if (isTrue(conditions, type)) return;
    const before = conditions.map((condition) =>
      type !== 'Running' && condition.type === 'Running' ? { ...condition, status: 'False' as const } : condition,
    );
    const added: MigrationCondition = {
      type,
      status: 'True',
      lastUpdateTime: this.#context.now(),
      reason: REASONS[type],
      ...(message === '' ? {} : { message }),
    };
    await this.#write({ ...status, conditions: [...before, added] });
  }

  async #write(status: StorageVersionMigrationStatus): Promise<void> {
    const api = this.#context.client.api(StorageVersionMigration);
    const written = await api.status.update(this.#object.metadata.name, { ...this.#object, status });
    this.#object = written as StorageVersionMigration;
  }
}

function isTrue(
  conditions: readonly Pick<MigrationCondition, 'type' | 'status'>[] | undefined,
  wanted: MigrationCondition['type'],
): boolean {
  return conditions?.some(({ type, status }) => type === wanted && status === 'True') === true;
}

const EVENT_GROUPS = ['', serviceGroup('events')];
const NEEDED_VERBS = ['list', 'watch', 'delete'] as const;

/** The reference finds objects where its garbage collector does, which has no eye for events. */
function isCollected({ kind, gvr, verbs }: ServedKind): boolean {
  if (gvr.resource === 'events' && EVENT_GROUPS.includes(kind.group)) return false;
  return NEEDED_VERBS.every((verb) => verbs.includes(verb));
}
