/**
 * The apps group.
 */
import type { Kind } from '../kind.js';
import { ControllerRevision } from './v1/controller-revision.js';
import { DaemonSet } from './v1/daemon-set.js';
import { Deployment } from './v1/deployment.js';
import { ReplicaSet } from './v1/replica-set.js';
import { StatefulSet } from './v1/stateful-set.js';

export { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet };

/** The kinds of the group, in the order of discovery. */
export const appsKinds: readonly Kind[] = [ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet];
