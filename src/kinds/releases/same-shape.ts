/**
 * Removed versions with the same fields as their replacements, and events/v1beta1, which has the fields of events/v1
 * and the rules of the core group.
 */
import { serviceGroup } from '../../meta/dialect.js';
import { CronJob } from '../batch/v1/cron-job.js';
import { CoreEvent } from '../core/v1/event.js';
import { anotherVersion } from '../define-kind.js';
import { commonProblems, Event, eventConversion } from '../events/v1/event.js';
import { eventBase } from '../generated/events-v1.js';
import type { Kind } from '../kind.js';
import { RuntimeClass } from '../node/v1/runtime-class.js';
import { CSIStorageCapacity } from '../storage/v1/csi-storage-capacity.js';

export const eventV1beta1: Kind<Event> = anotherVersion(CoreEvent, {
  apiVersion: `${serviceGroup('events')}/v1beta1`,
  // The reference server's warning names no replacement.
  lifecycle: { introducedIn: '1.8', servedByDefault: true, deprecatedIn: '1.22', removedIn: '1.25' },
  ...eventConversion,
  body: eventBase.body,
  ...(Event.columns === undefined ? {} : { columns: Event.columns }),
  strategy: {
    create: { validate: (object) => commonProblems(object) },
    update: { validate: (next) => commonProblems(next) },
    read: { selectableFields: Event.strategy.read.selectableFields },
  },
});

export const cronJobV1beta1: Kind = anotherVersion(CronJob, {
  apiVersion: 'batch/v1beta1',
  lifecycle: {
    introducedIn: '1.8',
    servedByDefault: true,
    deprecatedIn: '1.21',
    removedIn: '1.25',
    replacement: { apiVersion: 'batch/v1', kind: 'CronJob' },
  },
});

export const runtimeClassV1beta1: Kind = anotherVersion(RuntimeClass, {
  apiVersion: `${serviceGroup('node')}/v1beta1`,
  // The reference server's warning names no replacement.
  lifecycle: { introducedIn: '1.13', servedByDefault: true, deprecatedIn: '1.22', removedIn: '1.25' },
});

export const csiStorageCapacityV1beta1: Kind = anotherVersion(CSIStorageCapacity, {
  apiVersion: `${serviceGroup('storage')}/v1beta1`,
  lifecycle: {
    introducedIn: '1.21',
    servedByDefault: true,
    deprecatedIn: '1.24',
    removedIn: '1.27',
    replacement: { apiVersion: `${serviceGroup('storage')}/v1`, kind: 'CSIStorageCapacity' },
  },
});
