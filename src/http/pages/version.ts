/**
 * `/version`: which release of the API this is. Clients compare it with their own.
 */
import type { Document } from '../../codec/codec.js';
import { represent } from '../negotiate.js';
import { respondDocument } from '../respond.js';
import { refuseAtRouter } from './discovery.js';
import type { Page } from './page.js';

export const SERVER_VERSION = 'v1.33.0+orchplane';

/** The release whose behaviour this is, and what is behind it: no compiler of the reference server's language. */
const VERSION: Document & Readonly<Record<string, string>> = Object.freeze({
  major: '1',
  minor: '33',
  emulationMajor: '1',
  emulationMinor: '33',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '32',
  gitVersion: SERVER_VERSION,
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'orchplane',
  platform: 'javascript',
});

export const versionPage: Page = (request) => {
  if (request.path !== '/version' && request.path !== '/version/') return undefined;
  const refusal = refuseAtRouter(request, request.offers.json);
  if (refusal !== undefined) return refusal;
  const form = { ...represent(request.offers.json, request.accept, { watch: false }), pretty: true };
  return respondDocument(request.envelope, { code: 200, document: VERSION, form });
};
