/** The snapshot in test/fixtures/etcd, and what the real server returned for its objects. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ApiObject } from 'orchplane';
import { onTestFinished } from 'vitest';

const folder = new URL('../../fixtures/etcd/', import.meta.url);

export interface Expected {
  readonly revision: number;
  /** The revision of every key under /registry. */
  readonly keys: Readonly<Record<string, number>>;
  readonly objects: readonly ApiObject[];
}

export function expectedContent(): Expected {
  return JSON.parse(gunzipSync(readFileSync(new URL('snapshot.json.gz', folder))).toString()) as Expected;
}

export function snapshotBytes(): Buffer {
  return gunzipSync(readFileSync(new URL('snapshot.db.gz', folder)));
}

/** A temporary file, removed after the test. */
export function temporaryFile(content?: Uint8Array): string {
  const path = mkdtempSync(join(tmpdir(), 'orchplane-etcd-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const file = join(path, 'snapshot.db');
  if (content !== undefined) writeFileSync(file, content);
  return file;
}

/** Identifies an object in one version. */
export function idOf({ apiVersion, kind, metadata }: ApiObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

/** All options that serve every kind of the snapshot. */
export const ALL_KINDS = {
  dialect: 'kubernetes',
  runtimeConfig: 'api/all=true',
  featureGates: { AllAlpha: true, AllBeta: true },
  onWarning: () => undefined,
} as const;
