/**
 * The discovery group.
 */
import type { Kind } from '../kind.js';
import { EndpointSlice } from './v1/endpoint-slice.js';

export * from './v1/endpoint-slice.js';

/** The kinds of the group. */
export const discoveryKinds: readonly Kind[] = [EndpointSlice];
