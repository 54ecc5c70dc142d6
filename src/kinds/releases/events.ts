/**
 * Event in events/v1beta1: the fields of events/v1, validated with the rules of the core group.
 */
import { serviceGroup } from '../../meta/dialect.js';
import { CoreEvent } from '../core/v1/event.js';
import { anotherVersion } from '../define-kind.js';
import { commonProblems, Event, eventConversion } from '../events/v1/event.js';
import type { Kind } from '../kind.js';

export const eventV1beta1: Kind<Event> = anotherVersion(CoreEvent, {
  apiVersion: `${serviceGroup('events')}/v1beta1`,
  // The reference server's warning names no replacement.
  lifecycle: { introducedIn: '1.8', servedByDefault: true, deprecatedIn: '1.22', removedIn: '1.25' },
  ...eventConversion,
  body: () => Event.body.shape,
  ...(Event.columns === undefined ? {} : { columns: Event.columns }),
  strategy: {
    create: { validate: (object) => commonProblems(object) },
    update: { validate: (next) => commonProblems(next) },
    read: { selectableFields: Event.strategy.read.selectableFields },
  },
});
