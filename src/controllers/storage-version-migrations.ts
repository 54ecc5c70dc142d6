/**
 * Migrates the objects of a resource to the current storage version by rewriting each one unchanged. The progress is in the
 * conditions of the StorageVersionMigration. Each migration runs once.
 */

import type {
  MigrationCondition,
  StorageVersionMigrationStatus,
} from '../kinds/generated/storagemigration-v1alpha1.js';
import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { StorageVersionMigration } from '../kinds/storagemigration/v1alpha1/storage-version-migration.js';
import { serviceGroup } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { timeToMs } from '../text/time/time.js';
import { type Controller, ControllerPart } from './runtime/controller.js';

const NAME = 'storage-version-migrator-controller';
/** How long after its creation a migration waits for its resource to be served. */
const RESOURCE_TIMEOUT_MS = 60_000;
const PAGE_SIZE = 500;

const REASONS = {
  Running: 'StorageVersionMigrationInProgress',
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
} as const satisfies Readonly<Record<MigrationCondition['type'], string>>;

/**
 * The controller of StorageVersionMigrations. It lists the kinds, so it needs a cluster in this process.
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

/** One reconcile of one migration, with the object as last written. */
class Migration extends ControllerPart<StorageVersionMigration> {
  #object = this.options;

  /** Records the resourceVersion at the start. That write triggers the reconcile that migrates. */
  async begin(): Promise<void> {
    const served = this.#served();
    if (served === undefined) {
      await this.#conclude('Failed', 'resource does not exist in discovery');
      return;
    }
    const { metadata } = await this.context.client.all(served.kind).list({ limit: 1 });
    const { resourceVersion } = metadata;
    await this.#write({ ...this.#object.status, ...(resourceVersion === undefined ? {} : { resourceVersion }) });
  }

  async migrate(): Promise<{ requeueAfterMs: number } | undefined> {
    const served = this.#served();
    if (served === undefined || !isCollected(served)) {
      const { creationTimestamp = '' } = this.#object.metadata;
      const leftMs = timeToMs(creationTimestamp) + RESOURCE_TIMEOUT_MS - this.context.clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      await this.#conclude('Failed', 'resource not found');
      return undefined;
    }
    await this.#conclude('Running', '');
    for await (const { items } of this.context.client.all(served.kind).pages({ pageSize: PAGE_SIZE })) {
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
    return this.context
      .kinds()
      .find(({ gvr }) => gvr.group === group && gvr.version === version && gvr.resource === resource);
  }

  /** Returns false if the object cannot be written for an unexpected reason. */
  async #rewrite({ metadata }: ApiObject, served: ServedKind): Promise<boolean> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const { client } = this.context;
    const api = namespace === undefined ? client.api<Kind>(served.kind) : client.api<Kind>(served.kind, namespace);
    // The uid prevents recreating an object that was deleted meanwhile, the resourceVersion rewriting one that was
    // written meanwhile.
    const unchanged = { metadata: { name, uid, resourceVersion } };
    try {
      await api.apply(unchanged, { fieldManager: NAME });
      return true;
    } catch (error) {
      // The object was written since, so it is in the storage version already, or it is gone.
      if (StatusError.is(error, 'Conflict') || StatusError.is(error, 'NotFound')) return true;
      // Without a response the state is unknown: the queue retries the whole migration.
      if (!StatusError.is(error)) throw error;
      this.context.report(error, `${served.gvr.resource} ${namespace === undefined ? name : `${namespace}/${name}`}`);
      return false;
    }
  }

  /** Adds a true condition. A final condition sets Running to False. */
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
      lastUpdateTime: this.context.now(),
      reason: REASONS[type],
      ...(message === '' ? {} : { message }),
    };
    await this.#write({ ...status, conditions: [...before, added] });
  }

  async #write(status: StorageVersionMigrationStatus): Promise<void> {
    const api = this.context.client.api(StorageVersionMigration);
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

/**
 * The reference server reads objects from the garbage collector's graph, which excludes events.
 * upstream: pkg/controller/storageversionmigrator/storageversionmigrator.go SVMController.sync
 */
function isCollected({ kind, gvr, verbs }: ServedKind): boolean {
  if (gvr.resource === 'events' && EVENT_GROUPS.includes(kind.group)) return false;
  return NEEDED_VERBS.every((verb) => verbs.includes(verb));
}
