import assert from 'node:assert/strict';
import { recordAccess, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster();
using access = recordAccess(cluster);
const robot = cluster.with({ as: { user: 'system:serviceaccount:default:robot' } });
const failed = await robot.api(ConfigMap).list().catch((error: unknown) => error);
assert(StatusError.is(failed, 'Forbidden'));
assert.deepEqual(access.clusterRole('robot').rules, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]);
export {};
