/** Message types of the group `events`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const events: GroupTypes = {
  name: 'events',
  group: serviceGroup('events'),
  versions: [
    {
      version: 'v1',
      kinds: 'Event+',
      types: `
Event metadata:ObjectMeta eventTime:MicroTime series*:EventSeries reportingController reportingInstance action
  reason regarding:ObjectReference related*:ObjectReference note type deprecatedSource:EventSource
  deprecatedFirstTimestamp:Time deprecatedLastTimestamp:Time deprecatedCount:int32
EventSeries count:int32 lastObservedTime:MicroTime
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'Event+',
      types: ``,
    },
  ],
};
