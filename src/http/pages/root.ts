/**
 * `/`: every path that can be asked for, which is where people begin who look at a server in a browser.
 */

import { encodeJson, indentJson } from '../../codec/json-encoder.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { apiVersionOf } from '../../meta/gvk.js';
import { respondBody } from '../respond.js';
import { oncePerKinds, type Page } from './page.js';

/** `more`: paths of pages that not every server has. */
export function rootPage(more: readonly string[]): Page {
  const indexOf = oncePerKinds((kinds, _page: 'index') => {
    const paths = new Set(['/api', '/apis', '/apis/', ...OWN_PATHS, ...more, ...kinds.flatMap(pathsOf)]);
    return indentJson(encodeJson({ paths: [...paths].sort() }));
  });
  return ({ path, kinds, dialect, envelope }) => {
    if (path !== '/' && path !== '/index.html') return undefined;
    const headers = { 'Content-Type': 'application/json' };
    return respondBody(envelope, { code: 200, body: indexOf(kinds, 'index', dialect), headers });
  };
}

const OWN_PATHS = [
  '/healthz',
  '/healthz/etcd',
  '/healthz/log',
  '/healthz/ping',
  '/livez',
  '/livez/etcd',
  '/livez/log',
  '/livez/ping',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/readyz',
  '/readyz/etcd',
  '/readyz/informer-sync',
  '/readyz/log',
  '/readyz/ping',
  '/readyz/shutdown',
  '/version',
];

function pathsOf({ gvr }: ServedKind): string[] {
  const { group } = gvr;
  return group === '' ? [`/api/${gvr.version}`] : [`/apis/${group}`, `/apis/${apiVersionOf(gvr)}`];
}
