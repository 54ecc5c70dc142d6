/**
 * `/version`: which release of the API this is. Clients compare it with their own.
 */
import type { Document } from '../../codec/codec.js';
import { REFERENCE_RELEASE, type Release } from '../../kinds/lifecycle.js';
import { represent } from '../negotiate.js';
import { respondDocument } from '../respond.js';
import { refuseAtRouter } from './discovery.js';
import type { Page } from './page.js';

/** What stands in documents that describe the API. */
export const SERVER_VERSION = `v${REFERENCE_RELEASE}.0+orchplane`;

/** The release that is played, and what is behind it: no compiler of the reference server's language. */
export function versionOf(release: Release) {
  const [major = '', minor = ''] = release.split('.');
  return Object.freeze({
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `v${release}.0+orchplane`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'orchplane',
    platform: 'javascript',
  });
}

export function versionPage(release: Release): Page {
  const document = versionOf(release) as Document & ReturnType<typeof versionOf>;
  return (request) => {
    if (request.path !== '/version' && request.path !== '/version/') return undefined;
    const refusal = refuseAtRouter(request, request.offers.json);
    if (refusal !== undefined) return refusal;
    const form = { ...represent(request.offers.json, request.accept, { watch: false }), pretty: true };
    return respondDocument(request.envelope, { code: 200, document, form });
  };
}
