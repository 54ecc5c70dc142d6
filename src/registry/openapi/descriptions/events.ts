/** What the types of this package are for; see `meta.ts` for the notation. */
export const eventsDescriptions = `
Event Something that happened, kept for a while. Informational only.
 eventTime When it was first seen.
 series How often it was seen; absent for a single event.
 reportingController The controller that reports it.
 reportingInstance Which instance of it.
 action What was done, or failed, for programs.
 reason Why it was done.
 regarding What it is about.
 related Another object that is involved.
 note What happened, for people; at most 1 kB.
 type Normal or Warning.
 deprecatedSource,deprecatedFirstTimestamp,deprecatedLastTimestamp,deprecatedCount Kept for the older kind of events.
EventSeries A number of equal events.
 count How many there were, up to the last one seen.
 lastObservedTime When the last one was seen.
`;
