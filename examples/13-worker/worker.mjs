/** The worker: a cluster with controllers, behind a MessagePort. */
import { workerData } from 'node:worker_threads';
import { createCluster } from 'orchplane';
import { controllers, stages, standardControllers } from 'orchplane/controllers';
import { createFetchHandler } from 'orchplane/http';
import { answerPort } from './port-fetch.mjs';

const cluster = createCluster({ controllers: controllers([...standardControllers(), stages()]) });
answerPort(workerData.port, createFetchHandler(cluster));
