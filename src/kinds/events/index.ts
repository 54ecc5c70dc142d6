/**
 * The events group.
 */
import type { Kind } from '../kind.js';
import { Event } from './v1/event.js';

export * from './v1/event.js';

/** The kinds of the group. */
export const eventsKinds: readonly Kind[] = [Event];
